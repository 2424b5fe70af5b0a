/** Writes timeline rows as a piece of a larger statement: an event is written in the statement that makes it true. */
import { sql, type SQL } from 'drizzle-orm';
import { last } from '../../../platform/core/present.ts';
import type { RunEventType } from '../model.ts';

export interface NewEvent {
  /** Names the event within its run, so that a repeated activity meets its own row again. */
  key: string;
  type: RunEventType;
  durationMs?: number;
  costUsd?: string | null;
  status?: string;
  payload?: Record<string, unknown>;
}

/** `insert ... select` of these events for each row (there is one or none) of the CTE `guard`, which has the run's id and workspace. */
export const insertEvents = (guard: SQL, events: readonly NewEvent[]): SQL => sql`
  insert into run_events (run_id, customer_id, key, event_type, duration_ms, cost_usd, status, payload)
  select guard.id, guard.customer_id, e.key, e.type::run_event_type, e."durationMs", e."costUsd", e.status, coalesce(e.payload, '{}')
  from ${guard} guard, jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
    as e(key text, type text, "durationMs" int, "costUsd" numeric, status text, payload jsonb)
  on conflict (run_id, key) do nothing`;

/** These assignments keep a run's own summary of its events true. */
export const countEvents = (events: readonly NewEvent[]): SQL => sql`
  event_count = event_count + ${events.length},
  last_event_at = now(),
  last_event_type = ${last(events).type}::run_event_type`;
