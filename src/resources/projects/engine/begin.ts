/**
 * Records how a step begins. The write has conditions: the project is active (or this one step was granted), this start
 * of the phase is the latest, the step is pending, and every step that it depends on is done. They are read under the
 * project's lock, whatever the workflow believed when it asked. Pausing therefore needs no agreement: from the moment
 * the project's row says so, nothing more begins. Neither does sending work back.
 */
import { capsOfCaller } from '../../cost/caps/model.ts';
import { sql, type SQL } from 'drizzle-orm';
import { newRunId, newUuid } from '../../../platform/core/ids.ts';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { stepRunCtes } from '../../runs/store/accept.ts';
import {
  SYSTEM,
  type AttemptBeginning,
  type AttemptReason,
  type Consumed,
  type EffectOf,
  type PhaseRef,
} from '../model.ts';
import { stepPrompt, type StepContext } from '../prompt.ts';
import { insertEvents, lockProject, pausedAnswer, type LockedProject, type NewProjectEvent } from '../store/record.ts';
import type { AttemptedKind } from '../../templates/model.ts';
import { ATTEMPT_KINDS } from './attempt-kinds.ts';
import { holdBehindGates } from '../decisions/approvals.ts';
import { APPROVALS_BEFORE, GATES_BEFORE } from './consumed.ts';
import { openGate } from './open-gate.ts';
import { isOvertaken, setTaskStatus } from './open.ts';
import { stepsBeforeAreDone } from '../store/ready.ts';
import type { StepRow } from './step-row.ts';

/** A step that is to begin. */
export interface Next {
  subtaskId: string;
  /** Names this beginning within its subtask, so that a repeated activity finds what it began. */
  key: string;
}

export interface AttemptRequest extends PhaseRef, Next {
  /** The step may run although the project is paused. */
  granted: boolean;
}

/** For these reasons the earlier output is shown again: it is to be improved, not made anew. */
const IMPROVES: readonly AttemptReason[] = ['review_failure', 'manual_rework', 'schema_repair'];
/** Attempts for these reasons do not count against the step, because it was not at fault. */
const IS_FREE: readonly AttemptReason[] = ['crash_recovery'];

/** @throws Problem not_found when the project is gone */
export const beginAttempt = (db: Database, request: AttemptRequest, effectOf: EffectOf): Promise<AttemptBeginning> =>
  db.transaction(async () => beginLocked(db, await lockProject(db, request.projectId), request, effectOf));

/** Does the same in a transaction that holds the project already. */
async function beginLocked(
  db: Database,
  project: LockedProject,
  request: AttemptRequest,
  effectOf: EffectOf,
): Promise<AttemptBeginning> {
  const [step] = await loadSteps(db, request, [request]);
  return beginStep(db, project, step, request, effectOf);
}

/** Does the same with a step that was loaded in that transaction. */
export async function beginStep(
  db: Database,
  project: LockedProject,
  step: StepRow | undefined,
  request: AttemptRequest,
  effectOf: EffectOf,
): Promise<AttemptBeginning> {
  if (!step || isOvertaken(project, { iteration: step.iteration, status: step.taskStatus }, request)) {
    return { kind: 'superseded' };
  }
  const { kind } = step;
  if (kind === 'gate' && step.status === 'blocked') return openGate(db, project, step);
  if (!step.begun) {
    if (step.status !== 'pending') return { kind: 'not_yet' };
    if (project.status === 'paused' && !request.granted) return pausedAnswer(project);
    if (!step.isReady) return { kind: 'not_yet' };
    const held = await holdBehindGates(db, project, step);
    if (held) return held;
  }
  if (kind === 'gate') return openGate(db, project, step);
  const ids = step.begun ?? (await insertAttempt(db, project, { ...step, kind }, request.key));
  const timeoutMs = step.timeoutS === null ? null : step.timeoutS * 1_000;
  return ATTEMPT_KINDS[kind].begin({ assignee: present(step.assignee), timeoutMs }, ids, effectOf);
}

type AttemptedStep = StepRow & { kind: AttemptedKind };

