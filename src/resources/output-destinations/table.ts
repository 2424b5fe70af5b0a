/** Where finished artifacts are also sent, and how that went. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { circuit } from '../../platform/db/circuit.ts';
import { createdAt, instant, startDue } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { DESTINATION_KINDS, NOTICE_KINDS, OUTPUT_DELIVERY_STATUSES, RECIPIENT_ANSWERS } from './model.ts';

export const destinationKind = pgEnum('destination_kind', DESTINATION_KINDS);
export const noticeKind = pgEnum('notice_kind', NOTICE_KINDS);
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
    /** The configuration without its secrets. */
    config: jsonb('config').$type<Record<string, unknown>>().notNull(),
    /** The secrets as JSON, sealed for `<customer>/output_destinations/<id>`. */
    sealed: text('sealed'),
    /** Only artifacts of these workflows are sent; null sends those of all. */
    workflowSlugs: text('workflow_slugs').array(),
    enabled: boolean('enabled').notNull().default(true),
    /** What it hears of: artifacts of completed projects, waits of the inbox, and what is spent of caps. */
    artifacts: boolean('artifacts').notNull().default(true),
    waits: boolean('waits').notNull().default(false),
    spending: boolean('spending').notNull().default(false),
    ...circuit(),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('output_destinations_by_name').on(t.customerId, t.name),
    // Housekeeping finds by it whose owners are to be told.
    index('output_destinations_paused')
      .on(t.pausedAt)
      .where(sql`${t.pausedAt} is not null and ${t.pauseToldAt} is null`),
  ],
);

export const recipientAnswer = pgEnum('output_recipient_answer', RECIPIENT_ANSWERS);

/** The answers of a destination's addresses that were asked. Members need not answer. */
export const outputRecipients = pgTable(
  'output_recipients',
  {
    /** The link that the recipient is sent names it. */
    id: uuid('id').primaryKey().defaultRandom(),
    destinationId: uuid('destination_id')
      .notNull()
      .references(() => outputDestinations.id, { onDelete: 'cascade' }),
    /** The address in lower case. */
    email: text('email').notNull(),
    answer: recipientAnswer('answer'),
    answeredAt: instant('answered_at'),
    /** The link was last mailed at this time. */
    askedAt: instant('asked_at'),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('output_recipients_once').on(t.destinationId, t.email)],
);

/** Counts the mails of a day (UTC) under names such as `workspace:acme`. */
export const outputMailCounts = pgTable(
  'output_mail_counts',
  {
    day: date('day').notNull(),
    counted: text('counted').notNull(),
    mails: integer('mails').notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.counted] })],
);

export const outputDeliveries = pgTable(
  'output_deliveries',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    destinationId: uuid('destination_id')
      .notNull()
      .references(() => outputDestinations.id, { onDelete: 'cascade' }),
    /** Null of a wait that is about no project. */
    projectId: text('project_id'),
    /** It delivers an artifact, or tells of a wait: a trigger of the table of waits writes those. */
    artifactId: uuid('artifact_id'),
    waitId: uuid('wait_id'),
    notice: noticeKind('notice'),
    /** Which reminder it is, counted from one; of openings the revision. */
    nth: integer('nth'),
    /** The revision that is told of. */
    revision: integer('revision'),
    /** Whom this one is mailed to; each recipient has a delivery of their own. */
    recipient: text('recipient'),
    status: outputDeliveryStatus('status').notNull().default('pending'),
    attempts: integer('attempts').notNull().default(0),
    /** So often somebody asked for it to be sent again; the number is a part of the workflow id. */
    redeliveries: integer('redeliveries').notNull().default(0),
    lastError: text('last_error'),
    /** It did not go to these addresses, as they had not confirmed; it goes to each that does. */
    withheldFrom: text('withheld_from')
      .array()
      .notNull()
      .default(sql`'{}'`),
    /**
     * At this time housekeeping starts the workflow, or looks whether it is still there. `infinity`: it stands for mails whose
     * recipients are still to be looked up, and is never started itself.
     */
    dueAt: startDue('due_at').notNull(),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('output_deliveries_once').on(t.destinationId, t.artifactId),
    uniqueIndex('output_deliveries_of_wait_once')
      .on(t.waitId, t.destinationId, t.notice, t.nth, sql`coalesce(${t.recipient}, '')`)
      .where(sql`${t.waitId} is not null`),
    check(
      'output_deliveries_of_something',
      sql`num_nonnulls(${t.artifactId}, ${t.waitId}) = 1 and (${t.waitId} is null) = (${t.notice} is null)`,
    ),
    // It serves the log of a workspace, newest first, as ids are UUIDv7.
    index('output_deliveries_by_workspace').on(t.customerId, t.id),
    index('output_deliveries_by_destination').on(t.customerId, t.destinationId, t.id),
    // Most deliveries are delivered, so the log of all serves for those.
    index('output_deliveries_undelivered')
      .on(t.customerId, t.status, t.id)
      .where(sql`${t.status} <> 'delivered'`),
    index('output_deliveries_to_address')
      .on(t.id)
      .where(sql`${t.status} = 'pending' and ${t.dueAt} = 'infinity'`),
    // Housekeeping walks it, workspace by workspace.
    index('output_deliveries_pending')
      .on(t.customerId, t.dueAt)
      .where(sql`${t.status} = 'pending'`),
  ],
);
