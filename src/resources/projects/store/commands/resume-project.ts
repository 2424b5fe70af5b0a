/**
 * Moves a project from paused to active. Whatever died in the meantime is recovered first, and the outcome of that is
 * told.
 */
import { sql } from 'drizzle-orm';
import type { RecoverySummary } from '../../../../../workflows/project/messages.ts';
import { first } from '../../../../platform/core/present.ts';
import { Problem } from '../../../../platform/core/problem.ts';
import type { Database } from '../../../../platform/db/client.ts';
import type { Actor, EffectOf, PhaseChange, Seen } from '../../model.ts';
import { requireSeen } from '../waits.ts';
import type { LockedProject } from '../record.ts';
import { activate, compact, runCommand } from './command.ts';
import { recoverTasks } from './recovery.ts';
import { retryFailedStep, type RetryOutcome } from './retry-subtask.ts';

export interface ResumeArgs {
  projectId: string;
  actor: Actor;
  commandId: string;
  /** Set for an answer in the inbox. */
  seen?: Seen | undefined;
  /** Says that the steps that have failed are tried again. */
  retryFailed?: boolean | undefined;
  /** US dollars that are added to each budget that stopped it. */
  raiseByUsd?: string | undefined;
  /** Somebody works on these phases; any other that looks under way has died. */
  inFlightTaskIds: readonly string[];
  effectOf: EffectOf;
}

/** @throws Problem not_found, project_not_paused, already_answered, changed_since */
export const resumeProject = (
  db: Database,
  { projectId, actor, commandId, seen, retryFailed = false, raiseByUsd, inFlightTaskIds, effectOf }: ResumeArgs,
): Promise<Resumed> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    await requireSeen(db, project, projectId, seen);
    if (project.status !== 'paused') throw new Problem('project_not_paused', `the project is ${project.status}`);
    // The retry comes before the recovery, so that a step which dies during this command is left to a person.
    const retried = retryFailed ? await retryFailedSteps(db, project, actor) : [];
    if (raiseByUsd !== undefined) await raiseBudgets(db, project, raiseByUsd);
    const dead = await db.rows<{ id: string }>(sql`
      select t.id from tasks t
      where t.project_id = ${projectId} and not t.id = any(${sql.param([...inFlightTaskIds])}::uuid[])
        and (t.status in ('running', 'blocked', 'review')
          or exists (select 1 from attempts a where a.task_id = t.id and a.status = 'running'))`);
    const recovery = await recoverTasks(
      db,
      project,
      dead.map(({ id }) => id),
      effectOf,
    );
    const summary: RecoverySummary = {
      crashed_attempts_recovered: recovery.again,
      repeat_crash_failures: recovery.repeated,
      nonidempotent_pauses: await countUnknownOutcomes(db, projectId),
    };
    const answer = retryFailed ? 'retry' : raiseByUsd === undefined ? 'resume' : 'raise_budget';
    await activate(db, project, actor, { resumed: true, ...summary }, { answer, via: seen?.via });
    const restarted = retried.flatMap(({ change }) => change ?? []);
    const inFlight = retried
      .filter((each) => each.inFlight)
      .map(({ phaseSlug, subtaskId }) => ({ phaseSlug, subtaskId }));
    return { summary, changes: compact([...restarted, ...recovery.changes]), retried: inFlight };
  });

export interface Resumed {
  summary: RecoverySummary;
  changes: PhaseChange[];
  /** Steps that are pending again in phases at which a workflow is at work. */
  retried: { phaseSlug: string; subtaskId: string }[];
}

/** Skips a step that another retry has sent back already, because it has nothing left to retry. */
async function retryFailedSteps(db: Database, project: LockedProject, actor: Actor) {
  const failed = await db.rows<{ id: string }>(sql`
    select s.id from subtasks s join tasks t on t.id = s.task_id
    where s.project_id = ${project.id} and s.status = 'failed' order by t.position, s.position`);
  const retried: (RetryOutcome & { subtaskId: string })[] = [];
  for (const { id: subtaskId } of failed) {
    const outcome = await retryFailedStep(db, project, { subtaskId, addendum: null, actor });
    if (outcome) retried.push({ ...outcome, subtaskId });
  }
  return retried;
}

const AMOUNT = /^\d{1,9}(\.\d{1,8})?$/;

/**
 * Raises the budgets that stopped the project. For each phase that ran into a budget since the project last went on,
 * this is the budget with the least left, either the phase's own or the project's. A budget with room left did not stop
 * anything.
 * @throws Problem bad_request
 */
async function raiseBudgets(db: Database, { id, customerId }: LockedProject, byUsd: string): Promise<void> {
  if (!AMOUNT.test(byUsd) || Number(byUsd) <= 0) throw new Problem('bad_request', 'raise_by_usd must be above 0');
  await db.rows(sql`
    with stopped as (
      select distinct e.task_id from project_events e
      where e.project_id = ${id} and e.customer_id = ${customerId} and e.topic = 'cost_budget_breached'
        and e.id > coalesce((
          select max(s.id) from project_events s
          where s.project_id = ${id} and s.customer_id = ${customerId} and s.topic = 'project_started'), 0)
    ), short as (
      select distinct tightest.id from stopped cross join lateral (
        select b.id, rank() over (order by b.limit_usd - b.spent_usd - b.reserved_usd) as place from budgets b
        where b.customer_id = ${customerId} and b.limit_usd is not null
          and b.id in (${`project:${id}`}, 'task:' || stopped.task_id)) tightest
      where tightest.place = 1
    ), raised as (
      update projects set cost_budget_usd = cost_budget_usd + ${byUsd}::numeric, is_cost_warned = false
      where id = ${id} and customer_id = ${customerId} and 'project:' || id in (select short.id from short)
    ), phases as (
      update tasks set cost_budget_usd = cost_budget_usd + ${byUsd}::numeric
      where project_id = ${id} and customer_id = ${customerId} and 'task:' || id in (select short.id from short)
    )
    update budgets set limit_usd = limit_usd + ${byUsd}::numeric
    where customer_id = ${customerId} and id in (select short.id from short)`);
}

async function countUnknownOutcomes(db: Database, projectId: string): Promise<number> {
  const { n } = first(
    await db.rows<{ n: number }>(sql`
    select count(*)::int as n from subtasks
    where project_id = ${projectId} and is_outcome_unknown and status = 'failed'`),
  );
  return n;
}
