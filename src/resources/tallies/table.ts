/**
 * How many rows long lists have, so that nobody counts a million of them: written by triggers alone, in the transaction
 * of the rows (`sql/keep_tally.sql`), and folded together by housekeeping. A change is a row of its own, so that parallel
 * runs of a workspace never wait for one another's counter.
 */
import { bigint, bigserial, index, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { usd } from '../../platform/db/columns.ts';

const ofList = {
  /** The workspace whose rows are counted. */
  customerId: text('customer_id').notNull(),
  /** The name that the migration gave the triggers of the list. */
  list: text('list').notNull(),
  /** The values that the list can be filtered by, in the list's own order. */
  dims: text('dims').array().notNull(),
};

/** Folded counts: each stretch of the list's order has one row for each combination of its filters. */
export const tallies = pgTable(
  'tallies',
  {
    ...ofList,
    /** The length of the stretch: 1 is 2^10 positions, and each level above it is 2^5 times the one below. */
    level: smallint('level').notNull(),
    /** The number of the stretch among those of its length, from the oldest. */
    block: bigint('block', { mode: 'number' }).notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
    /** Of the rows together, where the list has money. */
    usd: usd('usd').notNull().default('0'),
  },
  (t) => [primaryKey({ columns: [t.list, t.customerId, t.level, t.block, t.dims] })],
);

/** Not yet folded. */
export const tallyDeltas = pgTable(
  'tally_deltas',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    ...ofList,
    /** Of level 1. */
    block: bigint('block', { mode: 'number' }).notNull(),
    /** Below zero for what left the list, or this combination of its filters. */
    rows: integer('rows').notNull(),
    usd: usd('usd').notNull().default('0'),
  },
  (t) => [index('tally_deltas_of_list').on(t.list, t.customerId)],
);
