/** Columns that several tables share, so that one kind of value has one type everywhere. */
import { sql } from 'drizzle-orm';
import { bigint, numeric, timestamp } from 'drizzle-orm/pg-core';

/** UTC instant; read as a Date, sent as ISO 8601. */
export const instant = (name: string) => timestamp(name, { withTimezone: true });

/** US dollars, exact to a millionth of a cent; a decimal string in code and on the wire. */
export const usd = (name: string) => numeric(name, { precision: 20, scale: 8 });

export const createdAt = () => instant('created_at').notNull().defaultNow();

/**
 * When housekeeping is to look whether what was accepted has been started: whoever accepted it is starting it right now,
 * which may take that long.
 */
export const startDue = (name: string) => instant(name).default(sql`now() + interval '15 seconds'`);

/**
 * Where a row stands in the one order of events that its workspace has: the transaction that wrote it, then its place among
 * all events. Readers take only what is below `event_horizon()`, where nothing can come any more (docs/operate/operations.md,
 * "The order of events"). An index on `(customer_id, tx, seq)` goes with it.
 */
export const eventPlace = () => ({
  tx: bigint('tx', { mode: 'number' })
    .notNull()
    .default(sql`event_tx()`),
  seq: bigint('seq', { mode: 'number' })
    .notNull()
    .default(sql`nextval('event_seq')`),
});
