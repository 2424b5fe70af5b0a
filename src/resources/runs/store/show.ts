/** One run as the console shows it. Every statement is bound to the workspace. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { RunEventType, RunStatus } from '../model.ts';
import { isSampleRun, netSaved, waitOf, type RunWait } from './queries.ts';
import type { FoundRun } from './search.ts';

interface ShownRun extends FoundRun {
  output: string | null;
  thread_id: string | null;
  model_rule: string;
  context_window: number | null;
  input_tokens: number;
  output_tokens: number;
  turn_count: number;
  saved_usd: string;
  waits_for: RunWait | null;
  budget: { limit_usd: string | null; spent_usd: string; reserved_usd: string } | null;
}

export async function showRun(db: Database, customerId: string, runId: string): Promise<ShownRun | undefined> {
  const [run] = await db.rows<ShownRun>(sql`
    select r.id as run_id, r.parent_run_id, a.project_id, r.agent, r.transport, r.status, r.prompt, r.output, r.error,
      r.thread_id, r.model, ${isSampleRun(sql`r.model_provider`)} as sample, r.model_rule, r.context_window, r.input_tokens::float8 as input_tokens,
      r.output_tokens::float8 as output_tokens, r.turn_count, r.cost_usd::text as cost_usd,
      ${netSaved(sql`r.saved_usd`)} as saved_usd, r.is_priced, r.event_count,
      r.created_at, r.started_at, r.completed_at, ${waitOf(sql`r`)} as waits_for,
      (select jsonb_build_object('limit_usd', b.limit_usd::text, 'spent_usd', b.spent_usd::text,
          'reserved_usd', b.reserved_usd::text)
        from budgets b where b.id = 'run:' || r.id and b.customer_id = r.customer_id) as budget
    from runs r left join attempts a on a.id = r.attempt_id and a.customer_id = r.customer_id
    where r.id = ${runId} and r.customer_id = ${customerId}`);
  return run;
}

/** A run spawns no more runs than it has turns and calls for; the first hundred are enough to look at. */
export const childrenOf = (db: Database, customerId: string, runId: string) =>
  db.rows<{ run_id: string; agent: string | null; status: RunStatus; cost_usd: string }>(sql`
    select id as run_id, agent, status, cost_usd::text as cost_usd from runs
    where parent_run_id = ${runId} and parent_call_id is not null and customer_id = ${customerId}
    order by seq limit 100`);

interface TimelineEvent {
  id: number;
  ts: string;
  event_type: RunEventType;
  duration_ms: number | null;
  cost_usd: string | null;
  status: string | null;
  payload: Record<string, unknown>;
}

export const readTimeline = (
  db: Database,
  customerId: string,
  runId: string,
  { after, limit }: { after: number; limit: number },
) =>
  db.rows<TimelineEvent>(sql`
    select e.id::float8 as id, e.ts, e.event_type, e.duration_ms, e.cost_usd::text as cost_usd, e.status, e.payload
    from run_events e join runs r on r.id = e.run_id
    where e.run_id = ${runId} and r.customer_id = ${customerId} and e.id > ${after}
    order by e.id limit ${limit}`);

interface Spoken {
  turn: number;
  role: 'system' | 'user' | 'assistant';
  content: unknown;
  calls: {
    call_id: string;
    tool: string;
    status: 'pending' | 'succeeded' | 'failed';
    arguments: unknown;
    result: unknown;
  }[];
}

/** So many bytes of a value, as JSON, are shown. */
const SHOWN_BYTES = 65_536;
const shown = (value: SQL): SQL => sql`
  case when octet_length(${value}::text) <= ${SHOWN_BYTES} then ${value}
    else to_jsonb(left(${value}::text, 4000) || ' … (cut: ' || octet_length(${value}::text) || ' bytes)') end`;

/** Reads turns from this one on, each whole. */
export async function readTranscript(
  db: Database,
  customerId: string,
  runId: string,
  { from_turn: fromTurn, limit }: { from_turn: number; limit: number },
): Promise<{ rows: Spoken[]; nextTurn: number | null }> {
  const rows = await db.rows<Spoken & { last_turn: number }>(sql`
    select m.turn, m.role, ${shown(sql`m.content`)} as content, r.turn_count as last_turn,
      case when m.role <> 'assistant' then '[]' else (
        select coalesce(jsonb_agg(jsonb_build_object('call_id', c.call_id, 'tool', c.tool, 'status', c.status,
          'arguments', ${shown(sql`c.arguments`)}, 'result', ${shown(sql`c.result`)}) order by c.position), '[]')
        from run_tool_calls c where c.run_id = m.run_id and c.turn = m.turn and c.customer_id = r.customer_id) end as calls
    from run_messages m join runs r on r.id = m.run_id
    where m.run_id = ${runId} and r.customer_id = ${customerId}
      and m.turn >= ${fromTurn} and m.turn < ${fromTurn + limit}
    order by m.turn, case m.role when 'system' then 0 when 'user' then 1 else 2 end`);
  const lastTurn = rows[0]?.last_turn ?? 0;
  const next = fromTurn + limit;
  return {
    rows: rows.map(({ turn, role, content, calls }) => ({ turn, role, content, calls })),
    nextTurn: next <= lastTurn ? next : null,
  };
}
