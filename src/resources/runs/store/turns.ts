/**
 * What the turns of a run write. Each write is one statement that moves the run from one recorded state to the
 * next (`turn_count` n-1 -> n, in flight -> ended) and hangs everything else on that move: a repeated or late activity
 * finds the move done and writes nothing.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { ResolvedModel, TokenUsage } from '../../../platform/models/types.ts';
import { countRecalled, type Recalled } from '../../memory/store/recall.ts';
import { outboxCtes, pendingDeliveries } from '../../webhook-subscriptions/store/outbox.ts';
import {
  announcesItsEnd,
  errorText,
  TERMINAL_EVENT,
  type RunError,
  type SystemContent,
  type TerminalStatus,
} from '../model.ts';
import { bookCost, release, type WalletBooking } from './budgets.ts';
import { countEvents, insertEvents, type NewEvent } from './events.ts';
import type { RecordedToolCall, RunInTurn } from './run-in-turn.ts';
import { OPEN_RUN } from './statuses.ts';

export interface RunBeginning {
  runId: string;
  customerId: string;
  agent: string;
  resolved: ResolvedModel;
  system: SystemContent;
  /** The user's message, as the content of an AI SDK message. */
  user: unknown;
  events: readonly NewEvent[];
  /** The memories that the agent was reminded of. */
  recalled: Recalled;
  /** The run may have waited for earlier ones. */
  isConversation: boolean;
}

/** Moves a run from queued to running, with who answers and on which model. */
export async function beginRun(
  db: Database,
  { runId, customerId, agent, resolved, system, user, events, recalled }: RunBeginning,
): Promise<void> {
  await db.rows(sql`
    with begun as (
      update runs set status = 'running', started_at = now(), agent = ${agent}, model = ${resolved.model},
        model_provider = ${resolved.provider}, context_window = ${resolved.contextWindow}, model_tier = ${resolved.tier},
        model_rule = ${resolved.rule}, model_enforce = ${resolved.enforce}, reasoning = ${resolved.reasoning},
        ${countEvents(events)}
      where id = ${runId} and status = 'queued' returning id, customer_id
    ), events as (${insertEvents(sql`begun`, events)}), said as (
      insert into run_messages (run_id, turn, role, content)
      select id, 0, 'system', ${JSON.stringify(system)}::jsonb from begun
      union all select id, 0, 'user', ${JSON.stringify(user)}::jsonb from begun
    )
    ${recalled.candidates.length > 0 ? sql`, counted as (${countRecalled(sql`begun`, customerId, recalled)})` : sql``}
    select 1`);
}

/** Adds to the timeline of a run in flight, for example an attempt that failed and will be repeated. */
export async function noteEvents(db: Database, runId: string, events: readonly NewEvent[]): Promise<void> {
  await db.rows(sql`
    with noted as (
      update runs set ${countEvents(events)}
      where id = ${runId} and status in ${OPEN_RUN}
        and not exists (select 1 from run_events where run_id = ${runId} and key = ${first(events).key})
      returning id, customer_id
    ) ${insertEvents(sql`noted`, events)}`);
}

export interface Failover {
  runId: string;
  turn: number;
  from: Pick<ResolvedModel, 'model' | 'provider'>;
  to: ResolvedModel;
  event: NewEvent;
}

/** Has a run go on with another model. Whoever comes second finds that it does. */
export async function failOver(db: Database, { runId, turn, from, to, event }: Failover): Promise<void> {
  await db.rows(sql`
    with moved as (
      update runs set model = ${to.model}, model_provider = ${to.provider}, context_window = ${to.contextWindow},
        model_tier = ${to.tier}, model_rule = ${to.rule}, ${countEvents([event])}
      where id = ${runId} and status = 'running' and turn_count = ${turn - 1}
        and model = ${from.model} and model_provider = ${from.provider}
      returning id, customer_id
    ) ${insertEvents(sql`moved`, [event])}`);
}

export interface RunEnd {
  status: TerminalStatus;
  output?: string | null;
  error?: RunError | undefined;
}

/** The end of a run sets these off; they are started after it is recorded. */
export interface AfterRun {
  /** The ids of recorded webhook deliveries. */
  deliveries: string[];
  /** The id of the next run of the conversation. */
  nextRunId: string | null;
}

const endEvent = ({ status, output, error }: RunEnd): NewEvent => ({
  key: 'end',
  type: TERMINAL_EVENT[status],
  status,
  payload:
    status === 'succeeded'
      ? { output_length: output?.length ?? 0 }
      : error
        ? { error: error.message, code: error.code }
        : {},
});

const endColumns = ({ status, output, error }: RunEnd): SQL => sql`
  status = ${status}::run_status, completed_at = now(), output = ${output ?? null},
  error = ${error ? errorText(error) : null}, error_code = ${error?.code ?? null},`;

type EndingRun = Pick<
  RunInTurn,
  'id' | 'customerId' | 'parentRunId' | 'attemptId' | 'agent' | 'conversation' | 'modelProvider'
