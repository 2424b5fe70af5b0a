/** Accepts a run in one statement that counts it against the day's cap, inserts it and begins its timeline. */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import { withPropertyOrder } from '../../../platform/db/property-order.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import { RUN_EVENT } from '../../event-log/store/read.ts';
import { insertLogEvent, keepInLog } from '../../event-log/store/write.ts';
import { ClaimLostError, holdingClaim } from '../../idempotency-keys/store.ts';
import { capOf, PLANS, type Plan } from '../../workspaces/model.ts';
import type { StepOfRun } from '../model.ts';
import { planLimitExceeded } from '../../workspaces/store/caps.ts';
import { workspaceOf } from '../../workspaces/store/fragments.ts';

export interface NewRun {
  id: string;
  customerId: string;
  agent: string | null;
  transport: string;
  prompt: string;
  threadId: string | null;
  channelId: string | null;
  conversation: string | null;
  override: Record<string, unknown> | null;
  /** The answer is to be JSON of this schema. */
  outputSchema?: Record<string, unknown> | null;
  /** The number of the scheduled job that asks for the run. */
  jobN?: number | undefined;
  /** The scheduled job or heartbeat that fires it, for whoever follows the workspace. */
  firedBy?: { id: string; of: 'job' | 'heartbeat' } | undefined;
  /** A limit of its own, US dollars. */
  costBudgetUsd?: string | undefined;
  /** The caps of who asks for it, by the ids of their budgets. */
  caps?: readonly string[] | undefined;
  /** The claim of the request that asks for the run, where that request may be repeated. */
  claim?: Claim | undefined;
  /** Set on a run that a tool call of another run spawned. */
  parent?: { runId: string; callId: string; depth: number; budgetIds: string[]; attemptId: string | null };
}

const CAPS = JSON.stringify(Object.fromEntries(PLANS.map((plan) => [plan, capOf(plan, 'runs_per_day')])));
const NOTHING = sql``;
const jsonOrNull = (value: object | null | undefined) => (value ? JSON.stringify(value) : null);

interface Outcome {
  plan: Plan;
  status: string;
  cap: number | null;
  /** The request still holds its claim. */
  held: boolean;
  accepted: boolean;
}

/** @throws Problem plan_limit_exceeded, workspace_archived, not_found; ClaimLostError */
export async function acceptRun(db: Database, run: NewRun): Promise<void> {
  const ownBudget = run.costBudgetUsd === undefined ? null : `run:${run.id}`;
  const budgetIds = [...(run.parent?.budgetIds ?? []), ...(ownBudget ? [ownBudget] : []), ...(run.caps ?? [])];
  const [outcome] = await db.rows<Outcome>(sql`
    with ${run.claim ? sql`held as (${holdingClaim(run.claim, run.id)}), ` : NOTHING}workspace as (
      select plan_in_force as plan, open_status as status, (${CAPS}::jsonb ->> plan_in_force::text)::int as cap,
        ${run.claim ? sql`exists (select 1 from held)` : sql`true`} as held
      from ${workspaceOf(run.customerId)} w
    ), counted as (
      insert into usage_counters as u (customer_id, resource, day, used)
      select ${run.customerId}, 'runs_per_day', ${TODAY}, 1 from workspace where cap is not null and status <> 'archived' and held
      on conflict (customer_id, resource, day) do update set used = u.used + 1
        where u.used < (select cap from workspace)
      returning used
    )${run.conversation ? takingPlace(run.customerId, run.conversation) : NOTHING}, run as (
      insert into runs (id, customer_id, parent_run_id, parent_call_id, depth, agent, transport, prompt, thread_id,
        channel_id, conversation, override, output_schema, event_count, budget_ids, attempt_id, job_n)
      select ${run.id}, ${run.customerId}, ${run.parent?.runId ?? null}, ${run.parent?.callId ?? null},
        ${run.parent?.depth ?? 0}, ${run.agent}, ${run.transport}, ${run.prompt}, ${run.threadId}, ${run.channelId},
        ${run.conversation}, ${jsonOrNull(run.override)}::jsonb, ${run.outputSchema ? JSON.stringify(withPropertyOrder(run.outputSchema)) : null}::jsonb, 1,
        ${sql.param(budgetIds)}::text[], ${run.parent?.attemptId ?? null}::uuid, ${run.jobN ?? null}::int
      from workspace ${run.conversation ? sql`, place` : NOTHING}
      where status <> 'archived' and held and (cap is null or exists (select 1 from counted))
      returning id, customer_id
    ), received as (
      insert into run_events (run_id, customer_id, key, event_type, status, payload)
      select id, customer_id, 'received', 'run_received', 'queued', ${JSON.stringify({ prompt_length: run.prompt.length })}::jsonb from run
    )${ownBudget ? limitedTo(ownBudget, run) : NOTHING}${run.firedBy ? fired(run.firedBy) : NOTHING}
    select plan, status, cap, held, exists (select 1 from run) as accepted from workspace`);
  if (!outcome) throw new Problem('not_found');
  if (outcome.accepted) return;
  if (!outcome.held) throw new ClaimLostError();
  if (outcome.status === 'archived') throw new Problem('workspace_archived');
  throw planLimitExceeded(outcome.plan, 'runs_per_day', present(outcome.cap), present(outcome.cap));
}

