/**
 * Every query on webhook endpoints, deliveries and attempts.
 *
 * A delivery is written only while it is `pending` and only for its latest redelivery. So whatever comes late (a
 * retried activity, a workflow that was overtaken) changes nothing.
 */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, ne, sql, type SQL } from 'drizzle-orm';
import { found, type Database } from '../../platform/db/client.ts';
import type { PendingPage } from '../../platform/temporal/starting.ts';
import { Problem } from '../../platform/core/problem.ts';
import { belowPlace, countRows, findPage, type Counted } from '../tallies/store.ts';
import { workspaces } from '../workspaces/table.ts';
import type { DeliveryQuery, DeliveryRow } from './contract.ts';
import { ALL_EVENTS, type DeliveryRef, type DeliveryStatus, type WebhookEvent } from './model.ts';
import { webhookDeliveries, webhookDeliveryAttempts, webhookSubscriptions } from './table.ts';

export type WebhookStore = ReturnType<typeof createWebhookStore>;
export type StartableDelivery = Awaited<ReturnType<WebhookStore['listPending']>>[number];
export type StartedAttempt = NonNullable<Awaited<ReturnType<WebhookStore['startAttempt']>>>;

/** The row a signing secret is sealed for. */
export const secretOwner = (customerId: string): string => `${customerId}/webhook_subscriptions`;

export interface WebhookMessage {
  customerId: string;
  eventType: WebhookEvent;
  /** What happened, for example `run:<id>`: an endpoint hears of it once. */
  eventKey: string;
  data: Record<string, unknown>;
  /** Unix seconds; now, when not given. */
  createdAtS?: number;
}

/** A uuid v7, so that the log sorts by time although the ids are made inside the statement. */
const UUID_V7 = sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`;

/**
 * The outbox as part of the statement that makes an event true: `insert ... returning id` of one delivery for each
 * endpoint that wants it, if the CTE `guard` has a row.
 */
export function outboxCte(guard: SQL, { customerId, eventType, eventKey, data, createdAtS }: WebhookMessage): SQL {
  const body = JSON.stringify({ type: eventType, created_at: createdAtS ?? Math.floor(Date.now() / 1000), data });
  return sql`
    insert into ${webhookDeliveries} (id, customer_id, subscription_id, event_type, event_key, body)
    select ${UUID_V7}, ${customerId}::text, endpoint.id, ${eventType}::text, ${eventKey}::text, ${body}::text
    from ${guard} guard, ${webhookSubscriptions} endpoint
    where endpoint.customer_id = ${customerId} and endpoint.deleted_at is null and endpoint.active
      and endpoint.events && array[${eventType}, ${ALL_EVENTS}]
    on conflict (subscription_id, event_key) do nothing
    returning id`;
}

/**
 * The outbox as a statement of its own, for the transaction that makes an event true. Repeating it adds nothing.
 * @returns ids of what is to be sent for this event, also those of an earlier call
 */
export async function insertDeliveries(db: Database, message: WebhookMessage): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    with always as (select 1), added as (${outboxCte(sql`always`, message)})
    select id from added
    union all
    select delivery.id from ${webhookDeliveries} delivery
    join ${webhookSubscriptions} endpoint on endpoint.id = delivery.subscription_id
    where endpoint.customer_id = ${message.customerId} and endpoint.deleted_at is null
      and delivery.event_key = ${message.eventKey} and delivery.status = 'pending'`);
  return rows.map(({ id }) => id);
}

/** Ids in addresses may be larger than the column holds; compared as bigint they are simply unknown. */
const subscriptionIs = (id: number): SQL => sql`${webhookSubscriptions.id} = ${id}::bigint`;
const owned = (customerId: string, id: number) =>
  and(subscriptionIs(id), eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt));
const pending = ({ deliveryId, redelivery }: DeliveryRef) =>
  and(
    eq(webhookDeliveries.id, deliveryId),
    eq(webhookDeliveries.redeliveries, redelivery),
    eq(webhookDeliveries.status, 'pending'),
  );

const WEBHOOK = {
  id: webhookSubscriptions.id,
  url: webhookSubscriptions.url,
  events: webhookSubscriptions.events,
  description: webhookSubscriptions.description,
  active: webhookSubscriptions.active,
  created_at: webhookSubscriptions.createdAt,
};