>;

/** CTEs that write an outbox row for each endpoint that wants to know, in the statement that ends the run. */
const announce = (guard: SQL, run: EndingRun, { status, output }: RunEnd): SQL =>
  announcesItsEnd({ parentRunId: run.parentRunId, attemptId: run.attemptId, status })
    ? sql`, ${outboxCtes(guard, {
        customerId: run.customerId,
        eventType: status === 'succeeded' ? 'run.succeeded' : 'run.failed',
        eventKey: `run:${run.id}`,
        data: {
          run_id: run.id,
          agent: run.agent,
          status,
          output: output ?? null,
          ...(run.modelProvider === 'sample' && { sample: true }),
        },
      })}`
    : sql`, deliveries as (select null::uuid as id where false)`;

const afterColumns = (run: EndingRun): SQL => sql`
  (select coalesce(jsonb_agg(id), '[]') from deliveries) as deliveries,
  ${run.conversation === null ? sql`null::text` : nextOf(run.id)} as "nextRunId"`;

const nextOf = (runId: string): SQL => sql`(
  select later.id from runs later, runs earlier
  where earlier.id = ${runId} and later.customer_id = earlier.customer_id and later.conversation = earlier.conversation
    and later.seq > earlier.seq and later.status in ${OPEN_RUN}
  order by later.seq limit 1)`;

export interface TurnRecord {
  run: EndingRun & { budgetIds: readonly string[] };
  turn: number;
  /** The id of the model that answered. */
  model: string;
  /** The assistant's message, as the content of an AI SDK message. */
  reply: unknown;
  usage: TokenUsage;
  /** Null where no price is known. */
  costUsd: string | null;
  /** What caches of the provider took off the cost; below 0 where filling them cost more. Absent: not known. */
  savedUsd?: string | undefined;
  toolCalls: readonly RecordedToolCall[];
  events: readonly NewEvent[];
  /** Set where the workspace is charged for models. */
  wallet?: WalletBooking | undefined;
  /** Set on the turn that ends the run. */
  end?: RunEnd | undefined;
}

/**
 * Records a turn and, when it is the last one, the end of its run with everything that follows from it. Where the run
 * ended while the call was under way, its cost is recorded all the same, and its words are not: the money is gone.
 * @returns undefined where nothing was recorded but the cost, by this call or an earlier one
 */
export async function recordTurn(db: Database, record: TurnRecord): Promise<AfterRun | undefined> {
  const { run, turn, costUsd, end, toolCalls, wallet } = record;
  const events = end ? [...record.events, endEvent(end)] : record.events;
  const [outcome] = await db.rows<AfterRun & { recorded: boolean }>(sql`
    with before as (
      select id, status from runs where id = ${run.id} and turn_count = ${turn - 1} and status <> 'queued' for update
    ), recorded as (
      update runs set turn_count = ${turn}, ${addUsage(record)}, ${end ? endColumns(end) : sql``} ${countEvents(events)}
      where id in (select id from before where status = 'running') returning id, customer_id
    ), late as (
      update runs set turn_count = ${turn}, ${addUsage(record)}
      where id in (select id from before where status <> 'running') returning id
    ), moved as (
      select id from recorded union all select id from late
    ), events as (${insertEvents(sql`recorded`, events)}), said as (
      insert into run_messages (run_id, turn, role, content)
      select id, ${turn}, 'assistant', ${JSON.stringify(record.reply)}::jsonb from recorded
    )
    ${toolCalls.length > 0 ? sql`, calls as (${insertToolCalls(run.customerId, toolCalls)})` : sql``}
    ${isBooked(record) ? sql`, ${bookCost(sql`moved`, run, turn, costUsd, wallet)}` : sql``}
    ${end ? announce(sql`recorded`, run, end) : sql`, deliveries as (select null::uuid as id where false)`}
    select exists (select 1 from recorded) as recorded, ${afterColumns(run)}`);
  return present(outcome).recorded ? outcome : undefined;
}

/** Assignments that add the cost of a call to its run. */
const addUsage = ({ usage, costUsd, savedUsd }: Pick<TurnRecord, 'usage' | 'costUsd' | 'savedUsd'>): SQL => sql`
  input_tokens = input_tokens + ${usage.inputTokens}, output_tokens = output_tokens + ${usage.outputTokens},
  cost_usd = cost_usd + ${costUsd ?? '0'}::numeric, saved_usd = saved_usd + ${savedUsd ?? '0'}::numeric, is_priced = is_priced and ${costUsd !== null}`;

const isBooked = ({ run, wallet }: Pick<TurnRecord, 'run' | 'wallet'>): boolean =>
  run.budgetIds.length > 0 || run.attemptId !== null || wallet !== undefined;

