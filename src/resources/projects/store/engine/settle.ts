/**
 * How an attempt ends in the record, and what that means for its step: done, once more, or left to a person. Decided
 * here, under the project's lock, from what the run or the action left behind.
 */
import { sql, type SQL } from 'drizzle-orm';
import { checkValue } from '../../../../platform/core/json-schema.ts';
import type { Database } from '../../../../platform/db/client.ts';
import type { RunStatus } from '../../../runs/model.ts';
import { isJudge, type JsonSchema, type Role, type StepKind } from '../../../templates/model.ts';
import type { AttemptFault, AttemptOutcome, AttemptReason, AttemptStatus, PhaseRef, TaskStatus } from '../../model.ts';
import { judgeCrash, type EffectOf } from '../commands/crashes.ts';
import { insertEvents, lockProject, noteProjectEvents, pauseLocked, type LockedProject } from '../record.ts';
import { isOvertaken, listSteps, setTaskStatus, updateTaskStatus } from './open.ts';
import { sendBack } from './send-back.ts';

interface OpenAttempt {
  id: string;
  subtaskId: string;
  taskId: string;
  number: number;
  reason: AttemptReason;
  status: AttemptStatus;
  output: unknown;
  kind: StepKind;
  role: Role;
  stepSlug: string;
  phaseSlug: string;
  assignee: string;
  iteration: number;
  taskStatus: TaskStatus;
  subtaskStatus: TaskStatus;
  outputSchema: JsonSchema | null;
  artifactSchema: JsonSchema | null;
  attemptsUsed: number;
  maxAttempts: number;
  costUsd: string;
  runStatus: RunStatus | null;
  runOutput: string | null;
  runError: string | null;
}

/** What came of the work, before it is known what follows from that. */
type Finding =
  | { kind: 'output'; output: unknown; validated: boolean | null }
  | { kind: 'invalid'; output: unknown; error: string }
  | { kind: 'error'; error: string }
  | { kind: 'budget'; error: string }
  | { kind: 'stopped'; error: string }
  | { kind: 'crash' };

export async function settleAttempt(
  db: Database,
  ref: PhaseRef,
  attemptId: string,
  fault: AttemptFault | undefined,
  effectOf: EffectOf,
): Promise<AttemptOutcome> {
  return db.transaction(async () => {
    const project = await lockProject(db, ref.projectId);
    const attempt = await loadAttempt(db, attemptId);
    if (!attempt || isOvertaken(project, { iteration: attempt.iteration, status: attempt.taskStatus }, ref)) {
      return { kind: 'superseded' };
    }
    // A repeat: what was decided stands in the rows.
    if (attempt.status !== 'running') return outcomeOf(db, attempt);
    const finding = findingOf(attempt, fault);
    if (finding.kind === 'output' && attempt.subtaskStatus === 'running') {
      const rejection = objection(attempt.role, finding.output);
      if (rejection === undefined) return succeed(db, project, attempt, finding);
    }
    await follow(db, project, attempt, finding, effectOf);
    await updateTaskStatus(db, attempt.taskId);
    return outcomeOf(db, (await loadAttempt(db, attemptId))!);
  });
}

async function outcomeOf(db: Database, { subtaskStatus, taskId }: OpenAttempt): Promise<AttemptOutcome> {
  // Whatever is pending now: a rejected piece of work takes the steps after it along.
  const steps = await listSteps(db, taskId);
  if (steps.some(({ status }) => status === 'failed')) return { kind: 'failed' };
  const reset = steps.filter(({ status }) => status === 'pending').map(({ subtaskId }) => subtaskId);
  return subtaskStatus === 'succeeded' ? { kind: 'succeeded' } : { kind: 'again', reset };
}

function findingOf(attempt: OpenAttempt, fault: AttemptFault | undefined): Finding {
  if (fault?.kind === 'timeout') return { kind: 'error', error: fault.message };
  if (fault?.kind === 'cancelled') return { kind: 'stopped', error: fault.message };
  if (attempt.kind === 'action') {
    if (fault?.kind === 'failed') return { kind: 'error', error: fault.message };
    if (fault || attempt.output === null) return { kind: 'crash' };
    return validated(attempt, attempt.output);
  }
  const { runStatus, runOutput, runError } = attempt;
  switch (runStatus) {
    case 'succeeded':
      return validated(attempt, runOutput ?? '');
    case 'failed': {
      const error = runError ?? 'the run failed';
      return error.startsWith('budget_exceeded') ? { kind: 'budget', error } : { kind: 'error', error };
    }
    case 'cancelled':
      return { kind: 'stopped', error: 'its run was cancelled' };
    default:
      return { kind: 'crash' };
  }
}

/** Models like to wrap what they were asked for. */
const FENCED = /^\s*```[a-z]*\n([^]*?)\n```\s*$/i;

