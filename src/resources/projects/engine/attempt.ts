/** Loads an attempt that is about to end, with everything by which its end is decided. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { RunStatus } from '../../runs/model.ts';
import type { AttemptedKind, JsonSchema, StepRole } from '../../templates/model.ts';
import type { AttemptReason, AttemptStatus, PhaseRef, TaskStatus } from '../model.ts';
import { endingOf, type EndingTask } from './close.ts';

export interface OpenAttempt {
  id: string;
  subtaskId: string;
  taskId: string;
  number: number;
  reason: AttemptReason;
  status: AttemptStatus;
  output: unknown;
  kind: AttemptedKind;
  role: StepRole;
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
  runId: string | null;
  runStatus: RunStatus | null;
  runOutput: string | null;
  runError: string | null;
  runErrorCode: string | null;
  /** Set where it was asked for. */
  ending: EndingTask | null;
}

/** @param endOf names a phase by whose end it is asked for too, as if the attempt had succeeded */
export async function loadAttempt(db: Database, attemptId: string, endOf?: PhaseRef): Promise<OpenAttempt | undefined> {
  const ending = endOf ? sql`(select to_jsonb(e) from (${endingOf(endOf, attemptId)}) e)` : sql`null::jsonb`;
  const [row] = await db.rows<OpenAttempt>(sql`
    select a.id, a.subtask_id as "subtaskId", a.task_id as "taskId", a.attempt_number as number,
      a.attempt_reason as reason, a.status, a.output, s.kind, s.role, s.step_slug as "stepSlug", s.assignee,
      t.phase_slug as "phaseSlug", t.iteration, t.status as "taskStatus", s.status as "subtaskStatus",
      s.output_schema as "outputSchema", s.attempts_used as "attemptsUsed", s.max_attempts as "maxAttempts",
      case when t.artifact_step_slug = s.step_slug and t.artifact_json_schema is distinct from s.output_schema
        then t.artifact_json_schema end as "artifactSchema",
      trim_scale(a.cost_usd)::text as "costUsd", r.id as "runId", r.status as "runStatus", r.output as "runOutput", r.error as "runError",
      r.error_code as "runErrorCode",
      ${ending} as ending
    from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
      left join runs r on r.id = a.child_run_id
    where a.id = ${attemptId}::uuid`);
  return row;
}
