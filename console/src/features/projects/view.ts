/** The state of the projects pages, as the address holds it. */
import { PROJECT_STATUSES, type ProjectStatus } from './types.ts';

export interface ProjectFilters {
  q?: string;
  status?: ProjectStatus;
  hours?: number;
}

export function parseProjectFilter({ q, status, hours }: Record<string, unknown>): ProjectFilters {
  const known = PROJECT_STATUSES.find((each) => each === status);
  const text = typeof q === 'number' ? String(q) : q;
  const age = Number(hours);
  return {
    ...(typeof text === 'string' && text.trim() !== '' && { q: text.slice(0, 200) }),
    ...(known && { status: known }),
    ...(Number.isInteger(age) && age >= 1 && age <= 8_760 && { hours: age }),
  };
}

export interface ProjectView {
  phase?: string;
  /** The version of the phase's artifact that is shown, and the one that it is compared with. */
  v?: number;
  vs?: number;
}

const whole = (value: unknown): number | undefined => {
  const n = Number(value);
  return Number.isSafeInteger(n) && n > 0 ? n : undefined;
};

export function parseProjectView({ phase, v, vs }: Record<string, unknown>): ProjectView {
  const version = whole(v);
  const other = whole(vs);
  return {
    ...(typeof phase === 'string' && { phase: phase.slice(0, 64) }),
    ...(version !== undefined && { v: version }),
    ...(other !== undefined && { vs: other }),
  };
}