const DELIVERY = {
  id: webhookDeliveries.id,
  endpoint_id: webhookDeliveries.subscriptionId,
  url: webhookSubscriptions.url,
  event_type: webhookDeliveries.eventType,
  status: webhookDeliveries.status,
  attempt_count: webhookDeliveries.attemptCount,
  redeliveries: webhookDeliveries.redeliveries,
  created_at: webhookDeliveries.createdAt,
  completed_at: webhookDeliveries.completedAt,
  attempts: sql<DeliveryRow['attempts']>`(
    select coalesce(json_agg(json_build_object(
      'attempt', attempt.attempt, 'ts', attempt.ts, 'status_code', attempt.status_code,
      'duration_ms', attempt.duration_ms, 'error', attempt.error, 'response_excerpt', attempt.response_excerpt
    ) order by attempt.attempt), '[]')
    from ${webhookDeliveryAttempts} attempt where attempt.delivery_id = ${webhookDeliveries.id})`,
};

/** What starting the workflow of a delivery takes. */
const STARTABLE = {
  customerId: webhookDeliveries.customerId,
  deliveryId: webhookDeliveries.id,
  redelivery: webhookDeliveries.redeliveries,
  eventType: sql<WebhookEvent>`${webhookDeliveries.eventType}`,
  workspaceId: workspaces.identityWorkspaceId,
};

const STARTED_ATTEMPT = {
  number: webhookDeliveries.attemptCount,
  customerId: webhookDeliveries.customerId,
  eventType: webhookDeliveries.eventType,
  body: webhookDeliveries.body,
  url: webhookSubscriptions.url,
  sealedSecret: webhookSubscriptions.sealedSecret,
  sealedPreviousSecret: webhookSubscriptions.sealedPreviousSecret,
  previousSecretUntil: webhookSubscriptions.previousSecretUntil,
};

