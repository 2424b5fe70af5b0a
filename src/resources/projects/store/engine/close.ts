/** Records how a phase ends: by itself, or in the very statement that records the success of its last step. */
import { sql, type SQL } from 'drizzle-orm';
import { last } from '../../../../platform/core/present.ts';
import type { Database } from '../../../../platform/db/client.ts';
import {
  isDone,
  isInFlight,
  SYSTEM,
  type PhaseEnding,
  type PhaseRef,
  type StepRef,
  type TaskStatus,
} from '../../model.ts';
import { startAnew } from '../commands/backtrack.ts';
import { insertEvents, lockProject, noteProjectEvents, type LockedProject, type NewProjectEvent } from '../record.ts';
import { inOrder, isOvertaken, TASK, type LockedTask } from './open.ts';
import { promotable, promote, type Promotable } from './promote.ts';

export interface EndingTask extends LockedTask, Promotable {
  /** US dollars that the project has spent. */
  projectCostUsd: string;
  /**
   * What the phase has made was made from something else than what its upstream phases have now, or are about to have:
   * another version, one that became stale since, or one of a phase that runs again. Changes that were to spare it do
   * not count. It is decided by what its attempts were given, whatever lay between.
   */
  isOutdated: boolean;
}

/**
 * Asks for everything by which the end of a phase is decided. Its row is an `EndingTask`.
 * @param succeeding names an attempt that counts as one that has succeeded already
 */
export const endingOf = ({ projectId, taskId }: PhaseRef, succeeding: string | null): SQL => sql`
  with given as (
    select latest.consumed from subtasks s cross join lateral (
      select a.id, a.consumed from attempts a
      where a.subtask_id = s.id and (a.status = 'succeeded' or a.id = ${succeeding}::uuid)
      order by a.attempt_number desc limit 1) latest
    where s.task_id = ${taskId}::uuid and (s.status = 'succeeded' or latest.id = ${succeeding}::uuid)
      and latest.consumed is not null
  ), upstream as (
    select u.phase_slug as slug, u.status, (
      select a.version from artifacts a where a.task_id = u.id and not a.superseded) as version
    from tasks t join tasks u on u.project_id = t.project_id and u.phase_slug = any(t.depends_on)
    where t.id = ${taskId}::uuid and not u.phase_slug = any(t.spared)
  )
  select ${TASK}, ${promotable(succeeding)},
    coalesce((select b.spent_usd from budgets b where b.id = ${`project:${projectId}`}), 0)::text as "projectCostUsd",
    exists (
      select 1 from upstream u where u.status not in ('succeeded', 'skipped', 'stale') or exists (
        select 1 from given g where (g.consumed -> u.slug ->> 'version')::int is distinct from u.version
          or (u.status = 'stale' and not coalesce((g.consumed -> u.slug ->> 'isStale')::boolean, false)))
    ) as "isOutdated"
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
    return { status: 'skipped', parts: [ended(task.id, 'skipped')], events: [{ topic: 'task_skipped', ...about }] };
  }
  if (isToRerun(task)) return undefined;
  const status = task.isOutdated || task.onEnd === 'stale' ? 'stale' : 'succeeded';
  const promoted = await promote(db, task, take);
  return {
    status,
    parts: [ended(task.id, status), ...(promoted ? [sql`made as (${promoted.insert})`] : [])],
    events: [
      ...(promoted ? [promoted.event] : []),
      { topic: 'task_succeeded', ...about, payload: { phase_slug: task.phaseSlug, ...promoted?.version } },
      ...(status === 'stale' ? [{ topic: 'task_stale' as const, ...about }] : []),
    ],
  };
}

const isToRerun = ({ isOutdated, onEnd }: EndingTask): boolean => isOutdated && onEnd === 'rerun';

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
  await startAnew(db, project, [task.id], { reason: 'cascade_retrigger', addendum: null, actor: SYSTEM });
  const payload = { phase_slug: task.phaseSlug, cascade: 'strict' };
  await noteProjectEvents(db, project, [{ topic: 'phase_retriggered', taskId: task.id, payload }]);
}

export const areDone = (steps: readonly Pick<StepRef, 'status'>[]): boolean =>
  steps.every(({ status }) => isDone(status));
