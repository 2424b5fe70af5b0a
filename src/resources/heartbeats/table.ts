import { boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';

/** A run of an agent every so many seconds. Temporal has a schedule for each, which housekeeping keeps in line. */
export const heartbeats = pgTable(
  'heartbeats',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    name: text('name').notNull(),
    agentSlug: text('agent_slug').notNull(),
    prompt: text('prompt').notNull(),
    intervalS: integer('interval_s').notNull(),
    enabled: boolean('enabled').notNull().default(true),
    revision: integer('revision').notNull().default(1),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  // It serves the list, oldest first, as ids are UUIDv7.
  (t) => [index('heartbeats_of_workspace').on(t.customerId, t.id)],
);
