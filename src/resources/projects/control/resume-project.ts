/**
 * Moves a project from paused to active. Whatever died in the meantime is recovered first, and the outcome of that is
 * told.
 */
import { sql } from 'drizzle-orm';
import type { RecoverySummary } from '../../../../workflows/project/messages.ts';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { Actor, EffectOf, PhaseChange, Seen } from '../model.ts';
import { limitOfStop } from '../stops/model.ts';
import { raiseStops } from '../store/stops.ts';
import { requireSeen } from '../store/waits.ts';
import type { LockedProject } from '../store/record.ts';
import { activate, compact, runCommand } from './run-command.ts';
import { recoverTasks } from './recovery.ts';
import { retryFailedStep, type RetryOutcome } from '../backtracking/retry-subtask.ts';
import { IN_FLIGHT } from '../store/statuses.ts';

export interface ResumeArgs {
  projectId: string;
  actor: Actor;
  commandId: string;
  /** Set for an answer in the inbox. */
  seen?: Seen | undefined;
  /** Says that the steps that have failed are tried again. */
  retryFailed?: boolean | undefined;
  /** US dollars that are added to each limit that stops it. */
  raiseByUsd?: string | undefined;
  /** Whoever asks may set caps on spending. */
  mayRaiseCaps?: boolean | undefined;
  /** Somebody works on these phases; any other that looks under way has died. */
  inFlightTaskIds: readonly string[];
  effectOf: EffectOf;
}

/**
 * @throws Problem not_found, project_not_paused, already_answered, changed_since, bad_request, nothing_to_raise,
 * insufficient_credit, admin_required
 */
export const resumeProject = (
  db: Database,
  {
    projectId,
    actor,
    commandId,
    seen,
    retryFailed = false,
    raiseByUsd,
    mayRaiseCaps = false,
    inFlightTaskIds,
    effectOf,
  }: ResumeArgs,
): Promise<Resumed> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    await requireSeen(db, project, projectId, seen);
    if (project.status !== 'paused') throw new Problem('project_not_paused', `the project is ${project.status}`);
    // The retry comes before the recovery, so that a step which dies during this command is left to a person.
    const retried = retryFailed ? await retryFailedSteps(db, project, actor) : [];
    const raised = raiseByUsd === undefined ? undefined : await raiseLimits(db, project, raiseByUsd, mayRaiseCaps);
    const dead = await db.rows<{ id: string }>(sql`
      select t.id from tasks t
      where t.project_id = ${projectId} and not t.id = any(${sql.param([...inFlightTaskIds])}::uuid[])
        and (t.status in ${IN_FLIGHT}
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
    const payload = { resumed: true, ...summary, ...(raised && { raised }) };
    await activate(db, project, actor, payload, { answer, via: seen?.via });
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

/** @throws Problem bad_request, nothing_to_raise, insufficient_credit, admin_required */
async function raiseLimits(db: Database, project: LockedProject, byUsd: string, mayRaiseCaps: boolean) {
  if (!AMOUNT.test(byUsd) || Number(byUsd) <= 0) throw new Problem('bad_request', 'raise_by_usd must be above 0');
  const stops = await raiseStops(db, project, { byUsd, mayRaiseCaps });
  return stops.map((stop) => ({ limit: limitOfStop(stop).name, limit_usd: stop.limitUsd, by_usd: byUsd }));
}

async function countUnknownOutcomes(db: Database, projectId: string): Promise<number> {
  const { n } = first(
    await db.rows<{ n: number }>(sql`
    select count(*)::int as n from subtasks
    where project_id = ${projectId} and is_outcome_unknown and status = 'failed'`),
  );
  return n;
}
