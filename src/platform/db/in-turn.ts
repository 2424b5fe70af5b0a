/**
 * Takes due rows of all workspaces, each workspace in its turn: however many rows wait in one, those of the others are
 * found at once.
 *
 * A row waits with a time at which it is to be looked at. Whoever takes it puts that time off in the same statement, so
 * that two who take at once take different rows, and what was taken by somebody who died becomes due again.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first } from '../core/present.ts';
import type { Database } from './client.ts';

export interface ClaimQueue {
  /** It has the columns `id` and `customer_id`. */
  table: string;
  /** This column says when a row is to be looked at. */
  at: string;
  /** Selects the rows that wait at all. An index of these rows on `customer_id` and the column `at` has to serve it. */
  open: SQL;
  /** A row is due this long after that time; at once where it is missing. */
  lateMs?: number;
}

/** One turn takes a few workspaces, and a few rows of each. */
export interface Turn {
  /** The turn begins behind this workspace; '' begins with the first of all. */
  after: string;
  workspaces: number;
  each: number;
}

export interface Taken {
  ids: string[];
  /** The turn ended with this workspace; undefined where none comes after it. */
  last: string | undefined;
}

/** Tells how far behind the queue is. */
export interface Behind {
  due: number;
  /** The oldest row has been due for this long; 0 when nothing is due. */
  overdueS: number;
}

const dueBefore = ({ lateMs = 0 }: ClaimQueue): SQL => sql`now() - ${lateMs} * interval '1 ms'`;

/**
 * Steps from workspace to workspace by the index, however many rows each has.
 * @param most the highest number of workspaces
 */
const workspacesAfter = ({ table, open }: ClaimQueue, after: string, most: SQL): SQL => {
  const next = (than: SQL): SQL => sql`
    select q.customer_id from ${sql.identifier(table)} q
    where ${open} and q.customer_id > ${than} order by q.customer_id limit 1`;
  return sql`recursive turn(customer_id, n) as (
    (select customer_id, 1 from (${next(sql`${after}::text`)}) first)
    union all
    select following.customer_id, n + 1 from turn cross join lateral (${next(sql`turn.customer_id`)}) following
    where n < ${most}
  )`;
};

/** @param againMs after this time a taken row becomes due again, unless it was settled meanwhile */
export async function takeDue(db: Database, queue: ClaimQueue, { after, workspaces, each }: Turn, againMs: number) {
  const table = sql.identifier(queue.table);
  const at = sql.identifier(queue.at);
  const { ids, last, turns } = first(
    await db.rows<{ ids: string[]; last: string | null; turns: number }>(sql`
    with ${workspacesAfter(queue, after, sql`${workspaces}::int`)}, due as materialized (
      select d.id from turn cross join lateral (
        select q.id from ${table} q
        where ${queue.open} and q.customer_id = turn.customer_id and q.${at} <= ${dueBefore(queue)}
        order by q.${at} limit ${each} for update skip locked) d
    ), taken as (
      update ${table} t set ${at} = now() + ${againMs} * interval '1 ms' where t.id in (select id from due) returning t.id
    )
    select (select coalesce(jsonb_agg(id::text), '[]') from taken) as ids, max(customer_id) as last,
      count(*)::int as turns from turn`),
  );
  return { ids, last: turns < workspaces ? undefined : (last ?? undefined) } satisfies Taken;
}

/** Makes every row that waits due. One that was to be looked at even earlier keeps its time. */
export const makeAllDue = (db: Database, queue: ClaimQueue) => {
  const at = sql.identifier(queue.at);
  return db.rows(sql`
    update ${sql.identifier(queue.table)} set ${at} = least(${at}, ${dueBefore(queue)}) where ${queue.open}`);
};

/**
 * Puts off the next look at deliveries that are under way. One that was made to wait again since, under the next number,
 * is another matter.
 */
export const putOff = (
  db: Database,
  { table, at, open }: ClaimQueue,
  deliveries: readonly { deliveryId: string; redelivery: number }[],
  ms: number,
) =>
  db.rows(sql`
    update ${sql.identifier(table)} t set ${sql.identifier(at)} = now() + ${ms} * interval '1 ms'
    from unnest(${sql.param(deliveries.map(({ deliveryId }) => deliveryId))}::uuid[],
      ${sql.param(deliveries.map(({ redelivery }) => redelivery))}::int[]) as under_way (id, redeliveries)
    where t.id = under_way.id and t.redeliveries = under_way.redeliveries and ${open}`);

/** Counting stops here in each workspace: more than this is much too much as well. */
const COUNTED = 1_000;
const MANY = 100_000;

export const behindOf = (queue: ClaimQueue): SQL => {
  const at = sql.identifier(queue.at);
  return sql`(
    with ${workspacesAfter(queue, '', sql`${MANY}::int`)}
    select coalesce(sum(d.due), 0)::int as due,
      coalesce(greatest(0, extract(epoch from ${dueBefore(queue)} - min(d.oldest))), 0)::float8 as "overdueS"
    from turn cross join lateral (
      select count(*) as due, min(at) as oldest from (
        select q.${at} as at from ${sql.identifier(queue.table)} q
        where ${queue.open} and q.customer_id = turn.customer_id and q.${at} <= ${dueBefore(queue)}
        order by q.${at} limit ${COUNTED}) counted
    ) d)`;
};
