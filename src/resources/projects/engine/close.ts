/** Records how a phase ends: by itself, or in the very statement that records the success of its last step. */
import { sql, type SQL } from 'drizzle-orm';
import { last } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import {
  isDone,
  isInFlight,
  SYSTEM,
  type Actor,
  type PhaseEnding,
  type PhaseRef,
  type StepRef,
  type TaskStatus,
} from '../model.ts';
import { isOutdated, type Provenance } from '../freshness.ts';
import { startAnew } from '../backtracking/backtrack.ts';
import {
  insertEvents,
  lockProject,
  noteProjectEvents,
  type LockedProject,
  type NewProjectEvent,
} from '../store/record.ts';
import { PROVENANCE } from './consumed.ts';
import { inOrder, isOvertaken, TASK, type LockedTask } from './open.ts';
import { promotable, promote, type Promotable } from './promote.ts';

export interface EndingTask extends LockedTask, Promotable, Provenance {
  /** US dollars that the project has spent. */
  projectCostUsd: string;
  /** Who last changed what the phase has consumed; null where nobody did. */
  outdatedBy: Actor | null;
  /** Who answered the gate of an edit session, or the last gate of a phase; null where nobody did. */
  answeredBy: Actor | null;
}

/**
 * Asks for everything by which the end of a phase is decided. Its row is an `EndingTask`.
 * @param succeeding names an attempt that counts as one that has succeeded already
 */
export const endingOf = ({ projectId, taskId }: PhaseRef, succeeding: string | null): SQL => sql`
  select ${TASK}, ${promotable(succeeding)}, ${PROVENANCE}, t.outdated_by as "outdatedBy",
    coalesce((select b.spent_usd from budgets b where b.id = ${`project:${projectId}`}), 0)::text as "projectCostUsd",
    (select s.answered_by from subtasks s where s.task_id = t.id and s.answered_by is not null
      order by s.position desc limit 1) as "answeredBy"
  from tasks t where t.id = ${taskId}::uuid and t.project_id = ${projectId}`;

/** An end of a phase that only has to be written. */
export interface PhaseEnd {
  status: TaskStatus;
  /** Parts of the statement that also inserts the events. */
  parts: SQL[];
  events: NewProjectEvent[];
}

/**
 * Prepares the end of a phase whose steps are all done.
 * @param take gives the output of an attempt; where it is left out, the attempt has it already
 * @returns undefined where the phase is to run again
 */
export async function prepareEnd(
  db: Database,
  task: EndingTask,
  take?: (attemptId: string) => SQL,
): Promise<PhaseEnd | undefined> {
  const about = { taskId: task.id, payload: { phase_slug: task.phaseSlug } };
  // An edit session whose plan was turned down ends without having changed anything.
  if (last(task.steps).status === 'skipped') {
    const skipped = { topic: 'task_skipped' as const, ...about, ...by(task.answeredBy) };
    return { status: 'skipped', parts: [ended(task.id, 'skipped')], events: [skipped] };
  }
  if (isToRerun(task)) return undefined;
  const status = isOutdated(task) ? 'stale' : 'succeeded';
  const promoted = await promote(db, task, take);
  return {
    status,
    parts: [ended(task.id, status), ...(promoted ? [sql`made as (${promoted.insert})`] : [])],
    events: [
      ...(promoted ? [promoted.event] : []),
      { topic: 'task_succeeded', ...about, payload: { phase_slug: task.phaseSlug, ...promoted?.version } },
      ...(status === 'stale' ? [{ topic: 'task_stale' as const, ...about, ...by(task.outdatedBy) }] : []),
    ],
  };
}

const by = (actor: Actor | null) => ({ actor: actor ?? SYSTEM });

const isToRerun = (task: EndingTask): boolean => task.onEnd === 'rerun' && isOutdated(task);

const ended = (taskId: string, status: TaskStatus): SQL => sql`ended as (
  update tasks set status = ${status}::task_status, completed_at = now(),
    -- What was promised of one that failed holds for it when it is retried.
    on_end = case when ${status} = 'failed' then on_end end
  where id = ${taskId}::uuid)`;

/** Is called when no step of the phase is under way any more. */
export const closePhase = (db: Database, ref: PhaseRef): Promise<PhaseEnding> =>
  db.transaction(async () => closeLocked(db, await lockProject(db, ref.projectId), ref));

/** Does the same in a transaction that holds the project already. */
export async function closeLocked(db: Database, project: LockedProject, ref: PhaseRef): Promise<PhaseEnding> {
  const [task] = await db.rows<EndingTask>(endingOf(ref, null));
  if (!task) return { kind: 'superseded' };
  const { steps, projectCostUsd: costUsd } = task;
  if (task.iteration === ref.iteration && !isInFlight(task.status) && project.status !== 'abandoned') {
    return { kind: 'ended', status: task.status, changes: [], costUsd }; // The activity is repeated.
  }
  if (isOvertaken(project, task, ref)) return { kind: 'superseded' };
  const isFailed = steps.some(({ status }) => status === 'failed');
  if (!isFailed && !areDone(steps)) return { kind: 'more', steps: inOrder(steps) };
  if (isFailed) {
    // Nothing starts beside a failed step. What is pending runs when the phase starts again.
    await db.rows(sql`with ${ended(task.id, 'failed')} select 1`);
    return { kind: 'ended', status: 'failed', changes: [], costUsd };
  }
  const end = await prepareEnd(db, task);
  if (end) await db.rows(sql`with ${sql.join(end.parts, sql`, `)} ${insertEvents(project, end.events)}`);
  else await runAgain(db, project, task);
  return { kind: 'ended', status: end?.status ?? 'pending', changes: [], costUsd };
}

async function runAgain(db: Database, project: LockedProject, task: EndingTask): Promise<void> {
  const promoted = await promote(db, task);
  if (promoted) await db.rows(sql`with made as (${promoted.insert}) ${insertEvents(project, [promoted.event])}`);
  const actor = task.outdatedBy ?? SYSTEM;
  await startAnew(db, project, [task.id], { reason: 'cascade_retrigger', addendum: null, actor });
  const payload = { phase_slug: task.phaseSlug, cascade: 'strict' };
  await noteProjectEvents(db, project, [{ topic: 'phase_retriggered', taskId: task.id, actor, payload }]);
}

export const areDone = (steps: readonly Pick<StepRef, 'status'>[]): boolean =>
  steps.every(({ status }) => isDone(status));