/**
 * The run of a project's step. It is no call of its own: no plan counts it, no webhook hears of its end, and its phase
 * starts it.
 */
export interface StepRun {
  id: string;
  customerId: string;
  agent: string;
  prompt: string;
  attemptId: string;
  budgetIds: readonly string[];
  step: StepOfRun;
}

/** CTEs that accept a step's run, if the CTE `guard` has a row. */
export const stepRunCtes = (
  guard: SQL,
  { id, customerId, agent, prompt, attemptId, budgetIds, step }: StepRun,
): SQL => sql`
  run as (
    insert into runs (id, customer_id, agent, transport, prompt, event_count, budget_ids, attempt_id, step, start_due_at)
    select ${id}, ${customerId}, ${agent}, 'rest', ${prompt}, 1, ${sql.param([...budgetIds])}::text[], ${attemptId}::uuid,
      ${JSON.stringify(withPropertyOrder(step))}::jsonb, null::timestamptz
    from ${guard} guard returning id, customer_id
  ), received as (
    insert into run_events (run_id, customer_id, key, event_type, status, payload)
    select id, customer_id, 'received', 'run_received', 'queued',
      ${JSON.stringify({ prompt_length: prompt.length, project_id: step.projectId, attempt_id: attemptId })}::jsonb
    from run
  )`;

const TODAY = sql`to_char(now() at time zone 'utc', 'YYYY-MM-DD')`;

// Runs of one conversation get their number under a lock, so that a lower number is always visible before a higher one.
const takingPlace = (customerId: string, conversation: string): SQL => sql`, place as materialized (
  select pg_advisory_xact_lock(hashtextextended(${`${customerId}/${conversation}`}, 0)))`;

const limitedTo = (budgetId: string, run: NewRun): SQL => sql`, budget as (
  insert into budgets (id, customer_id, limit_usd)
  select ${budgetId}, ${run.customerId}, ${run.costBudgetUsd}::numeric from run)`;

const fired = ({ id, of }: NonNullable<NewRun['firedBy']>): SQL => sql`, fired as (
  ${insertLogEvent(sql`run`, {
    kind: 'schedule',
    topic: 'fired',
    subject: id,
    customerId: sql`guard.customer_id`,
    runId: sql`guard.id`,
    payload: { of },
  })})`;

/**
 * Takes back a run whose workflow could not be started, as if it had never been asked for. Somebody may have followed when
 * it was accepted, so what was told of it stays in the log, in the place that it had, and that it was withdrawn is told.
 * @returns false where it has started after all
 */
export async function withdrawRun(db: Database, customerId: string, runId: string): Promise<boolean> {
  const rows = await db.rows(sql`
    with gone as (
      delete from runs where id = ${runId} and customer_id = ${customerId} and status = 'queued'
      returning id, customer_id, agent, transport
    ), kept as (
      ${keepInLog(sql`
        select e.customer_id, e.tx, e.seq, e.ts, 'run', e.event_type::text, r.id, r.id, ${RUN_EVENT}
        from run_events e join gone r on r.id = e.run_id`)}
    ), told as (
      ${insertLogEvent(sql`gone`, {
        kind: 'start',
        topic: 'refused',
        subject: sql`guard.id`,
        customerId: sql`guard.customer_id`,
        runId: sql`guard.id`,
        payload: { of: 'run' },
      })}
    ), uncounted as (
      update usage_counters set used = used - 1
      where customer_id = ${customerId} and resource = 'runs_per_day' and day = ${TODAY} and exists (select 1 from gone)
    ), unlimited as (
      delete from budgets where id = ${`run:${runId}`} and exists (select 1 from gone)
    )
    select id from gone`);
  return rows.length > 0;
}