export interface AbortedCall extends Pick<TurnRecord, 'run' | 'turn' | 'usage' | 'costUsd' | 'savedUsd' | 'wallet'> {
  /** The attempt of the activity that made the call. */
  attempt: number;
  /** Its key names the attempt. */
  event: NewEvent;
}

/**
 * Records the cost of a call whose reply nobody uses: it was cut off, it cannot be used, or another attempt's was
 * recorded. This happens once for a run, turn and attempt, as everything hangs on the event, whose key names them. What
 * the turn held is given back with it, so that the next attempt is held anew from what is left. The summary of a run
 * that has ended stays.
 */
export async function recordAbortedCall(db: Database, call: AbortedCall): Promise<void> {
  const { run, turn, attempt, costUsd, wallet, event } = call;
  await db.rows(sql`
    with noted as (
      insert into run_events (run_id, customer_id, key, event_type, duration_ms, cost_usd, status, payload)
      select r.id, r.customer_id, ${event.key}, ${event.type}::run_event_type, ${event.durationMs ?? null}::int, ${costUsd}::numeric,
        ${event.status}, ${JSON.stringify(event.payload)}::jsonb
      from runs r where r.id = ${run.id} and not exists (
        select 1 from run_events e
        where e.run_id = r.id and e.key = ${turnKey(turn)} and e.payload -> 'attempt' = to_jsonb(${attempt}::int))
      on conflict (run_id, key) do nothing returning run_id as id
    ), counted as (
      update runs set ${addUsage(call)}, event_count = event_count + 1,
        last_event_at = case when completed_at is null then now() else last_event_at end,
        last_event_type = case when completed_at is null then ${event.type}::run_event_type else last_event_type end
      where id in (select id from noted)
    )
    ${isBooked(call) ? sql`, ${bookCost(sql`noted`, run, turn, costUsd, wallet)}` : sql``}
    select 1`);
}

/** The key of the event that tells of a turn's reply; its payload names the attempt. */
export const turnKey = (turn: number): string => `turn:${turn}`;

const insertToolCalls = (customerId: string, calls: readonly RecordedToolCall[]): SQL => sql`
  insert into run_tool_calls
    (run_id, call_id, customer_id, turn, position, tool, arguments, effect, status, result, completed_at)
  select recorded.id, c."callId", ${customerId}, c.turn, c.position, c.tool, c.arguments, c.effect::tool_effect,
    c.status::tool_call_status, c.result, case when c.status = 'pending' then null else now() end
  from recorded, jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as c("callId" text, turn int, position int, tool text,
    arguments jsonb, effect text, status text, result jsonb)`;

export interface RecordedEnd {
  status: TerminalStatus;
  agent: string | null;
  /** True where this call recorded the end; false where the run had ended already. */
  isRecorded: boolean;
  after: AfterRun;
}

/** Ends a run in flight. One that has ended already keeps its end, which is then the answer. */
export async function endRun(db: Database, runId: string, end: RunEnd): Promise<RecordedEnd | undefined> {
  const [run] = await db.rows<EndingRun & { isHolding: boolean }>(sql`
    select id, customer_id as "customerId", parent_run_id as "parentRunId", attempt_id as "attemptId", agent,
      conversation, model_provider as "modelProvider", exists (select 1 from cost_reservations c where c.run_id = runs.id) as "isHolding"
    from runs where id = ${runId}`);
  if (!run) return undefined;
  const event = endEvent(end);
  const [after] = await db.rows<AfterRun>(sql`
    with ended as (
      update runs set started_at = coalesce(started_at, now()), ${endColumns(end)} ${countEvents([event])}
      where id = ${runId} and status in ${OPEN_RUN} returning id, customer_id
    ), events as (${insertEvents(sql`ended`, [event])})
    ${announce(sql`ended`, run, end)}
    select ${afterColumns(run)} from ended`);
  const { agent } = run;
  // A cancelled run's call may still be under way; what it holds is given back when it returns.
  if (run.isHolding && end.status !== 'cancelled') await release(db, runId);
  if (after) return { status: end.status, agent, isRecorded: true, after };
  // The end that won was perhaps recorded while the statement above waited for its row, and it is only a later statement
  // that sees it. Its owner may have died before it started what follows, so that is named again.
  const [over] = await db.rows<{ status: TerminalStatus }>(sql`select status from runs where id = ${runId}`);
  return over && { status: over.status, agent, isRecorded: false, after: await loadAfterRun(db, run) };
}

/** @returns what the recorded end of a run set off, for an activity that is repeated after the end was recorded */
export async function loadAfterRun(
  db: Database,
  run: Pick<RunInTurn, 'id' | 'customerId' | 'conversation'>,
): Promise<AfterRun> {
  return first(
    await db.rows<AfterRun>(sql`
    select ${run.conversation === null ? sql`null::text` : nextOf(run.id)} as "nextRunId",
      (select coalesce(jsonb_agg(d.id), '[]') from (${pendingDeliveries(run.customerId, `run:${run.id}`)}) d) as deliveries`),
  );
}
