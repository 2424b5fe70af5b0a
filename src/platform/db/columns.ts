/** Columns that several tables share, so that one kind of value has one type everywhere. */
import { sql } from 'drizzle-orm';
import { bigint, numeric, timestamp } from 'drizzle-orm/pg-core';

/** A UTC instant: code reads it as a Date, and the wire has it as ISO 8601. */
export const instant = (name: string) => timestamp(name, { withTimezone: true });

/** US dollars, exact to a millionth of a cent; code and wire have it as a decimal string. */
export const usd = (name: string) => numeric(name, { precision: 20, scale: 8 });

export const createdAt = () => instant('created_at').notNull().defaultNow();

/**
 * At this time housekeeping looks whether accepted work has been started. Whoever accepted it is starting it right now,
 * which may take until then.
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