async function insertAttempt(db: Database, project: LockedProject, step: AttemptedStep, key: string) {
  const { actorKind, hasRun } = ATTEMPT_KINDS[step.kind];
  const { queued, subtaskId, taskId } = step;
  const attemptId = queued?.attemptId ?? newUuid();
  const attemptNumber = queued?.number ?? step.lastNumber + 1;
  const reason = queued?.reason ?? step.nextReason ?? step.taskReason;
  const runId = hasRun ? newRunId() : null;
  const run = runId && {
    id: runId,
    customerId: project.customerId,
    agent: present(step.assignee),
    attemptId,
    prompt: stepPrompt(contextOf(project, step, reason)),
    budgetIds: [
      `project:${project.id}`,
      `task:${taskId}`,
      ...capsOfCaller(project.customerId, project.startedBy ?? ''),
    ],
    step: {
      projectId: project.id,
      tools: step.tools,
      skills: step.skills,
      ...(step.outputSchema && { outputSchema: step.outputSchema }),
      ...(step.effort && { effort: step.effort }),
      ...(step.isSample && { isSample: true as const }),
    },
  };
  const payload = { phase_slug: step.phaseSlug, step_slug: step.stepSlug, role: step.role, reason };
  const about = { taskId, subtaskId, attemptNumber };
  const events: NewProjectEvent[] = [
    ...(queued ? [{ topic: 'subtask_retry_triggered' as const, ...about, actor: queued.by ?? SYSTEM, payload }] : []),
    {
      topic: 'subtask_attempt_started',
      ...about,
      actor: { kind: actorKind, id: step.assignee },
      payload: { ...payload, ...(runId && { run_id: runId }) },
    },
  ];
  await db.rows(sql`
    with subtask as (
      update subtasks set status = 'running', started_at = now(), completed_at = null, error = null, next_reason = null,
        attempts_used = attempts_used + ${IS_FREE.includes(reason) ? 0 : 1}
      where id = ${subtaskId}::uuid returning id
    ), attempt as (
      insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, status,
        dispatch_key, child_run_id, consumed, started_at)
      select ${attemptId}::uuid, ${project.id}, ${taskId}::uuid, subtask.id, ${project.customerId}, ${attemptNumber},
        ${reason}::attempt_reason, 'running', ${key}, ${runId}, ${JSON.stringify(consumedBy(step))}::jsonb, now()
      from subtask
      on conflict (id) do update set status = 'running', dispatch_key = excluded.dispatch_key,
        child_run_id = excluded.child_run_id, consumed = excluded.consumed, started_at = excluded.started_at
      returning id
    )${run ? sql`, ${stepRunCtes(sql`attempt`, run)}` : sql``},
    task as (${setTaskStatus(taskId, { subtaskId, to: 'running' })})
    ${insertEvents(project, events)}`);
  return { attemptId, runId };
}

const consumedBy = ({ artifacts }: StepRow): Consumed =>
  Object.fromEntries(artifacts.map(({ phaseSlug, version, isStale }) => [phaseSlug, { version, isStale }]));

const contextOf = (project: LockedProject, step: StepRow, reason: AttemptReason): StepContext => ({
  project: { title: project.title, brief: step.brief, params: step.params },
  phase: { slug: step.phaseSlug, title: step.phaseTitle },
  step: {
    slug: step.stepSlug,
    title: step.title,
    role: step.role,
    instructions: step.instructions,
    outputSchema: step.outputSchema,
  },
  reason,
  addenda: [...step.taskAddenda, ...(step.addendum ? [step.addendum] : [])],
  feedback: step.feedback,
  previous: previousFor(step, reason),
  artifacts: step.artifacts,
  inputs: step.inputs,
  attachments: step.attachments,
});

function previousFor({ previous }: StepRow, reason: AttemptReason): StepContext['previous'] {
  if (!previous) return null;
  if (IMPROVES.includes(reason)) return { output: previous.output, error: previous.error };
  return reason === 'auto_retry' || reason === 'manual_retry' ? { output: null, error: previous.error } : null;
}

export const loadSteps = (db: Database, ref: Place, next: readonly Next[]): Promise<StepRow[]> =>
  db.rows<StepRow>(stepRows(ref, next));

type Place = Pick<PhaseRef, 'projectId' | 'taskId'>;

/**
 * Asks for steps of one phase, with the material of their prompts.
 * @param done is a step that succeeds in the same statement, which gives its output
 * @param attemptId of an attempt that has begun: the artifacts are those that it was given, whatever is current now
 */
