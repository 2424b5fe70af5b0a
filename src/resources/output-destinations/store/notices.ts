/**
 * Looks up whom notices of waits are mailed to. Whoever opens or settles a wait holds its project meanwhile, and writes one
 * row a destination; who of the workspace may answer is a question for each member, and is asked here, with nothing held.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { membersOf } from '../../members/store/fragments.ts';

const UNADDRESSED = sql`status = 'pending' and due_at = 'infinity'`;
/** Those who address take turns, so that whom a settled wait is told to is read after whom it was told to before. */
const ADDRESSING = 4_711_006;
const MOST = 200;

/** Replaces each row by one for each recipient, in one transaction: a process that dies leaves either. */
export async function addressNotices(db: Database): Promise<void> {
  for (let taken = MOST; taken === MOST;) {
    const waiting = await db.rows(sql`select id from output_deliveries where ${UNADDRESSED} limit 1`);
    if (waiting.length === 0) return;
    taken = await db.transaction(async () => {
      await db.rows(sql`select pg_advisory_xact_lock(${ADDRESSING})`);
      return (
        (await address(db, sql`notice <> 'settled'`, APPROVERS)) + (await address(db, sql`notice = 'settled'`, TOLD))
      );
    });
  }
}

const address = async (db: Database, which: SQL, recipients: SQL): Promise<number> => {
  const rows = await db.rows(sql`
    with notice as (
      delete from output_deliveries where id in (
        select id from output_deliveries where ${UNADDRESSED} and ${which} order by id limit ${MOST})
      returning *
    ), addressed as (
      insert into output_deliveries (id, customer_id, destination_id, project_id, wait_id, notice, nth, revision, recipient,
        due_at, created_at)
      select uuid_by_time(), n.customer_id, n.destination_id, n.project_id, n.wait_id, n.notice, n.nth, n.revision,
        told.recipient, now(), n.created_at
      from notice n join output_destinations d on d.id = n.destination_id and d.customer_id = n.customer_id
        join waits w on w.id = n.wait_id and w.customer_id = n.customer_id
        cross join lateral (${recipients}) told
      on conflict do nothing
    )
    select id from notice`);
  return rows.length;
};

/** Whom the destination names, and those who could answer when it was told of. */
const APPROVERS = sql`
  select lower(named) as recipient from jsonb_array_elements_text(d.config -> 'to') named
  union
  select m.email from ${membersOf(sql`n.customer_id`)} m
  where d.config -> 'approvers' = 'true'
    and seat_at(w.id, w.customer_id, (select s.gate_config from subtasks s where s.id = w.subtask_id),
      coalesce(w.escalated_at <= n.created_at, false), m.email) is not null`;

/** Those who were told that it waits, but for whoever settled it. */
const TOLD = sql`
  select distinct o.recipient from output_deliveries o
  where o.wait_id = n.wait_id and o.destination_id = n.destination_id and o.recipient is not null
    and o.recipient is distinct from lower(w.settled_by)`;
