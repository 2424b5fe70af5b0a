/** Endpoints that tenants registered, and the outbox: a delivery row is inserted in the transaction that ends its run. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  serial,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, startDue } from '../../platform/db/columns.ts';
import { circuit } from '../../platform/db/circuit.ts';
import { workspaces } from '../workspaces/table.ts';
import { DELIVERY_STATUSES } from './model.ts';

export const deliveryStatus = pgEnum('webhook_delivery_status', DELIVERY_STATUSES);

export const webhookSubscriptions = pgTable(
  'webhook_subscriptions',
  {
    id: serial('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    url: text('url').notNull(),
    /** Event names, or `*`. */
    events: text('events').array().notNull(),
    description: text('description'),
    active: boolean('active').notNull().default(true),
    /**
     * The secret is sealed for the owner `<customer>/webhook_subscriptions/<id>`, because signing needs the secret
     * itself.
     */
    sealedSecret: text('sealed_secret').notNull(),
    /** The secret before the last rotation signs along until this time. */
    sealedPreviousSecret: text('sealed_previous_secret'),
    previousSecretUntil: instant('previous_secret_until'),
    ...circuit(),
    createdAt: createdAt(),
    deletedAt: instant('deleted_at'),
  },
  (t) => [
    // Housekeeping finds by it whose owners are to be told.
    index('webhook_subscriptions_paused')
      .on(t.pausedAt)
      .where(sql`${t.pausedAt} is not null and ${t.pauseToldAt} is null`),
    // It finds the endpoints of a workspace when a run ends, and serves the list.
    index('webhook_subscriptions_by_workspace')
      .on(t.customerId, t.id)
      .where(sql`${t.deletedAt} is null`),
    unique('webhook_subscriptions_of_workspace').on(t.customerId, t.id),
  ],
);

/** The body that tells of an event, once for all endpoints that hear of it. */
export const webhookEvents = pgTable(
  'webhook_events',
  {
    customerId: text('customer_id').notNull(),
    /** It names what happened, for example `run:<id>`. */
    eventKey: text('event_key').notNull(),
    /** The exact bytes that are sent and signed. */
    body: text('body').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.eventKey] }),
    // Retention finds by it events that nothing is delivered of any more.
    index('webhook_events_by_time').on(t.createdAt),
  ],
);

export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    subscriptionId: integer('subscription_id').notNull(),
    eventType: text('event_type').notNull(),
    /**
     * It names what happened, for example `run:<id>:succeeded`: an endpoint has one delivery, however often the end is
     * recorded.
     */
    eventKey: text('event_key').notNull(),
    status: deliveryStatus('status').notNull().default('pending'),
    attemptCount: integer('attempt_count').notNull().default(0),
    /** So often somebody asked for it to be sent again; the number is a part of the workflow id. */
    redeliveries: integer('redeliveries').notNull().default(0),
    /** At this time housekeeping starts the workflow, or looks whether it is still there. */
    dueAt: startDue('due_at').notNull(),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    // The reference is to both columns, so that the index of an endpoint's log finds what refers to it.
    foreignKey({
      name: 'webhook_deliveries_of_endpoint',
      columns: [t.customerId, t.subscriptionId],
      foreignColumns: [webhookSubscriptions.customerId, webhookSubscriptions.id],
    }),
    // The event comes first, because what is delivered of one event is asked for, too.
    uniqueIndex('webhook_deliveries_once').on(t.eventKey, t.subscriptionId),
    // It serves the log of a workspace, newest first, as uuid v7 sorts by time.
    index('webhook_deliveries_by_workspace').on(t.customerId, t.id),
    index('webhook_deliveries_by_endpoint').on(t.customerId, t.subscriptionId, t.id),
    // Most deliveries are delivered, so the log of all serves for those.
    index('webhook_deliveries_undelivered')
      .on(t.customerId, t.status, t.id)
      .where(sql`${t.status} <> 'delivered'`),
    // Housekeeping walks it, workspace by workspace.
    index('webhook_deliveries_pending')
      .on(t.customerId, t.dueAt)
      .where(sql`${t.status} = 'pending'`),
  ],
);

export const webhookDeliveryAttempts = pgTable(
  'webhook_delivery_attempts',
  {
    deliveryId: uuid('delivery_id')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    /** It counts on over redeliveries. */
    attempt: integer('attempt').notNull(),
    ts: instant('ts').notNull().defaultNow(),
    /** Null where no answer came. */
    statusCode: integer('status_code'),
    durationMs: integer('duration_ms').notNull(),
    error: text('error'),
    /** The first kilobyte of the receiver's answer. */
    responseExcerpt: text('response_excerpt'),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.attempt] })],
);