export const stepRows = (
  { projectId, taskId }: Place,
  next: readonly Next[],
  { done, attemptId }: { done?: { subtaskId: string; output: SQL }; attemptId?: string } = {},
): SQL => {
  const given = sql`(select consumed from attempts where id = ${attemptId}::uuid)`;
  const isShown =
    attemptId === undefined
      ? sql`not a.superseded`
      : sql`case when ${given} is null then not a.superseded
          else a.version = (${given} -> u.phase_slug ->> 'version')::int end`;
  const isDone = done ? sql`(u.status = 'succeeded' or u.id = ${done.subtaskId}::uuid)` : sql`u.status = 'succeeded'`;
  const ofDone = done ? sql`when u.id = ${done.subtaskId}::uuid then ${done.output}` : sql``;
  return sql`
    with recursive wanted as (
      select w."subtaskId" as id, w.key
      from jsonb_to_recordset(${JSON.stringify(next.map(({ subtaskId, key }) => ({ subtaskId, key })))}::jsonb)
        as w("subtaskId" uuid, key text)
    ), upstream(of, slug) as (
      select s.id, unnest(s.depends_on) from subtasks s join wanted on wanted.id = s.id
      union
      -- What a gate or a judge let through is not theirs: the work is before them.
      select u.of, unnest(s.depends_on) from subtasks s join upstream u on s.step_slug = u.slug
      where s.task_id = ${taskId}::uuid and (s.kind = 'gate' or s.role in ('reviewer', 'tester'))
    )
    select s.id as "subtaskId", s.task_id as "taskId", s.step_slug as "stepSlug", s.title, s.kind, s.role, s.status,
      s.assignee, s.instructions, s.tools, s.skills, s.output_schema as "outputSchema", s.effort, s.timeout_s as "timeoutS",
      s.gate_kind as "gateKind", s.gate_config as "gateConfig",
      coalesce(extract(epoch from now() - s.started_at) * 1000, 0)::float8 as "elapsedMs",
      (extract(epoch from now()) * 1000)::float8 as "nowMs", s.feedback, s.addendum, s.next_reason as "nextReason",
      t.next_reason as "taskReason", t.addenda as "taskAddenda", t.phase_slug as "phaseSlug", t.title as "phaseTitle",
      t.iteration, t.status as "taskStatus", ${stepsBeforeAreDone(done?.subtaskId)} as "isReady", ${GATES_BEFORE} as gates,
      ${APPROVALS_BEFORE} as approvals, p.brief, p.params, p.is_sample as "isSample",
      (select jsonb_build_object('attemptId', a.id, 'runId', a.child_run_id) from attempts a
        where a.subtask_id = s.id and a.dispatch_key = wanted.key) as begun,
      (select jsonb_build_object('attemptId', a.id, 'number', a.attempt_number, 'reason', a.attempt_reason,
          'by', a.queued_by)
        from attempts a where a.subtask_id = s.id and a.status = 'pending') as queued,
      (select coalesce(max(a.attempt_number), 0)::int from attempts a where a.subtask_id = s.id) as "lastNumber",
      (select jsonb_build_object('output', a.output, 'error', a.error, 'status', a.status) from attempts a
        where a.subtask_id = s.id and a.status in ('succeeded', 'failed') order by a.attempt_number desc limit 1
      ) as previous,
      (select coalesce(jsonb_agg(jsonb_build_object('phaseSlug', a.phase_slug, 'version', a.version, 'isStale', u.status = 'stale',
          'content', a.content)
          order by u.position), '[]')
        from tasks u join artifacts a on a.task_id = u.id and ${isShown}
        where u.project_id = p.id and u.phase_slug = any(t.depends_on)) as artifacts,
      (select coalesce(jsonb_agg(jsonb_build_object('stepSlug', u.step_slug, 'title', u.title, 'output',
          case when u.kind = 'gate' then u.gate_output ${ofDone} else (
            select a.output from attempts a where a.subtask_id = u.id and a.status = 'succeeded'
            order by a.attempt_number desc limit 1) end) order by u.position), '[]')
        from subtasks u where u.task_id = t.id and u.step_slug in (select slug from upstream where of = s.id)
          and ${isDone}) as inputs,
      (select coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'filename', f.filename, 'contentType', f.content_type,
          'sizeBytes', f.size_bytes, 'reading', f.reading->>'summary') order by f.id), '[]')
        from attachments f
        where f.customer_id = p.customer_id and f.owner_kind = 'project' and f.owner_id = p.id) as attachments
    from wanted join subtasks s on s.id = wanted.id join tasks t on t.id = s.task_id join projects p on p.id = t.project_id
    where t.id = ${taskId}::uuid and p.id = ${projectId}`;
};

/**
 * Loads what an action works with: what there was when its attempt began, as an agent would have been shown it then. What
 * became current since was approved by nobody. It is open until its step is sent back, or has a result.
 */
export async function loadActionContext(db: Database, ref: PhaseRef & { subtaskId: string; attemptId: string }) {
  const [step] = await db.rows<StepRow>(
    stepRows(ref, [{ subtaskId: ref.subtaskId, key: '' }], { attemptId: ref.attemptId }),
  );
  const [row] = await db.rows<{ title: string; customerId: string; isOpen: boolean }>(sql`
    select p.title, p.customer_id as "customerId",
      a.status = 'running' and a.output is null and s.status = 'running' and not exists (
        select 1 from attempts later where later.subtask_id = s.id and later.attempt_number > a.attempt_number
      ) as "isOpen"
    from attempts a join subtasks s on s.id = a.subtask_id join projects p on p.id = a.project_id
    where a.id = ${ref.attemptId}::uuid`);
  return step && row ? { ...row, step } : undefined;
}

/** Saves a result, of which the first wins. */
export async function saveActionOutput(db: Database, attemptId: string, output: unknown): Promise<void> {
  await db.rows(sql`
    update attempts set output = ${JSON.stringify(output ?? null)}::jsonb
    where id = ${attemptId}::uuid and status = 'running' and output is null`);
}
