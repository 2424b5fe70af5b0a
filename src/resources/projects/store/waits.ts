/**
 * Settles waits of projects. Triggers open and close the rows of waits. An answer settles its wait in the very
 * statement that carries the answer out, and is refused where the wait has changed since the answerer saw it.
 */
import { sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../../platform/core/problem.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import type { Actor, Seen, Way } from '../model.ts';
import { lockProject, noteProjectEvents, type LockedProject } from './record.ts';

export interface WaitAnswer {
  answer: string;
  by: string;
  via: Way;
  comment?: string | null;
}

/**
 * Settles the wait of a subtask or a project, as a part of the statement that ends the waiting. Where no wait is open
 * it does nothing.
 */
export const settleWait = (
  subject: string,
  { id, customerId }: Pick<LockedProject, 'id' | 'customerId'>,
  { answer, by, via, comment = null }: WaitAnswer,
): SQL => sql`
  update waits set settled_at = now(), answer = ${answer}, settled_by = ${by}, settled_via = ${via}::way_of_answer,
    comment = ${comment}
  where subject = ${subject} and project_id = ${id} and customer_id = ${customerId} and settled_at is null`;

export const nameOf = ({ id, kind }: Actor): string => id ?? kind;

/** An answered wait has a person who answered and a time. A wait that is over without an answer may have neither. */
type SeenRow = {
  revision: number;
  isSettled: boolean;
  comment: string | null;
  openId: string | null;
  openRevision: number | null;
} & (
  | { answer: string; by: string; at: string; via: Way }
  | { answer: null; by: string | null; at: string | null; via: Way | null }
);

/**
 * @param subject is the subtask, or the project, that the answer is for
 * @throws Problem not_found, already_answered, changed_since where the subject does not wait, or is not what the
 * answerer saw
 */
export async function requireSeen(
  db: Database,
  { id, customerId }: LockedProject,
  subject: string,
  seen: Seen | undefined,
): Promise<void> {
  if (!seen) return;
  const [row] = await db.rows<SeenRow>(sql`
    select w.revision, w.settled_at is not null as "isSettled", w.answer, w.settled_by as by,
      to_char(w.settled_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, w.settled_via as via, w.comment,
      now_open.id as "openId", now_open.revision as "openRevision"
    from waits w left join waits now_open
      on now_open.subject = w.subject and now_open.customer_id = w.customer_id and now_open.settled_at is null
    where w.id = ${seen.waitId}::uuid and w.subject = ${subject} and w.project_id = ${id}
      and w.customer_id = ${customerId}`);
  const wait = found(row);
  if (wait.isSettled && wait.answer !== null) throw alreadyAnswered(wait);
  if (wait.isSettled || wait.revision !== seen.revision) throw changedSince(wait.openId, wait.openRevision);
}

interface EarlierAnswer extends Required<WaitAnswer> {
  /** A time in ISO 8601. */
  at: string;
}

export const alreadyAnswered = ({ answer, by, via, at, comment }: EarlierAnswer): Problem =>
  new Problem('already_answered', {
    code: 'already_answered',
    message: `answered already: ${answer}, by ${by}`,
    answer,
    answered_by: by,
    answered_at: at,
    answered_via: via,
    comment,
  });

export const changedSince = (waitId: string | null, revision: number | null): Problem =>
  new Problem('changed_since', {
    code: 'changed_since',
    message:
      waitId === null
        ? 'nothing waits for this answer any more: what it was about moved on'
        : `what this is about has changed: look at revision ${revision} before you answer`,
    wait_id: waitId,
    revision,
  });

export interface Reminder {
  customerId: string;
  waitId: string;
  projectId: string | null;
  /** An e-mail address, or `api-key:<id>`. */
  by: string;
  /** Since the last one that somebody asked for. */
  atLeastMs: number;
}

interface Reminded {
  nth: number;
  subtaskId: string | null;
  taskId: string | null;
}

/** @returns which reminder it is, counted from one; undefined of one that waits no more, or was reminded of a moment ago */
export const remindOfWait = (
  db: Database,
  { customerId, waitId, projectId, by, atLeastMs }: Reminder,
): Promise<number | undefined> =>
  db.transaction(async () => {
    // First, as everything does that answers it.
    const project = projectId === null ? undefined : await lockProject(db, projectId);
    const [wait] = await db.rows<Reminded>(sql`
      update waits w set reminders_by_hand = reminders_by_hand + 1, reminded_at = now()
      where w.id = ${waitId}::uuid and w.customer_id = ${customerId} and w.settled_at is null
        and (w.expires_at is null or w.expires_at > now())
        and (w.reminded_at is null or w.reminded_at <= now() - ${atLeastMs} * interval '1 ms')
      returning w.reminders + w.reminders_by_hand as nth, w.subtask_id as "subtaskId", (
        select s.task_id from subtasks s where s.id = w.subtask_id and s.customer_id = ${customerId}) as "taskId"`);
    if (!wait) return undefined;
    const { nth, taskId, subtaskId } = wait;
    if (project) {
      const about = subtaskId
        ? { topic: 'gate_reminded' as const, taskId, subtaskId }
        : { topic: 'project_reminded' as const };
      const actor = { kind: 'human' as const, id: by };
      await noteProjectEvents(db, project, [{ ...about, actor, payload: { nth, by_hand: true } }]);
    }
    return nth;
  });
