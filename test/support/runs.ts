/** What tests of runs look at again and again. */
import { expect } from '@jest/globals';
import { eventually, type Tenant } from './service.ts';

export interface EventRow {
  id: number;
  ts: string;
  event_type: string;
  agent: string | null;
  transport: string | null;
  duration_ms: number | null;
  cost_usd: string | null;
  status: string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its shape is the event type's
  payload: Record<string, any>;
}

export async function eventsOf(tenant: Tenant, runId: string): Promise<EventRow[]> {
  const { body } = await tenant.cp('GET', `/v1/runs/${runId}/events?limit=2000`);
  return body.data;
}

export const typesOf = async (tenant: Tenant, runId: string): Promise<string[]> =>
  (await eventsOf(tenant, runId)).map(({ event_type }) => event_type);

/** The row of a run in the list. */
export async function rowOf(tenant: Tenant, runId: string) {
  const { body } = await tenant.cp('GET', '/v1/runs?limit=500');
  return body.data.find(({ run_id }: { run_id: string }) => run_id === runId);
}

/** @returns the id of the accepted run */
export async function dispatch(tenant: Tenant, body: Record<string, unknown>): Promise<string> {
  const accepted = await tenant.api('POST', '/v1/runs', body);
  expect(accepted).toMatchObject({ status: 201, body: { status: 'queued' } });
  return accepted.body.run_id;
}

/** Waits until a run has this status; its row in the list says so whatever became of its detail. */
export const untilStatus = (tenant: Tenant, runId: string, status: string, timeoutMs?: number): Promise<void> =>
  eventually(async () => {
    const row = await rowOf(tenant, runId);
    if (row?.last_status !== status) throw new Error(`run ${runId} is ${row?.last_status}, not ${status}`);
  }, timeoutMs);

export const listTotal = async (tenant: Tenant): Promise<number> =>
  (await tenant.cp('GET', '/v1/runs?limit=1')).body.meta.total;

/** A directive of the offline model. */
export const tool = (name: string, args: object): string => `[[tool:${name} ${JSON.stringify(args)}]]`;

/** The events that end a run. */
const TERMINAL = ['run_completed', 'run_failed', 'run_cancelled'];
export const endsOf = (types: readonly string[]): string[] => types.filter((type) => TERMINAL.includes(type));
