/** The filters of a list of runs, as the address holds them. A value that cannot be read is left out. */
import { RUN_STATUSES, type RunStatus } from './types.ts';

export interface RunFilters {
  q?: string;
  status?: RunStatus;
  agent?: string;
  transport?: string;
  hours?: number;
  cost?: string;
}

const text = (value: unknown, max: number): string | undefined => {
  const given = typeof value === 'number' ? String(value) : value;
  return typeof given === 'string' && given.trim() !== '' ? given.slice(0, max) : undefined;
};

export function parseRunFilters(search: Record<string, unknown>): RunFilters {
  const hours = Number(search.hours);
  const cost = text(search.cost, 12);
  const wanted: RunFilters = {
    q: text(search.q, 200),
    status: RUN_STATUSES.find((status) => status === search.status),
    agent: text(search.agent, 64),
    transport: text(search.transport, 32),
    hours: Number.isInteger(hours) && hours >= 1 && hours <= 720 ? hours : undefined,
    cost: cost !== undefined && /^\d{1,9}(\.\d{1,8})?$/.test(cost) ? cost : undefined,
  } as RunFilters;
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as RunFilters;
}

export const isFiltered = (filters: RunFilters): boolean => Object.keys(filters).length > 0;

/** @returns the filters as the service's query parameters */
export const asQuery = ({ hours, cost, ...same }: RunFilters) => ({
  ...same,
  since_hours: hours,
  min_cost_usd: cost,
});