export const createWebhookStore = (db: Database) => {
  const log = () =>
    db.orm
      .select(DELIVERY)
      .from(webhookDeliveries)
      .innerJoin(webhookSubscriptions, eq(webhookSubscriptions.id, webhookDeliveries.subscriptionId))
      .$dynamic();

  /** @throws Problem not_found */
  async function getDelivery(customerId: string, id: string): Promise<DeliveryRow> {
    const [row] = await log().where(and(eq(webhookDeliveries.customerId, customerId), eq(webhookDeliveries.id, id)));
    return found(row);
  }

  const startable = (which: SQL | undefined) =>
    db.orm
      .select(STARTABLE)
      .from(webhookDeliveries)
      .innerJoin(workspaces, eq(workspaces.customerId, webhookDeliveries.customerId))
      .where(and(eq(webhookDeliveries.status, 'pending'), which))
      .orderBy(asc(webhookDeliveries.id))
      .$dynamic();

  return {
    async insertSubscription(row: Omit<typeof webhookSubscriptions.$inferInsert, 'id'>) {
      const [webhook] = await db.orm.insert(webhookSubscriptions).values(row).returning(WEBHOOK);
      return webhook!;
    },

    listSubscriptions: (customerId: string) =>
      db.orm
        .select(WEBHOOK)
        .from(webhookSubscriptions)
        .where(and(eq(webhookSubscriptions.customerId, customerId), isNull(webhookSubscriptions.deletedAt)))
        .orderBy(asc(webhookSubscriptions.id)),

    /**
     * @returns the deliveries that were queued and now are dropped
     * @throws Problem not_found
     */
    deleteSubscription: (customerId: string, id: number): Promise<DeliveryRef[]> =>
      db.transaction(async () => {
        const [deleted] = await db.orm
          .update(webhookSubscriptions)
          .set({ active: false, deletedAt: sql`now()` })
          .where(owned(customerId, id))
          .returning({ id: webhookSubscriptions.id });
        return db.orm
          .update(webhookDeliveries)
          .set({ status: 'dropped', completedAt: sql`now()` })
          .where(and(eq(webhookDeliveries.subscriptionId, found(deleted).id), eq(webhookDeliveries.status, 'pending')))
          .returning({ deliveryId: webhookDeliveries.id, redelivery: webhookDeliveries.redeliveries });
      }),

    /** @throws Problem not_found */
    async rotateSecret(customerId: string, id: number, sealedSecret: string, previousSecretUntil: Date): Promise<void> {
      const [rotated] = await db.orm
        .update(webhookSubscriptions)
        .set({ sealedPreviousSecret: webhookSubscriptions.sealedSecret, previousSecretUntil, sealedSecret })
        .where(owned(customerId, id))
        .returning({ id: webhookSubscriptions.id });
      found(rotated);
    },

    async listDeliveries(customerId: string, { limit, offset, status, endpoint }: DeliveryQuery) {
      const counted: Counted<'webhook_deliveries'> = {
        list: 'webhook_deliveries',
        customerId,
        filter: { status, endpoint },
      };
      const start = await findPage(db, counted, offset);
      const page = db.orm
        .select({ id: webhookDeliveries.id })
        .from(webhookDeliveries)
        .where(
          and(
            eq(webhookDeliveries.customerId, customerId),
            // Known when the statement is planned, so that the index of the rare ones serves it.
            status && sql`${webhookDeliveries.status} = ${sql.raw(`'${status}'`)}`,
            endpoint === undefined ? undefined : sql`${webhookDeliveries.subscriptionId} = ${endpoint}::bigint`,
            belowPlace(webhookDeliveries.id, start),
          ),
        )
        .orderBy(desc(webhookDeliveries.id))
        .limit(limit)
        .offset(start.offset);
      const data = await log()
        .where(sql`${webhookDeliveries.id} in ${page}`)
        .orderBy(desc(webhookDeliveries.id));
      return { data, total: await countRows(db, counted) };
    },

    getDelivery,

    /**
     * Makes an ended delivery pending again, under the next number.
     * @throws Problem not_found, also where its endpoint was deleted; delivery_in_flight
     */
    async redeliver(customerId: string, id: string): Promise<void> {
      const [again] = await db.orm
        .update(webhookDeliveries)
        .set({ status: 'pending', redeliveries: sql`${webhookDeliveries.redeliveries} + 1`, completedAt: null })
        .from(webhookSubscriptions)
        .where(
          and(
            eq(webhookDeliveries.customerId, customerId),
            eq(webhookDeliveries.id, id),
            ne(webhookDeliveries.status, 'pending'),
            eq(webhookSubscriptions.id, webhookDeliveries.subscriptionId),
            isNull(webhookSubscriptions.deletedAt),
          ),
        )
        .returning({ id: webhookDeliveries.id });
      if (again) return;
      const { status } = await getDelivery(customerId, id);
      throw status === 'pending'
        ? new Problem('delivery_in_flight')
        : new Problem('not_found', 'its endpoint was deleted');
    },

    /**
     * Counts an attempt before it is made, so that its number is its own even if the worker dies in it.
     * @returns undefined when there is nothing to send any more
     */
    async startAttempt(ref: DeliveryRef) {
      const ofItsEndpoint = eq(webhookSubscriptions.id, webhookDeliveries.subscriptionId);
      const [attempt] = await db.orm
        .update(webhookDeliveries)
        .set({ attemptCount: sql`${webhookDeliveries.attemptCount} + 1` })
        .from(webhookSubscriptions)
        .where(and(pending(ref), ofItsEndpoint, isNull(webhookSubscriptions.deletedAt)))
        .returning(STARTED_ATTEMPT);
      if (attempt) return attempt;
      // Inserted while its endpoint was being deleted, hence not seen by that deletion.
      await db.orm
        .update(webhookDeliveries)
        .set({ status: 'dropped', completedAt: sql`now()` })
        .from(webhookSubscriptions)
        .where(and(pending(ref), ofItsEndpoint, isNotNull(webhookSubscriptions.deletedAt)));
      return undefined;
    },

    /** Adds the attempt to the log, and ends the delivery unless another attempt is to follow. */
    recordAttempt: (
      ref: DeliveryRef,
      status: DeliveryStatus,
      attempt: Omit<typeof webhookDeliveryAttempts.$inferInsert, 'deliveryId'>,
    ): Promise<void> =>
      db.transaction(async () => {
        await db.orm
          .insert(webhookDeliveryAttempts)
          .values({ deliveryId: ref.deliveryId, ...attempt })
          .onConflictDoNothing();
        if (status === 'pending') return;
        await db.orm
          .update(webhookDeliveries)
          .set({ status, completedAt: sql`now()` })
          .where(pending(ref));
      }),

    async recordExhausted(ref: DeliveryRef): Promise<void> {
      await db.orm
        .update(webhookDeliveries)
        .set({ status: 'exhausted', completedAt: sql`now()` })
        .where(pending(ref));
    },

    /** Of these, what still waits to be sent; of any workspace, as whoever asks has just recorded them. */
    listStartable: (ids: readonly string[]) => startable(inArray(webhookDeliveries.id, [...ids])),

    /** Of all workspaces, for housekeeping: what waits for longer than that, in pages by id. */
    listPending: ({ olderThanS, after, limit }: PendingPage) =>
      startable(
        and(
          lt(webhookDeliveries.createdAt, sql`now() - make_interval(secs => ${olderThanS})`),
          after === undefined ? undefined : gt(webhookDeliveries.id, after),
        ),
      ).limit(limit),
  };
};
