import { boolean, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { schemaJson } from '../../platform/db/property-order.ts';
import { workspaces } from '../workspaces/table.ts';

/** Custom jobs. Temporal has a schedule for each, which housekeeping keeps in line with its row. */
export const scheduledJobs = pgTable(
  'scheduled_jobs',
  {
    /** The number in the id `custom-<n>`. */
    n: integer('n').primaryKey().generatedAlwaysAsIdentity(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    name: text('name').notNull(),
    cron: text('cron').notNull(),
    /** The slug is not checked: an agent may come later, and a run without one fails with a reason. */
    agentSlug: text('agent_slug').notNull(),
    brief: text('brief').notNull(),
    enabled: boolean('enabled').notNull().default(true),
    model: text('model').notNull().default('auto'),
    /** Null leaves it to the choice of the model. */
    reasoning: boolean('reasoning'),
    /** The answers of its runs are to be JSON of this schema. */
    outputSchema: schemaJson('output_schema').$type<Record<string, unknown>>(),
    /** It grows with each change; the schedule says which one it follows. */
    revision: integer('revision').notNull().default(1),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [uniqueIndex('scheduled_jobs_by_name').on(t.customerId, t.name)],
);

/** What a workspace changed about a job that ships. Null leaves a field as it ships. */
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
