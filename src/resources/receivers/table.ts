/** How many deliveries go to one host at once: a row for each that may. */
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';

export const deliverySlots = pgTable(
  'delivery_slots',
  {
    /** With its port. */
    host: text('host').notNull(),
    n: integer('n').notNull(),
    /** The delivery that has it, and whose it is; null while it is free. */
    holder: text('holder'),
    customerId: text('customer_id'),
    /** Free from then on, also where its holder died. */
    heldUntil: instant('held_until').notNull().defaultNow(),
    /** Deliveries that found no place were told to come again until then. */
    bookedUntil: instant('booked_until').notNull().defaultNow(),
    /** How long the last holder took, in milliseconds: what those who come again are told by. */
    lastMs: integer('last_ms').notNull().default(1_000),
  },
  (t) => [
    primaryKey({ columns: [t.host, t.n] }),
    // Retention: hosts that nothing goes to any more.
    index('delivery_slots_by_time').on(t.heldUntil),
  ],
);
