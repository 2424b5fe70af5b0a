/** Workflow templates. A row is one version and its spec never changes; what may change says nothing of the pipeline. */
import { sql } from 'drizzle-orm';
import { bigserial, check, index, integer, pgEnum, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { schemaJson } from '../../platform/db/property-order.ts';
import { workspaces } from '../workspaces/table.ts';
import { TEMPLATE_STATUSES, type WorkflowSpec } from './model.ts';

export const templateStatus = pgEnum('template_status', TEMPLATE_STATUSES);

export const templates = pgTable(
  'templates',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    /** Null: it ships with the product and everybody has it. */
    customerId: text('customer_id').references(() => workspaces.customerId),
    slug: text('slug').notNull(),
    version: integer('version').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull().default(''),
    collection: text('collection'),
    tags: text('tags').array().notNull().default([]),
    spec: schemaJson('spec').$type<WorkflowSpec>().notNull(),
    phaseCount: integer('phase_count').notNull(),
    status: templateStatus('status').notNull().default('active'),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    unique('templates_once_per_version').on(t.customerId, t.slug, t.version).nullsNotDistinct(),
    // The latest version of a slug, the workspace's own and the built-in ones.
    index('templates_by_slug').on(t.slug, t.version),
    check('templates_version_positive', sql`${t.version} >= 1`),
  ],
);
