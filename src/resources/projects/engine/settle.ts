/**
 * Records how an attempt ends and what that means for its step: it is done, it is tried once more, or it is left to a
 * person. This is decided under the project's lock, from what the run or the action left behind.
 */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { endRun } from '../../runs/store/turns.ts';
import type {
  AttemptFault,
  AttemptOutcome,
  AttemptReason,
  EffectOf,
  PhaseEnding,
  PhaseRef,
  TaskStatus,
} from '../model.ts';
import { judgeCrash, recordCrash } from './crashes.ts';
import { insertEvents, noteProjectEvents, pauseLocked, type LockedProject } from '../store/record.ts';
import { BUDGET_BREACH } from '../stops/model.ts';
import { keepStop, limitsThatStopped } from '../store/stops.ts';
import { loadAttempt, type OpenAttempt } from './attempt.ts';
import { ATTEMPT_KINDS, type Finding } from './attempt-kinds.ts';
import { findingOf, objection } from './finding.ts';
import { stepRows, type Next } from './begin.ts';
import { areDone, prepareEnd, type PhaseEnd } from './close.ts';
import { isOvertaken, listSteps, setTaskStatus, updateTaskStatus } from './open.ts';
import { outputOf } from './promote.ts';
import { passOn, sendBack } from './send-back.ts';
import type { StepRow } from './step-row.ts';

interface Settled {
  outcome: AttemptOutcome;
  /** Set where the end of the phase is recorded too. */
  ending?: PhaseEnding;
  /** The steps that are to begin, where they were looked up in the statement that recorded the success. */
  steps?: StepRow[];
}

interface Settling {
  attemptId: string;
  fault?: AttemptFault | undefined;
  /** The phase ends if the attempt has succeeded. */
  isLast: boolean;
  /** These begin if the attempt has succeeded. */
  next: readonly Next[];
}

export async function settleAttempt(
  db: Database,
  project: LockedProject,
  ref: PhaseRef,
  { attemptId, fault, isLast, next }: Settling,
  effectOf: EffectOf,
): Promise<Settled> {
  const attempt = await loadAttempt(db, attemptId, isLast ? ref : undefined);
  if (!attempt || isOvertaken(project, { iteration: attempt.iteration, status: attempt.taskStatus }, ref)) {
    // A repeat of the one with which this start of the phase ended is told so again.
    const hasEnded = isLast && attempt?.status === 'succeeded' && attempt.iteration === ref.iteration;
    return { outcome: { kind: hasEnded && project.status !== 'abandoned' ? 'succeeded' : 'superseded' } };
  }
  // This is a repeat, and the rows say what was decided.
  if (attempt.status !== 'running') return { outcome: await outcomeOf(db, attempt) };
  const finding = await findingOf(attempt, fault);
  if (finding.kind === 'output' && attempt.subtaskStatus === 'running') {
    const rejection = objection(attempt.role, finding.output);
    if (rejection === undefined) return succeed(db, project, ref, attempt, finding, next);
  }
  await follow(db, project, attempt, finding, effectOf);
  await updateTaskStatus(db, attempt.taskId);
  return { outcome: await outcomeOf(db, present(await loadAttempt(db, attemptId))) };
}

async function outcomeOf(db: Database, { subtaskStatus, taskId }: OpenAttempt): Promise<AttemptOutcome> {
  // Work that was turned down takes the steps after it along, so everything that is pending now is told.
  const steps = await listSteps(db, taskId);
  const those = (wanted: TaskStatus) => steps.filter(({ status }) => status === wanted).map((step) => step.subtaskId);
  if (subtaskStatus === 'succeeded') return { kind: 'succeeded' };
  return { kind: subtaskStatus === 'failed' ? 'failed' : 'again', reset: those('pending'), failed: those('failed') };
}

/**
 * Records a success, which is what nearly every attempt comes to, in one statement: of a last step with its phase's, of
 * another with a look at what follows it.
 */
