/** Queries on the table of waits. Triggers write its rows, and so does whoever answers what a wait is about. */
import { sql, type SQL } from 'drizzle-orm';
import { isService } from '../../platform/core/actor.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Database } from '../../platform/db/client.ts';
import type { InboxQuery, WaitRow } from './contract.ts';
import { isLastResort } from '../projects/store/answerers.ts';
import { policyIn } from '../templates/gates/model.ts';
import { answersTo, type WaitKind } from './model.ts';

export type InboxStore = ReturnType<typeof createInboxStore>;

/**
 * A page is not closed at the moment when its time is over, so its wait has that moment and is open only until then.
 */
const IS_OPEN = sql`(w.settled_at is null and (w.expires_at is null or w.expires_at > now()))`;
const IS_OVERDUE = sql`(w.settled_at is null and coalesce(w.due_at <= now(), false))`;
const TITLE_LENGTH = sql.raw('200');

/** One line: what a person was asked, otherwise the name of what waits. */
const TITLE = sql`left(split_part(btrim(coalesce(
    case when w.kind = 'lost_effect' then 'Did the call of ' || c.tool || ' take effect?' end,
    s.gate_config ->> 'prompt', c.arguments ->> 'question', s.title, p.title, w.subject)), E'\n', 1), ${TITLE_LENGTH})`;

/** Tells whether an answer of the caller would count. */
const isForCaller = ({ customerId, actor, mayChange }: Reader): SQL => sql`
  ${mayChange} and (${!isService(actor)} or keys_may_answer(s.gate_config))
  and (seat_at(w.id, ${customerId}, s.gate_config, w.escalated_at is not null, ${actor}) is not null
    or (s.gate_kind = 'human' and ${isLastResort(actor)}))`;

const APPROVALS = sql`
  approvals_of(w.id, w.customer_id, w.revision, s.gate_config, w.escalated_at is not null)`;

const columns = (reader: Reader): SQL => sql`
  w.id, w.subject, w.kind, case when ${IS_OPEN} then 'open' else 'settled' end as status, w.revision, ${TITLE} as title,
  w.project_id, p.title as project_title, p.workflow_slug, t.id as task_id, t.phase_slug, w.subtask_id, s.step_slug,
  s.gate_kind, s.gate_config, ${isForCaller(reader)} as may_answer, ${APPROVALS} as approvals,
  w.reminders + w.reminders_by_hand as reminders, w.escalated_at,
  case when w.kind = 'paused' then p.pause_reason end as pause_reason, w.run_id, r.agent, w.opened_at,
  w.due_at, ${IS_OVERDUE} as overdue, w.expires_at,
  case when not ${IS_OPEN} then coalesce(w.settled_at, w.expires_at) end as settled_at, w.settled_by, w.settled_via,
  w.answer, w.comment`;

/** Each source is joined by the workspace too, so that whatever a row names is the workspace's own. */
const SOURCES = sql`
  waits w
  left join projects p on p.id = w.project_id and p.customer_id = w.customer_id
  left join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
  left join tasks t on t.id = s.task_id and t.customer_id = w.customer_id
  left join runs r on r.id = w.run_id and r.customer_id = w.customer_id
  left join run_tool_calls c on c.run_id = w.run_id and c.call_id = w.call_id and c.customer_id = w.customer_id`;

interface Reader {
  customerId: string;
  /** An e-mail address, or `api-key:<id>`. */
  actor: string;
  /** A session of a viewer has not, whether or not there is a member of its name. */
  mayChange: boolean;
}

type StoredWait = Omit<WaitRow, 'answers' | 'policy'> & {
  subject: string;
  gate_config: Record<string, unknown> | null;
};

const toWait = ({ gate_config: config, ...row }: StoredWait): WaitRow & { subject: string } => ({
  ...row,
  policy: policyIn(config),
  answers: row.status === 'open' ? [...answersTo(row.kind as WaitKind, row.pause_reason)] : [],
});

/** Says where a page ended: a time in microseconds, as rows have it, and an id. */
const cursorOf = (at: string, id: string): string => Buffer.from(JSON.stringify([at, id])).toString('base64url');

