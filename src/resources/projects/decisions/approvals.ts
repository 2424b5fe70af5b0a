/**
 * Keeps steps behind gates that were answered for something else than there is now. Such a gate is pending again, is
 * asked again, and what was done behind it is done again.
 */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { isDone, SYSTEM, type Actor, type AttemptBeginning } from '../model.ts';
import { startAnew } from '../backtracking/backtrack.ts';
import { downstreamOf, listSteps, resetSteps } from '../engine/steps.ts';
import { noteProjectEvents, type LockedProject } from '../store/record.ts';
import { APPROVALS_BEFORE, type ApprovalBefore, type GateBefore } from '../engine/consumed.ts';
import type { StepRow } from '../engine/step-row.ts';

/**
 * Is called in the transaction in which a step is about to begin.
 * @returns undefined where every approval that the step needs is there, and is for what there is now
 */
export async function holdBehindGates(
  db: Database,
  project: LockedProject,
  step: StepRow,
): Promise<AttemptBeginning | undefined> {
  const { taskId, gates, approvals } = step;
  const anew = await startApprovalsAnew(db, project, approvals);
  const changed = gates.filter(({ hasChanged }) => hasChanged);
  if (changed.length > 0) await askAgain(db, project, step, changed);
  const isApproved = approvals.every(({ slug, status }) => isDone(status) && !anew.includes(slug));
  if (isApproved && changed.length === 0 && gates.every(({ status }) => isDone(status))) return undefined;
  return { kind: !isApproved && (await putBack(db, taskId)) ? 'put_back' : 'not_yet' };
}

/** Makes these gates of the step's phase pending again, with everything behind them. */
async function askAgain(db: Database, project: LockedProject, step: StepRow, gates: readonly GateBefore[]) {
  const { taskId, phaseSlug } = step;
  const steps = await listSteps(db, taskId);
  const asked = gates.map(({ slug }) => slug);
  const behind = asked.flatMap((slug) => downstreamOf(steps, slug));
  const again = steps.filter((each) => asked.includes(each.slug) || behind.includes(each));
  await resetSteps(db, again, 'cascade_retrigger');
  const actor = (await outdatedBy(db, taskId)) ?? SYSTEM;
  await noteProjectEvents(
    db,
    project,
    gates.map(({ subtaskId, slug }) => ({
      topic: 'subtask_retry_queued',
      taskId,
      subtaskId,
      actor,
      payload: { phase_slug: phaseSlug, step_slug: slug, reason: 'cascade_retrigger' },
    })),
  );
}

const outdatedBy = async (db: Database, taskId: string): Promise<Actor | null> =>
  first(await db.rows<{ by: Actor | null }>(sql`select outdated_by as by from tasks where id = ${taskId}::uuid`)).by;

/**
 * Starts phases of gates alone anew that were answered for something else than there is now, or that are behind one that
 * is to be answered.
 * @param approvals are in pipeline order
 * @returns their slugs
 */
async function startApprovalsAnew(
  db: Database,
  project: LockedProject,
  approvals: readonly ApprovalBefore[],
): Promise<string[]> {
  const open = new Set<string>();
  const again: ApprovalBefore[] = [];
  for (const approval of approvals) {
    const isDue = approval.hasChanged || approval.dependsOn.some((slug) => open.has(slug));
    if (!isDone(approval.status)) open.add(approval.slug);
    else if (isDue) {
      open.add(approval.slug);
      again.push(approval);
    }
  }
  for (const { taskId, slug } of again) {
    const actor = (await outdatedBy(db, taskId)) ?? SYSTEM;
    await startAnew(db, project, [taskId], { reason: 'cascade_retrigger', addendum: null, actor });
    const payload = { phase_slug: slug, reason: 'it was answered for an earlier version' };
    await noteProjectEvents(db, project, [{ topic: 'phase_retriggered', taskId, actor, payload }]);
  }
  return again.map(({ slug }) => slug);
}

/**
 * Makes a phase under way pending, so that it goes on when the phases before it are done.
 * @returns false while an attempt of it is under way, which ends first
 */
async function putBack(db: Database, taskId: string): Promise<boolean> {
  const back = await db.rows(sql`
    update tasks t set status = 'pending'
    where t.id = ${taskId}::uuid and not exists (
      select 1 from attempts a where a.task_id = t.id and a.status = 'running')
    returning t.id`);
  if (back.length === 0) return false;
  await db.rows(sql`
    update subtasks set status = 'pending' where task_id = ${taskId}::uuid and status = 'blocked'`);
  return true;
}

/** Is called where a pending phase was not opened: the phases of gates alone before it may have to be answered first. */
export async function askApprovalsAgain(db: Database, project: LockedProject, taskId: string): Promise<void> {
  const { approvals } = first(
    await db.rows<{ approvals: ApprovalBefore[] }>(sql`
    select ${APPROVALS_BEFORE} as approvals from tasks t where t.id = ${taskId}::uuid`),
  );
  await startApprovalsAnew(db, project, approvals);
}
