/** Lets a person have a failed step tried again. */
import { sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { newUuid } from '../../../platform/core/ids.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import type { StepKind } from '../../templates/model.ts';
import { isInFlight, type Actor, type AttemptReason, type PhaseChange, type TaskStatus } from '../model.ts';
import { noteProjectEvents, type LockedProject, type NewProjectEvent } from '../store/record.ts';
import { refuseAbandoned, runCommand } from '../control/run-command.ts';
import { downstreamOf, listSteps, resetSteps } from '../engine/steps.ts';

export interface RetryArgs {
  projectId: string;
  subtaskId: string;
  /** It is added to the prompt. */
  addendum: string | null;
  actor: Actor;
  commandId: string;
}

export interface RetryOutcome {
  phaseSlug: string;
  taskId: string;
  /** The phase's workflow is at work and has to be told; otherwise the phase starts again. */
  inFlight: boolean;
  change: PhaseChange | null;
  /** Steps after it that are pending again. */
  reset: string[];
}

/** @throws Problem not_found, project_ended, attempt_queued, subtask_not_failed */
export const retrySubtask = (
  db: Database,
  { projectId, subtaskId, addendum, actor, commandId }: RetryArgs,
): Promise<RetryOutcome> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    const step = found(await findStep(db, projectId, subtaskId));
    refuseAbandoned(project);
    if (step.isQueued) throw new Problem('attempt_queued', 'an attempt of this subtask is queued already');
    if (step.status !== 'failed') throw new Problem('subtask_not_failed', `the subtask is ${step.status}`);
    return retryStep(db, project, step, { subtaskId, addendum, actor });
  });

type Retry = Pick<RetryArgs, 'subtaskId' | 'addendum' | 'actor'>;

/**
 * It is called in a transaction that holds the project.
 * @returns undefined where the step has not failed, or is queued already
 */
export async function retryFailedStep(
  db: Database,
  project: LockedProject,
  retry: Retry,
): Promise<RetryOutcome | undefined> {
  const step = found(await findStep(db, project.id, retry.subtaskId));
  return step.isQueued || step.status !== 'failed' ? undefined : retryStep(db, project, step, retry);
}

async function retryStep(
  db: Database,
  project: LockedProject,
  step: FailedStep,
  { subtaskId, addendum, actor }: Retry,
): Promise<RetryOutcome> {
  const reason: AttemptReason = step.isRejected ? 'manual_rework' : 'manual_retry';
  await db.rows(sql`
      update subtasks set status = 'pending', attempts_used = 0, crashes = 0, is_outcome_unknown = false, error = null,
        addendum = ${addendum}, next_reason = ${reason}::attempt_reason, gate_output = null, completed_at = null
      where id = ${subtaskId}::uuid`);
  const attemptNumber = step.kind === 'gate' ? null : await queueAttempt(db, subtaskId, reason, actor);
  const steps = await listSteps(db, step.taskId);
  const reset = await resetSteps(db, downstreamOf(steps, step.slug), reason);
  const inFlight = isInFlight(step.taskStatus);
  if (!inFlight) {
    await db.rows(sql`
        update tasks set status = 'pending', completed_at = null where id = ${step.taskId}::uuid`);
  }

  const about = { taskId: step.taskId, subtaskId, attemptNumber, actor };
  const payload = { phase_slug: step.phaseSlug, step_slug: step.slug, reason, addendum: addendum !== null };
  const events: NewProjectEvent[] = [{ topic: 'subtask_retry_queued', ...about, payload }];
  if (step.isOutcomeUnknown) events.unshift({ topic: 'nonidempotent_crash_resolved', ...about, payload });
  await noteProjectEvents(db, project, events);
  return {
    phaseSlug: step.phaseSlug,
    taskId: step.taskId,
    inFlight,
    reset,
    change: inFlight || step.taskStatus === 'pending' ? null : { slug: step.phaseSlug, status: 'pending' },
  };
}

type FailedStep = NonNullable<Awaited<ReturnType<typeof findStep>>>;

async function findStep(db: Database, projectId: string, subtaskId: string) {
  const [step] = await db.rows<{
    slug: string;
    kind: StepKind;
    status: TaskStatus;
    isRejected: boolean;
    isOutcomeUnknown: boolean;
    isQueued: boolean;
    taskId: string;
    taskStatus: TaskStatus;
    phaseSlug: string;
  }>(sql`
    select s.step_slug as slug, s.kind, s.status, s.feedback <> '{}' as "isRejected",
      s.is_outcome_unknown as "isOutcomeUnknown",
      exists (select 1 from attempts a where a.subtask_id = s.id and a.status = 'pending') as "isQueued",
      t.id as "taskId", t.status as "taskStatus", t.phase_slug as "phaseSlug"
    from subtasks s join tasks t on t.id = s.task_id
    where s.id = ${subtaskId}::uuid and s.project_id = ${projectId}`);
  return step;
}

/** @returns the number of the attempt */
async function queueAttempt(db: Database, subtaskId: string, reason: AttemptReason, actor: Actor): Promise<number> {
  const { n } = first(
    await db.rows<{ n: number }>(sql`
    insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, queued_by, status)
    select ${newUuid()}::uuid, s.project_id, s.task_id, s.id, s.customer_id,
      (select coalesce(max(attempt_number), 0) + 1 from attempts where subtask_id = s.id),
      ${reason}::attempt_reason, ${JSON.stringify(actor)}::jsonb, 'pending'
    from subtasks s where s.id = ${subtaskId}::uuid
    returning attempt_number as n`),
  );
  return n;
}
