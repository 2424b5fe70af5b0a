import { boolean, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';

/** Custom jobs. Temporal has a schedule of each, which housekeeping keeps in line with its row. */
export const scheduledJobs = pgTable(
  'scheduled_jobs',
  {
    /** Of the id `custom-<n>`. */
    n: integer('n').primaryKey().generatedAlwaysAsIdentity(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    name: text('name').notNull(),
    cron: text('cron').notNull(),
    /** Not checked: an agent may come later, and a run without one fails with a reason. */
    agentSlug: text('agent_slug').notNull(),
    brief: text('brief').notNull(),
    enabled: boolean('enabled').notNull().default(true),
    model: text('model').notNull().default('auto'),
    /** Null: as the model resolver decides. */
    reasoning: boolean('reasoning'),
    /** Grows with each change; the schedule says which one it follows. */
    revision: integer('revision').notNull().default(1),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [uniqueIndex('scheduled_jobs_by_name').on(t.customerId, t.name)],
);

/** What a workspace changed about a job that ships. Null: as it ships. */
export const jobOverrides = pgTable(
  'job_overrides',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    jobId: text('job_id').notNull(),
    cron: text('cron'),
    enabled: boolean('enabled'),
    revision: integer('revision').notNull().default(1),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.jobId] })],
);