function validated(attempt: OpenAttempt, raw: unknown): Finding {
  const schemas = [attempt.outputSchema, attempt.artifactSchema].filter((schema) => schema !== null);
  if (schemas.length === 0) return { kind: 'output', output: raw, validated: null };
  let value = raw;
  if (attempt.kind === 'agent') {
    const text = raw as string;
    try {
      value = JSON.parse(FENCED.exec(text)?.[1] ?? text) as unknown;
    } catch {
      return { kind: 'invalid', output: raw, error: 'the output is not JSON, which its schema asks for' };
    }
  }
  for (const schema of schemas) {
    const fault = checkValue(schema, value, 'output');
    if (fault) return { kind: 'invalid', output: value, error: fault };
  }
  return { kind: 'output', output: value, validated: true };
}

/** The verdict of a reviewer or tester, whatever its own schema calls it. */
function objection(role: Role, output: unknown): string | undefined {
  if (!isJudge(role) || typeof output !== 'object' || output === null) return undefined;
  const { decision, approved, passed, feedback, findings } = output as Record<string, unknown>;
  const isFine = typeof decision === 'string' ? /^approv/i.test(decision) : (approved ?? passed) !== false;
  if (isFine) return undefined;
  if (typeof feedback === 'string' && feedback.trim() !== '') return feedback;
  return Array.isArray(findings) && findings.length > 0 ? findings.join('\n') : 'Rejected without a reason.';
}

/** What nearly every attempt comes to: one statement. */
async function succeed(
  db: Database,
  project: LockedProject,
  attempt: OpenAttempt,
  { output, validated }: Extract<Finding, { kind: 'output' }>,
): Promise<AttemptOutcome> {
  const { subtaskId, taskId, costUsd } = attempt;
  const payload = { ...names(attempt), cost_usd: costUsd };
  await db.rows(sql`
    with attempt as (${setAttemptEnd(attempt, { status: 'succeeded', output, validated })}), subtask as (
      update subtasks set status = 'succeeded', completed_at = now(), error = null, addendum = null
      where id = ${subtaskId}::uuid
    ), task as (${setTaskStatus(taskId, { subtaskId, to: 'succeeded' })})
    ${insertEvents(project, [{ topic: 'subtask_succeeded', ...about(attempt), payload }])}`);
  return { kind: 'succeeded' };
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
      // Sent back while it was under way: it will be asked again, and what it objects to is passed on.
      return attempt.subtaskStatus === 'running'
        ? review(db, project, attempt, rejection)
        : passOn(db, attempt, rejection);
    }
    case 'invalid':
      await endAttempt(db, attempt, { status: 'failed', ...finding, validated: false });
      return retryOrFail(db, project, attempt, finding.error, 'schema_repair');
    case 'error':
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      return retryOrFail(db, project, attempt, finding.error, 'auto_retry');
    case 'stopped':
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      return fail(db, project, attempt, finding.error);
    case 'budget':
      // Nothing was spent: the step waits as it is for a larger budget.
      await endAttempt(db, attempt, { status: 'failed', error: finding.error });
      await pend(db, attempt, 'auto_retry', -1);
      await noteProjectEvents(db, project, [
        { topic: 'cost_budget_breached', ...about(attempt), payload: { ...names(attempt), error: finding.error } },
      ]);
      return pauseLocked(db, project, 'budget_breached', { ...names(attempt), error: finding.error });
    case 'crash':
      await judgeCrash(db, project, attempt.id, effectOf);
  }
}

/** Another judge was faster: its producer is pending already, and is told this too. */
const passOn = (db: Database, { taskId }: OpenAttempt, feedback: string): Promise<void> =>
  db
    .rows(
      sql`
    update subtasks set feedback = feedback || ${feedback}::text
    where task_id = ${taskId}::uuid and status = 'pending' and next_reason = 'review_failure'
      and role in ('producer', 'assembler')`,
    )
    .then(() => {});

/** A reviewer or tester turned down the work of the producer before it. */
async function review(db: Database, project: LockedProject, attempt: OpenAttempt, feedback: string): Promise<void> {
  await noteProjectEvents(db, project, [
    {
      topic: 'review_feedback_recorded',
      ...about(attempt),
      actor: { kind: attempt.kind === 'agent' ? 'agent' : 'action', id: attempt.assignee },
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
  error: string,
  reason: AttemptReason,
): Promise<void> {
  if (attempt.attemptsUsed >= attempt.maxAttempts) return fail(db, project, attempt, error);
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

/** No attempt is left: a person has to look. */
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

async function loadAttempt(db: Database, attemptId: string): Promise<OpenAttempt | undefined> {
  const [row] = await db.rows<OpenAttempt>(sql`
    select a.id, a.subtask_id as "subtaskId", a.task_id as "taskId", a.attempt_number as number,
      a.attempt_reason as reason, a.status, a.output, s.kind, s.role, s.step_slug as "stepSlug", s.assignee,
      t.phase_slug as "phaseSlug", t.iteration, t.status as "taskStatus", s.status as "subtaskStatus",
      s.output_schema as "outputSchema", s.attempts_used as "attemptsUsed", s.max_attempts as "maxAttempts",
      case when t.artifact_step_slug = s.step_slug and t.artifact_json_schema is distinct from s.output_schema
        then t.artifact_json_schema end as "artifactSchema",
      a.cost_usd::text as "costUsd", r.status as "runStatus", r.output as "runOutput", r.error as "runError"
    from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
      left join runs r on r.id = a.child_run_id
    where a.id = ${attemptId}::uuid`);
  return row;
}