async function succeed(
  db: Database,
  project: LockedProject,
  ref: PhaseRef,
  attempt: OpenAttempt,
  { output, validated }: Extract<Finding, { kind: 'output' }>,
  next: readonly Next[],
): Promise<Settled> {
  const { subtaskId, taskId, costUsd } = attempt;
  const payload = { ...names(attempt), cost_usd: costUsd };
  const end = await endWith(db, attempt);
  const events = [{ topic: 'subtask_succeeded' as const, ...about(attempt), payload }, ...(end?.events ?? [])];
  const parts = [
    sql`attempt as (${setAttemptEnd(attempt, { status: 'succeeded', output, validated })} returning output)`,
    sql`subtask as (
      update subtasks set status = 'succeeded', completed_at = now(), error = null, addendum = null
      where id = ${subtaskId}::uuid)`,
    ...(end?.parts ?? [sql`task as (${setTaskStatus(taskId, { subtaskId, to: 'succeeded' })})`]),
    sql`told as (${insertEvents(project, events)})`,
  ];
  const following = stepRows(ref, end ? [] : next, { done: { subtaskId, output: OUTPUT } });
  const steps = await db.rows<StepRow>(sql`with ${sql.join(parts, sql`, `)} select * from (${following}) following`);
  const outcome = { kind: 'succeeded' as const };
  if (!end) return { outcome, steps };
  const { projectCostUsd } = present(attempt.ending);
  return { outcome, ending: { kind: 'ended', status: end.status, changes: [], costUsd: projectCostUsd } };
}

/** The output of the attempt, in the statement that gives it to it. */
const OUTPUT = sql`(select output from attempt)`;

/** @returns the end of the phase, where the success of this attempt is the end and nothing has to run again */
async function endWith(db: Database, { id, subtaskId, ending }: OpenAttempt): Promise<PhaseEnd | undefined> {
  if (!ending) return undefined;
  const steps = ending.steps.map((step) =>
    step.subtaskId === subtaskId ? { ...step, status: 'succeeded' as const } : step,
  );
  if (!areDone(steps)) return undefined;
  return prepareEnd(db, { ...ending, steps }, (made) => (made === id ? OUTPUT : outputOf(made)));
}

async function follow(
  db: Database,
  project: LockedProject,
  attempt: OpenAttempt,
  finding: Finding,
  effectOf: EffectOf,
): Promise<void> {
  switch (finding.kind) {
    case 'output': {
      const { output } = finding;
      await endAttempt(db, attempt, { status: 'succeeded', output, validated: finding.validated });
      const rejection = objection(attempt.role, output);
      if (rejection === undefined) return;
      // The judge was sent back while it was under way. It will be asked again, and its objection is passed on.
      return attempt.subtaskStatus === 'running'
        ? review(db, project, attempt, rejection)
        : passOn(db, { ...attempt, feedback: rejection });
    }
    case 'invalid':
      await endAttempt(db, attempt, { status: 'failed', ...finding, validated: false });
      return retryOrFail(db, project, attempt, { error: finding.error, reason: 'schema_repair', effectOf });
    case 'error':
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      return retryOrFail(db, project, attempt, { error: finding.error, reason: 'auto_retry', effectOf });
    case 'stopped':
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      return fail(db, project, attempt, finding.error);
    case 'budget_breach': {
      // Nothing was spent, so the step waits unchanged for a larger budget.
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      await pend(db, attempt, 'auto_retry', -1);
      const payload = { ...names(attempt), error: finding.error };
      const limits = await limitsThatStopped(db, attempt);
      const breach = { topic: BUDGET_BREACH.topic, ...about(attempt), payload: { ...payload, ...limits } } as const;
      await db.rows(sql`
        with kept as (${keepStop(attempt.subtaskId, attempt.runId, limits)}) ${insertEvents(project, [breach])}`);
      if (await isOldNews(db, attempt)) return;
      return pauseLocked(db, project, BUDGET_BREACH.pauseReason, payload);
    }
    case 'crash':
      // Nobody is left to end the attempt's run, which would look at work for ever.
      if (attempt.runId) await endRun(db, attempt.runId, { status: 'failed', error: DIED });
      await judgeCrash(db, project, attempt.id, effectOf);
      return;
    case 'unknown':
      await recordCrash(db, project, attempt.id, 'irreversible');
  }
}

/**
 * Says whether the project was resumed after the attempt stopped; the next attempt then tells whether the budget is
 * larger.
 */
