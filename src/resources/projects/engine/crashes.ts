/**
 * Decides on attempts that died without an outcome. What may be repeated is, once; what dies again, or may have had an
 * effect that must not happen twice, is left to a person.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { Effect } from '../../runs/model.ts';
import type { AttemptedKind } from '../../templates/model.ts';
import { MAX_CRASHES, type EffectOf } from '../model.ts';
import type { Topic } from '../feed/model.ts';
import { ATTEMPT_KINDS } from './attempt-kinds.ts';
import { noteProjectEvents, pauseLocked, type LockedProject } from '../store/record.ts';

/** `again` means that the step is pending, `failed` that the project is paused for a person. */
export type CrashVerdict = 'again' | 'failed';

/** @returns the effect that this attempt may have had before it died, and that another attempt would have once more */
export async function effectOfAttempt(db: Database, attemptId: string, effectOf: EffectOf): Promise<Effect> {
  const [row] = await db.rows<{ kind: AttemptedKind; assignee: string; hasCalled: boolean }>(sql`
    with recursive working(id) as (
      select child_run_id from attempts where id = ${attemptId}::uuid and child_run_id is not null
      union
      select r.id from runs r join working w on r.parent_run_id = w.id
    )
    select s.kind, s.assignee, exists (
      select 1 from run_tool_calls c join working w on w.id = c.run_id
      where c.status in ('pending', 'succeeded') and c.effect = 'irreversible') as "hasCalled"
    from attempts a join subtasks s on s.id = a.subtask_id where a.id = ${attemptId}::uuid`);
  return row ? ATTEMPT_KINDS[row.kind].effectOfDeath(row, effectOf) : 'idempotent';
}

/** Records that an attempt died. Repeating it changes nothing. */
export async function recordCrash(
  db: Database,
  project: LockedProject,
  attemptId: string,
  effect: Effect,
): Promise<CrashVerdict> {
  const isUnknown = effect === 'irreversible';
  const [died] = await db.rows<{ taskId: string; subtaskId: string; attemptNumber: number; verdict: CrashVerdict }>(sql`
    with dead as (
      update attempts set status = 'failed', is_crashed = true, error = 'died without an outcome', completed_at = now()
      where id = ${attemptId}::uuid and status = 'running' returning subtask_id, attempt_number
    ), judged as (
      select s.id, d.attempt_number, ${isUnknown}::boolean or s.crashes + 1 >= ${MAX_CRASHES}::int as is_over
      from dead d join subtasks s on s.id = d.subtask_id
      -- One that was sent back while it was under way is pending already, for a better reason.
      where s.status = 'running' or ${isUnknown}::boolean
    )
    update subtasks s set
      status = (case when j.is_over then 'failed' else 'pending' end)::task_status,
      crashes = s.crashes + ${isUnknown ? 0 : 1}::int,
      is_outcome_unknown = ${isUnknown}::boolean,
      next_reason = (case when j.is_over then null else 'crash_recovery' end)::attempt_reason,
      error = case when j.is_over then ${isUnknown ? UNKNOWN : REPEATED}::text end,
      completed_at = case when j.is_over then now() end
    from judged j where s.id = j.id
    returning s.task_id as "taskId", s.id as "subtaskId", j.attempt_number as "attemptNumber",
      case when j.is_over then 'failed' else 'again' end as verdict`);
  if (!died) return earlierVerdict(db, attemptId);
  const { verdict, ...about } = died;
  const topic: Topic = isUnknown
    ? 'nonidempotent_crash_paused'
    : verdict === 'failed'
      ? 'repeat_crash_pause'
      : 'crash_recovered';
  await noteProjectEvents(db, project, [{ topic, ...about, payload: { effect } }]);
  if (verdict === 'failed') {
    const reason = isUnknown ? 'nonidempotent_crash' : 'repeat_crash';
    await pauseLocked(db, project, reason, { subtask_id: about.subtaskId });
  }
  return verdict;
}

const UNKNOWN =
  'it died after it had begun what must not be done twice: look whether that was done before you have the step tried again';
const REPEATED = `it died ${MAX_CRASHES} times without an outcome`;

/** Finds out the effect of an attempt that the engine saw die, and records its death. */
export const judgeCrash = async (
  db: Database,
  project: LockedProject,
  attemptId: string,
  effectOf: EffectOf,
): Promise<CrashVerdict> => recordCrash(db, project, attemptId, await effectOfAttempt(db, attemptId, effectOf));

async function earlierVerdict(db: Database, attemptId: string): Promise<CrashVerdict> {
  const [row] = await db.rows<{ isFailed: boolean }>(sql`
    select s.status = 'failed' as "isFailed" from attempts a join subtasks s on s.id = a.subtask_id
    where a.id = ${attemptId}::uuid`);
  return row?.isFailed ? 'failed' : 'again';
}
