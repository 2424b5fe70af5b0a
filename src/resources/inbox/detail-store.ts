/** Reads what somebody has to know to answer a wait, all in one statement, when one wait is looked at. */
import { sql, type SQL } from 'drizzle-orm';
import { parsedJson } from '../../platform/core/json.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import type { WaitDetailRow, WaitRow } from './contract.ts';
import { DONE } from '../projects/store/statuses.ts';

export type WaitDetailStore = ReturnType<typeof createWaitDetailStore>;

/** The limit, in characters, of what is shown of a step's output. Its attempt has the rest. */
const MAX_OUTPUT = sql.raw('20000');

export interface WaitDetails extends Pick<
  WaitDetailRow,
  'votes' | 'delegations' | 'artifacts' | 'work' | 'reviews' | 'decisions' | 'failures' | 'budgets' | 'plan'
> {
  gateConfig: Record<string, unknown> | null;
  /** The arguments of the run's call that waits. */
  callArguments: Record<string, unknown> | null;
  tool: string | null;
  /** For an edit session: what was asked for. */
  instruction: string | null;
  /**
   * In US dollars, what the phases that are still to come cost on average in completed projects of this template; null
   * where nothing is known.
   */
  costOfRest: string | null;
  /**
   * In US dollars, what the phase has cost since it last began, which is about what running it again will cost.
   */
  costOfPhase: string | null;
}

/** Gives the rows of a query as a list; without one, an empty list. */
const listOf = (rows: SQL | false): SQL =>
  rows ? sql`(select coalesce(jsonb_agg(to_jsonb(each)), '[]') from (${rows}) each)` : sql`'[]'::jsonb`;

export const createWaitDetailStore = (db: Database) => ({
  async load(customerId: string, wait: WaitRow): Promise<WaitDetails> {
    const isOfStep = wait.subtask_id !== null;
    const isOfProject = wait.project_id !== null;
    const isPause = wait.kind === 'paused';
    const { plan, ...details } = first(
      await db.rows<Omit<WaitDetails, 'plan'> & { plan: unknown }>(sql`
      select s.gate_config as "gateConfig", c.arguments as "callArguments", c.tool, t.instruction,
        ${isOfProject ? costOfRest(customerId, wait) : sql`null::text`} as "costOfRest",
        ${isOfStep ? costOfPhase(customerId, wait) : sql`null::text`} as "costOfPhase",
        ${listOf(votes(customerId, wait))} as votes, ${listOf(isOfStep && delegations(customerId, wait))} as delegations,
        ${listOf(isOfProject && artifacts(customerId, wait))} as artifacts, ${listOf(isOfStep && work(customerId, wait))} as work,
        ${listOf(isOfStep && reviews(customerId, wait))} as reviews, ${listOf(decisions(customerId, wait))} as decisions,
        ${listOf(isPause && failures(customerId, wait))} as failures, ${listOf(isPause && budgets(customerId, wait))} as budgets,
        ${wait.kind === 'plan' ? planOf(customerId, wait) : sql`null::jsonb`} as plan
      from waits w
        left join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
        left join tasks t on t.id = s.task_id and t.customer_id = w.customer_id
        left join run_tool_calls c on c.run_id = w.run_id and c.call_id = w.call_id and c.customer_id = w.customer_id
      where w.id = ${wait.id}::uuid and w.customer_id = ${customerId}`),
    );
    return { ...details, plan: readPlan(plan) };
  },

  /** Names the call of a run that a wait is about. */
  async call(customerId: string, { id }: WaitRow) {
    const rows = await db.rows<{ runId: string; callId: string; tool: string }>(sql`
      select c.run_id as "runId", c.call_id as "callId", c.tool
      from waits w join run_tool_calls c
        on c.run_id = w.run_id and c.call_id = w.call_id and c.customer_id = w.customer_id
      where w.id = ${id}::uuid and w.customer_id = ${customerId}`);
    return first(rows);
  },
});

/**
 * A gate is about the artifacts that its phase was given. A plan, and a project that stopped, are about all current
 * artifacts.
 */
const artifacts = (customerId: string, { project_id: projectId, task_id: taskId, kind }: WaitRow): SQL => sql`
  select a.id, a.phase_slug, a.version, a.schema_slug, u.status = 'stale' as stale, a.created_at
  from artifacts a join tasks u on u.id = a.task_id and u.customer_id = a.customer_id
  where a.project_id = ${projectId} and a.customer_id = ${customerId} and not a.superseded
    and (${kind === 'plan' || kind === 'paused'} or a.phase_slug = any(coalesce((
      select t.depends_on from tasks t where t.id = ${taskId}::uuid and t.customer_id = ${customerId}), '{}')))
  order by u.position`;