const CURSOR = /^\["(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)","([0-9a-f-]{36})"\]$/;

/** @throws Problem bad_request */
function readCursor(cursor: string): { at: string; id: string } {
  const read = CURSOR.exec(Buffer.from(cursor, 'base64url').toString());
  if (!read) throw new Problem('bad_request', 'cursor must be the next_cursor of a page');
  return { at: read[1]!, id: read[2]! };
}

export const createInboxStore = (db: Database) => ({
  /** Lists waits, newest first. */
  async list(reader: Reader, query: InboxQuery): Promise<{ data: WaitRow[]; nextCursor: string | null }> {
    const { status, kind, project_id: projectId, run_id: runId, for: whom, overdue, limit, cursor } = query;
    const at = status === 'open' ? sql`w.opened_at` : sql`w.settled_at`;
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const conditions: SQL[] = [
      sql`w.customer_id = ${reader.customerId}`,
      status === 'open' ? IS_OPEN : sql`w.settled_at is not null`,
      ...(kind === undefined ? [] : [sql`w.kind = ${kind}::wait_kind`]),
      ...(projectId === undefined ? [] : [sql`w.project_id = ${projectId}`]),
      ...(runId === undefined ? [] : [sql`w.run_id = ${runId}`]),
      ...(whom === 'me' ? [isForCaller(reader)] : []),
      ...(overdue === 'true' ? [IS_OVERDUE] : []),
      ...(after ? [sql`(${at}, w.id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : []),
    ];
    const rows = await db.rows<StoredWait & { place: string }>(sql`
      select ${columns(reader)}, to_char(${at} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place
      from ${SOURCES} where ${sql.join(conditions, sql` and `)}
      order by ${at} desc, w.id desc limit ${limit + 1}`);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return { data: page.map(toWait), nextCursor: hasMore ? cursorOf(last.place, last.id) : null };
  },

  /** Counts all open waits. */
  count: (customerId: string) =>
    db.rows<{ kind: WaitKind; open: number; overdue: number }>(sql`
      select w.kind, count(*)::int as open, (count(*) filter (where ${IS_OVERDUE}))::int as overdue
      from waits w where w.customer_id = ${customerId} and ${IS_OPEN} group by w.kind order by w.kind`),

  async find(reader: Reader, waitId: string): Promise<(WaitRow & { subject: string }) | undefined> {
    const [row] = await db.rows<StoredWait>(sql`
      select ${columns(reader)} from ${SOURCES}
      where w.id = ${waitId}::uuid and w.customer_id = ${reader.customerId}`);
    return row && toWait(row);
  },

  /** Tells whether the project of a wait has recorded a command that was sent under this id. */
  async isCarriedOut(customerId: string, waitId: string, commandId: string): Promise<boolean> {
    const rows = await db.rows(sql`
      select from waits w join projects p on p.id = w.project_id and p.customer_id = w.customer_id
      join project_commands c on c.project_id = p.id
      where w.id = ${waitId}::uuid and w.customer_id = ${customerId} and c.command_id = ${commandId}
        and c.result is not null`);
    return rows.length > 0;
  },

  /** Tells whether API keys may answer a wait at all. */
  async mayKeysAnswer(customerId: string, waitId: string): Promise<boolean> {
    const rows = await db.rows(sql`
      select from waits w join subtasks s on s.id = w.subtask_id and s.customer_id = w.customer_id
      where w.id = ${waitId}::uuid and w.customer_id = ${customerId} and keys_may_answer(s.gate_config)`);
    return rows.length > 0;
  },

  /** Finds the open wait on the subject of an earlier wait. */
  async findOpenOfSameSubject(customerId: string, waitId: string) {
    const [row] = await db.rows<{ id: string; revision: number }>(sql`
      select w.id, w.revision from waits before join waits w on w.subject = before.subject and w.customer_id = before.customer_id
      where before.id = ${waitId}::uuid and before.customer_id = ${customerId} and ${IS_OPEN}`);
    return row;
  },
});
