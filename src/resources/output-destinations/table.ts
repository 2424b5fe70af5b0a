/** Where finished artifacts are also sent, and what came of it. */
import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { DESTINATION_KINDS, OUTPUT_DELIVERY_STATUSES } from './model.ts';

export const destinationKind = pgEnum('destination_kind', DESTINATION_KINDS);
export const outputDeliveryStatus = pgEnum('output_delivery_status', OUTPUT_DELIVERY_STATUSES);

export const outputDestinations = pgTable(
  'output_destinations',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    name: text('name').notNull(),
    kind: destinationKind('kind').notNull(),
    /** Without its secrets. */
    config: jsonb('config').$type<Record<string, unknown>>().notNull(),
    /** Its secrets, as JSON, sealed for `<customer>/output_destinations/<id>`. */
    sealed: text('sealed'),
    /** Only artifacts of these workflows; null for all. */
    workflowSlugs: text('workflow_slugs').array(),
    enabled: boolean('enabled').notNull().default(true),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [uniqueIndex('output_destinations_by_name').on(t.customerId, t.name)],
);

export const outputDeliveries = pgTable(
  'output_deliveries',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    destinationId: uuid('destination_id')
      .notNull()
      .references(() => outputDestinations.id, { onDelete: 'cascade' }),
    projectId: text('project_id').notNull(),
    artifactId: uuid('artifact_id').notNull(),
    status: outputDeliveryStatus('status').notNull().default('pending'),
    attempts: integer('attempts').notNull().default(0),
    /** How often somebody asked for it to be sent again; part of the workflow id. */
    redeliveries: integer('redeliveries').notNull().default(0),
    lastError: text('last_error'),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('output_deliveries_once').on(t.destinationId, t.artifactId),
    // The log of a workspace, newest first: ids are UUIDv7.
    index('output_deliveries_by_workspace').on(t.customerId, t.id),
    index('output_deliveries_by_destination').on(t.customerId, t.destinationId, t.id),
    // Most are delivered: the log of those is as good as the log of all.
    index('output_deliveries_undelivered')
      .on(t.customerId, t.status, t.id)
      .where(sql`${t.status} <> 'delivered'`),
    // Housekeeping: recorded, never started.
    index('output_deliveries_by_status').on(t.status, t.createdAt),
  ],
);