/** Reads the work of all steps that come before the gate, directly or through others. */
const work = (customerId: string, { subtask_id: subtaskId, task_id: taskId }: WaitRow): SQL => sql`
  with recursive upstream(slug) as (
    select unnest(depends_on) from subtasks where id = ${subtaskId}::uuid and customer_id = ${customerId}
    union
    select unnest(s.depends_on) from subtasks s join upstream u on s.step_slug = u.slug
    where s.task_id = ${taskId}::uuid and s.customer_id = ${customerId}
  )
  select s.id as subtask_id, s.step_slug, s.role, a.id as attempt_id, a.attempt_number,
    case when length(a.output::text) <= ${MAX_OUTPUT} then a.output
      else to_jsonb(left(coalesce(a.output #>> '{}', ''), ${MAX_OUTPUT})) end as output,
    length(a.output::text) > ${MAX_OUTPUT} as is_cut
  from subtasks s cross join lateral (
    select id, attempt_number, output from attempts
    where subtask_id = s.id and customer_id = ${customerId} and status = 'succeeded' and output is not null
    order by attempt_number desc limit 1) a
  where s.task_id = ${taskId}::uuid and s.customer_id = ${customerId} and s.step_slug in (select slug from upstream)
  order by s.position`;

const reviews = (customerId: string, { project_id: projectId, task_id: taskId }: WaitRow): SQL => sql`
  select coalesce(e.payload ->> 'by', e.payload ->> 'step_slug', '') as step_slug,
    coalesce(e.payload ->> 'role', 'gatekeeper') as role, e.actor_id as by,
    coalesce(e.payload ->> 'feedback', '') as feedback, e.ts as at
  from project_events e
  where e.project_id = ${projectId} and e.customer_id = ${customerId} and e.task_id = ${taskId}::uuid
    and e.topic = 'review_feedback_recorded'
  order by e.id desc limit 20`;

const decisions = (customerId: string, { id }: WaitRow): SQL => sql`
  select w.answer, w.comment, w.revision, w.settled_by as by, w.settled_via as via, w.settled_at as at
  from waits now_is join waits w on w.subject = now_is.subject and w.customer_id = now_is.customer_id
  where now_is.id = ${id}::uuid and now_is.customer_id = ${customerId} and w.id <> now_is.id
    and w.answer is not null and w.revision < now_is.revision
  order by w.revision desc limit 20`;

const votes = (customerId: string, { id, revision }: WaitRow): SQL => sql`
  select answer, comment, voter as by, via, voted_at as at from wait_votes
  where wait_id = ${id}::uuid and customer_id = ${customerId} and revision = ${revision} order by voted_at, voter`;

const delegations = (customerId: string, { id }: WaitRow): SQL => sql`
  select delegator as from, stand_in as to, until, created_at as at from wait_delegations
  where wait_id = ${id}::uuid and customer_id = ${customerId} and until > now() order by created_at, delegator`;

const failures = (customerId: string, { project_id: projectId }: WaitRow): SQL => sql`
  select s.id as subtask_id, t.phase_slug, s.step_slug, s.error, s.is_outcome_unknown as outcome_unknown
  from subtasks s join tasks t on t.id = s.task_id and t.customer_id = s.customer_id
  where s.project_id = ${projectId} and s.customer_id = ${customerId} and s.status = 'failed'
  order by t.position, s.position limit 20`;

const budgets = (customerId: string, { project_id: projectId }: WaitRow): SQL => sql`
  select case when t.id is null then 'project' else t.phase_slug end as of, trim_scale(b.limit_usd)::text as budget_usd,
    trim_scale(b.spent_usd)::text as spent_usd
  from budgets b left join tasks t
    on b.id = 'task:' || t.id and t.customer_id = b.customer_id and t.project_id = ${projectId}
  where b.customer_id = ${customerId} and b.limit_usd is not null
    and (b.id = ${`project:${projectId}`} or t.id is not null)
  order by t.position nulls first`;

/** The plan that waits to be enacted, which is what the planner's last attempt proposes. */
const planOf = (customerId: string, { task_id: taskId }: WaitRow): SQL => sql`(
  select a.output from attempts a join subtasks s on s.id = a.subtask_id and s.customer_id = a.customer_id
  where a.task_id = ${taskId}::uuid and a.customer_id = ${customerId} and s.step_slug = 'planner'
    and a.status = 'succeeded'
  order by a.attempt_number desc limit 1)`;

function readPlan(output: unknown): Record<string, unknown> | null {
  const plan = typeof output === 'string' ? parsedJson(output) : output;
  return typeof plan === 'object' && plan !== null ? (plan as Record<string, unknown>) : null;
}

const costOfRest = (customerId: string, { project_id: projectId, workflow_slug: slug }: WaitRow): SQL => sql`(
  with rest as (
    select phase_slug from tasks
    where project_id = ${projectId} and customer_id = ${customerId}
      and status not in ${DONE}
  ), earlier as (
    select id from projects
    where customer_id = ${customerId} and workflow_slug = ${slug} and status = 'completed' and id <> ${projectId}
    order by seq desc limit 20
  )
  select trim_scale(round(sum(cost.usd) / nullif((select count(*) from earlier), 0), 8))::text
  from earlier e join tasks t on t.project_id = e.id and t.customer_id = ${customerId}
    join rest on rest.phase_slug = t.phase_slug
    cross join lateral (
      select coalesce(sum(a.cost_usd), 0) as usd from attempts a
      where a.task_id = t.id and a.customer_id = ${customerId}) cost)`;

const costOfPhase = (customerId: string, { task_id: taskId }: WaitRow): SQL => sql`(
  select trim_scale(sum(a.cost_usd))::text
  from attempts a join tasks t on t.id = a.task_id and t.customer_id = a.customer_id
  where t.id = ${taskId}::uuid and t.customer_id = ${customerId}
    and coalesce(a.started_at, a.created_at) >= t.started_at)`;
