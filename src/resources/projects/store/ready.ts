/**
 * When something may begin, by the record. Statements that begin a step or open a phase ask here, and so do those that
 * look for what nobody has begun.
 */
import { sql, type SQL } from 'drizzle-orm';
import { DONE } from './statuses.ts';

/** Whether every phase before a task `t` is done. */
export const PHASES_BEFORE_ARE_DONE = sql`not exists (
  select 1 from tasks u
  where u.project_id = t.project_id and u.phase_slug = any(t.depends_on) and u.status not in ${DONE})`;

/**
 * Whether every step before a step `s` of a task `t` is done, and no step of the task has failed.
 * @param doneId is a step that counts as done, as it succeeds in the same statement
 */
export const stepsBeforeAreDone = (doneId?: string): SQL => sql`not exists (
  select 1 from subtasks u
  where u.task_id = t.id and (u.status = 'failed' or u.step_slug = any(s.depends_on) and u.status not in ${DONE}
    ${doneId === undefined ? sql`` : sql`and u.id <> ${doneId}::uuid`}))`;
