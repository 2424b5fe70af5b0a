/**
 * Reads of what triggers count (`sql/keep_tally.sql`), and the fold that keeps them short. A total is exact: what is folded
 * plus what is not, of one snapshot. Its cost is that of the combinations of filters that a list has, not of its rows.
 */
import { and, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { firstUuid } from '../../platform/core/ids.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';

/** The tallied lists, each with what it can be filtered by, in the order of the migration. */
const DIMS = {
  runs: ['agent', 'transport'],
  /** Counts runs that have ended, with what they cost. */
  run_outcomes: ['agent', 'status'],
  projects: ['status', 'workflow_slug'],
  project_events: ['category', 'level'],
  webhook_gates: ['status'],
  audit_log: ['action', 'actor'],
  webhook_deliveries: ['status', 'endpoint'],
  output_deliveries: ['status', 'destination_id'],
  run_artifacts: ['agent'],
  wallet_ledger: ['kind'],
  chat_threads: [],
  memory_entries: ['agent', 'type', 'scope'],
} as const satisfies Record<string, readonly string[]>;
type TalliedList = keyof typeof DIMS;

/** Selects rows of one workspace, by what its list is filtered by. */
export interface Tallied<L extends TalliedList = TalliedList> {
  list: L;
  /** The id, or the column that has it. */
  customerId: string | SQL;
  filter?: Partial<Record<(typeof DIMS)[L][number], string | number | undefined>>;
}

type Dimension<L extends TalliedList> = (typeof DIMS)[L][number];
type Conditions<L extends TalliedList> = { [Name in Dimension<L>]: (value: never) => SQL };
type Filter<L extends TalliedList, C extends Conditions<L>> = {
  [Name in Dimension<L>]?: Parameters<C[Name]>[0] | undefined;
};

/**
 * Binds a list to its tally: one choice of filters gives the condition of its rows, and what its total and its pages are counted by.
 * A filter that the tally does not count does not compile; take filters that are counted in another way out before.
 * @param owner the column of the workspace
 * @param conditions one for each filter that the tally counts
 */
export const listFilters =
  <L extends TalliedList, C extends Conditions<L>>(
    list: L,
    owner: AnyPgColumn | SQL,
    conditions: C & Record<Exclude<keyof C, Dimension<L>>, never>,
  ) =>
  <F extends Filter<L, C>>(
    customerId: string,
    filter: F & Record<Exclude<keyof F, Dimension<L>>, never>,
  ): { where: SQL | undefined; tallied: Tallied<L> } => {
    const values: Filter<L, C> = filter;
    const conditionsByName: C = conditions;
    const names: readonly Dimension<L>[] = DIMS[list];
    const chosen = names.flatMap((name) => {
      const value = values[name];
      return value === undefined ? [] : [conditionsByName[name](value)];
    });
    return { where: and(sql`${owner} = ${customerId}`, ...chosen), tallied: { list, customerId, filter: values } };
  };

/** The level of the longest stretches; there is one of them for each 2^30 places of the list. */
const LONGEST = sql.raw('5');

const wantedBy = <L extends TalliedList>({ list, filter = {} }: Tallied<L>): (string | null)[] =>
  DIMS[list].map((name) => {
    const value = (filter as Record<string, string | number | undefined>)[name];
    return value === undefined ? null : String(value);
  });

/** SQL that gives `(dims, rows, usd)`, with several rows of the same dims, which the surrounding statement sums up. */
export function countsOf<L extends TalliedList>(tallied: Tallied<L>): SQL {
  const matching = wantedBy(tallied).map((value, i) =>
    value === null ? sql`` : sql`and dims[${sql.raw(String(i + 1))}] = ${value}`,
  );
  const ofList = sql`list = ${tallied.list} and customer_id = ${tallied.customerId} ${sql.join(matching, sql` `)}`;
  return sql`(
    select dims, rows, usd from tallies where level = ${LONGEST} and ${ofList}
    union all select dims, rows, usd from tally_deltas where ${ofList})`;
}

export async function countRows<L extends TalliedList>(db: Database, tallied: Tallied<L>): Promise<number> {
  const { total } = first(
    await db.rows<{ total: number }>(sql`select coalesce(sum(c.rows), 0)::float8 as total from ${countsOf(tallied)} c`),
  );
  return total;
}

/** A page up to this offset is as quick to walk to as to look up. */
const FAR = 250;

interface PageStart {
  /** Only rows below this place of the list's order belong to the page; unset takes all of them. */
  below: number | undefined;
  /** So many rows are left out there. */
  offset: number;
}

/**
 * @returns where a page begins, so that no row before it is walked over: a place in the list's order, and what is left
 * of the offset
 */
export async function findPage<L extends TalliedList>(
  db: Database,
  tallied: Tallied<L>,
  offset: number,
): Promise<PageStart> {
  if (offset < FAR) return { below: undefined, offset };
  const row = first(
    await db.rows<{ below: number; rest: number }>(sql`
    select below::float8 as below, rest::float8 as rest
    from seek_tally(${tallied.list}, ${tallied.customerId}, ${sql.param(wantedBy(tallied))}::text[], ${offset}::bigint)`),
  );
  return { below: row.below, offset: row.rest };
}

/** Serves a list in the order of ids that are UUIDv7, whose places are times, in units of 16 ms. */
export const belowPlace = (id: AnyPgColumn, { below }: PageStart): SQL | undefined =>
  below === undefined ? undefined : sql`${id} < ${firstUuid(Math.min(below * 16, 2 ** 48 - 1))}::uuid`;

/** The number is arbitrary; no other lock of this database has it. */
const FOLDING = sql.raw('4711002');

/**
 * Adds up the oldest deltas. One process at a time does so: a second one finds the lock taken and nothing to do.
 * @returns how many were folded
 */
async function foldTallies(db: Database, most: number): Promise<number> {
  const row = first(
    await db.rows<{ folded: number }>(sql`
    with turn as materialized (select pg_try_advisory_xact_lock(${FOLDING}) as is_ours),
    gone as (
      delete from tally_deltas where id = any(array(
        select d.id from turn, tally_deltas d where turn.is_ours order by d.id limit ${most}))
      returning customer_id, list, dims, block, rows, usd
    ), folded as (
      insert into tallies as t (customer_id, list, dims, level, block, rows, usd)
      select customer_id, list, dims, level, block >> 5 * (level - 1), sum(rows), sum(usd)
      from gone cross join generate_series(1, ${LONGEST}) level
      group by 1, 2, 3, 4, 5 having sum(rows) <> 0 or sum(usd) <> 0
      order by 2, 1, 4, 5, 3
      on conflict (list, customer_id, level, block, dims)
        do update set rows = t.rows + excluded.rows, usd = t.usd + excluded.usd
    )
    select count(*)::int as folded from gone`),
  );
  return row.folded;
}

const BATCH = 10_000;
const MAX_BATCHES = 20;

/** It counts up to as many as a tick folds; when they came is not kept. */
export const TALLIES_BEHIND = {
  foldTallies: sql`(
    select count(*)::int as due, 0::float8 as "overdueS"
    from (select from tally_deltas limit ${sql.raw(String(BATCH * MAX_BATCHES))}) deltas)`,
};

/** Folds for housekeeping what there is, in short transactions; what comes meanwhile is for the next time. */
export async function foldAllTallies(db: Database, signal?: AbortSignal): Promise<void> {
  for (let batch = 0, folded = BATCH; batch < MAX_BATCHES && folded === BATCH && !signal?.aborted; batch++) {
    folded = await foldTallies(db, BATCH);
  }
}
