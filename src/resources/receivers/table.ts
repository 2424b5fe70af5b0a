/** Limits how many deliveries go to one host at once: there is a row for each that may. */
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';

export const deliverySlots = pgTable(
  'delivery_slots',
  {
    /** The host with its port. */
    host: text('host').notNull(),
    n: integer('n').notNull(),
    /** The delivery that holds the place, and its workspace; null while the place is free. */
    holder: text('holder'),
    customerId: text('customer_id'),
    /** The place is free from this time on, also where its holder died. */
    heldUntil: instant('held_until').notNull().defaultNow(),
    /** Deliveries that found no place were told to come again up to this time. */
    bookedUntil: instant('booked_until').notNull().defaultNow(),
    /** The last holder took so many milliseconds, from which the wait of others is told. */
    lastMs: integer('last_ms').notNull().default(1_000),
  },
  (t) => [
    primaryKey({ columns: [t.host, t.n] }),
    // Retention finds by it hosts that nothing goes to any more.
    index('delivery_slots_by_time').on(t.heldUntil),
  ],
);