async function isOldNews(db: Database, { id }: OpenAttempt): Promise<boolean> {
  const rows = await db.rows(sql`
    select 1 from attempts a join runs r on r.id = a.child_run_id join project_events e on e.project_id = a.project_id
    where a.id = ${id}::uuid and e.topic = 'project_started' and e.ts > r.completed_at limit 1`);
  return rows.length > 0;
}

const DIED = { code: 'internal_error', message: 'its workflow ended without an outcome' } as const;

/** Sends the work of the producer back, because a reviewer or tester turned it down. */
async function review(db: Database, project: LockedProject, attempt: OpenAttempt, feedback: string): Promise<void> {
  await noteProjectEvents(db, project, [
    {
      topic: 'review_feedback_recorded',
      ...about(attempt),
      actor: { kind: ATTEMPT_KINDS[attempt.kind].actorKind, id: attempt.assignee },
      payload: { ...names(attempt), role: attempt.role, feedback: feedback.slice(0, 2_000).toWellFormed() },
    },
  ]);
  const producer = await sendBack(db, { ...attempt, feedback, reason: 'review_failure' });
  if (!producer) return fail(db, project, attempt, `rejected, and no step before it can do better: ${feedback}`);
  if (producer.attemptsUsed < producer.maxAttempts) return;
  await fail(
    db,
    project,
    { ...attempt, ...producer },
    `rejected by ${attempt.stepSlug} after ${producer.attemptsUsed} attempts: ${feedback}`,
  );
}

async function retryOrFail(
  db: Database,
  project: LockedProject,
  attempt: OpenAttempt,
  { error, reason, effectOf }: { error: string; reason: AttemptReason; effectOf: EffectOf },
): Promise<void> {
  const isOnce = ATTEMPT_KINDS[attempt.kind].isOnce(attempt.assignee, effectOf);
  if (isOnce || attempt.attemptsUsed >= attempt.maxAttempts) return fail(db, project, attempt, error);
  await pend(db, attempt, reason, 0);
  await noteProjectEvents(db, project, [
    {
      topic: 'subtask_retry_queued',
      ...about(attempt),
      payload: { ...names(attempt), reason, error: error.slice(0, 2_000).toWellFormed() },
    },
  ]);
}

const pend = (db: Database, { subtaskId }: OpenAttempt, reason: AttemptReason, more: number) =>
  db.rows(sql`
    update subtasks set status = 'pending', next_reason = ${reason}::attempt_reason,
      attempts_used = greatest(attempts_used + ${more}, 0)
    where id = ${subtaskId}::uuid`);

type Failing = Pick<OpenAttempt, 'taskId' | 'subtaskId' | 'number' | 'phaseSlug' | 'stepSlug' | 'attemptsUsed'>;

/** Leaves the step to a person, because no attempt is left. */
async function fail(db: Database, project: LockedProject, step: Failing, error: string): Promise<void> {
  await db.rows(sql`
    update subtasks set status = 'failed', error = ${error}, completed_at = now() where id = ${step.subtaskId}::uuid`);
  const payload = { ...names(step), error: error.slice(0, 2_000).toWellFormed() };
  await noteProjectEvents(db, project, [{ topic: 'subtask_failed', ...about(step), payload }]);
  await pauseLocked(db, project, 'subtask_failed', payload);
}

const about = ({ taskId, subtaskId, number }: Failing) => ({ taskId, subtaskId, attemptNumber: number });
const names = ({ phaseSlug, stepSlug, attemptsUsed }: Failing) => ({
  phase_slug: phaseSlug,
  step_slug: stepSlug,
  attempts_used: attemptsUsed,
});

interface AttemptEnd {
  status: 'succeeded' | 'failed';
  output?: unknown;
  validated?: boolean | null;
  error?: string;
}
const endAttempt = (db: Database, attempt: OpenAttempt, end: AttemptEnd) => db.rows(setAttemptEnd(attempt, end));

const setAttemptEnd = ({ id }: OpenAttempt, end: AttemptEnd): SQL => sql`
    update attempts set status = ${end.status}::attempt_status, completed_at = now(), error = ${end.error ?? null},
      output = coalesce(${end.output === undefined ? null : JSON.stringify(end.output)}::jsonb, output),
      output_validated = ${end.validated ?? null}
    where id = ${id}::uuid`;
