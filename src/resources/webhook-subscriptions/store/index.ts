/**
 * Queries on webhook deliveries and attempts; those on endpoints lie beside them and come along. A delivery is written
 * only while it is `pending` and only for its latest redelivery. So whatever comes late (a retried activity, a workflow
 * that was overtaken) changes nothing.
 */
import { and, asc, desc, eq, inArray, isNotNull, isNull, ne, or, sql, type SQL } from 'drizzle-orm';
import { createCircuits, type Receivers } from '../../../platform/db/circuit.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import { behindOf, putOff, takeDue, type ClaimQueue, type Turn } from '../../../platform/db/in-turn.ts';
import { START_AGAIN_MS } from '../../../platform/temporal/starting.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Place } from '../../event-log/model.ts';
import { insertLogEvent } from '../../event-log/store/write.ts';
import { belowPlace, countRows, findPage, listFilters } from '../../tallies/store.ts';
import { workspaces } from '../../workspaces/table.ts';
import type { WebhookDeliveryQuery, WebhookDeliveryRow } from '../contract.ts';
import { createEndpointRows, type SealedSecrets } from './endpoints.ts';
import { PAUSE_AFTER_MS, type DeliveryRef, type DeliveryStatus, type WebhookEvent } from '../model.ts';
import { webhookDeliveries, webhookDeliveryAttempts, webhookEvents, webhookSubscriptions } from '../table.ts';

export type WebhookStore = ReturnType<typeof createWebhookStore>;
export type StartableDelivery = Awaited<ReturnType<WebhookStore['listStartable']>>[number];
export type StartedAttempt = NonNullable<Awaited<ReturnType<WebhookStore['startAttempt']>>>;

/** As the reference between the two says it. */
const OF_ITS_ENDPOINT = and(
  eq(webhookSubscriptions.id, webhookDeliveries.subscriptionId),
  eq(webhookSubscriptions.customerId, webhookDeliveries.customerId),
);

const pending = ({ deliveryId, redelivery }: DeliveryRef) =>
  and(
    eq(webhookDeliveries.id, deliveryId),
    eq(webhookDeliveries.redeliveries, redelivery),
    eq(webhookDeliveries.status, 'pending'),
  );

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
  attempts: sql<WebhookDeliveryRow['attempts']>`(
    select coalesce(json_agg(json_build_object(
      'attempt', attempt.attempt, 'ts', attempt.ts, 'status_code', attempt.status_code,
      'duration_ms', attempt.duration_ms, 'error', attempt.error, 'response_excerpt', attempt.response_excerpt
    ) order by attempt.attempt), '[]')
    from ${webhookDeliveryAttempts} attempt where attempt.delivery_id = ${webhookDeliveries.id})`,
};

/** What is counted before it is made and recorded after it is over. A delivery without any has not begun. */
const LATEST_ATTEMPT_IS_OVER = sql`exists (select 1 from ${webhookDeliveryAttempts} a
  where a.delivery_id = ${webhookDeliveries.id} and a.attempt = ${webhookDeliveries.attemptCount})`;

/** Starting the workflow of a delivery takes these columns. */
const STARTABLE = {
  customerId: webhookDeliveries.customerId,
  deliveryId: webhookDeliveries.id,
  redelivery: webhookDeliveries.redeliveries,
  eventType: sql<WebhookEvent>`${webhookDeliveries.eventType}`,
  workspaceId: workspaces.identityWorkspaceId,
};

const TARGET = {
  url: webhookSubscriptions.url,
  customerId: webhookSubscriptions.customerId,
  subscriptionId: webhookSubscriptions.id,
  sealedSecret: webhookSubscriptions.sealedSecret,
  /** Null as well once its time is over. */
  sealedPreviousSecret: sql<string | null>`case when ${webhookSubscriptions.previousSecretUntil} > now()
    then ${webhookSubscriptions.sealedPreviousSecret} end`,
};
/** Deliveries to an endpoint are signed with these. */
export type SigningSecrets = Omit<SealedSecrets, 'id'> & { subscriptionId: number };

const STARTED_ATTEMPT = {
  number: webhookDeliveries.attemptCount,
  eventType: webhookDeliveries.eventType,
  eventKey: webhookDeliveries.eventKey,
  body: sql<string>`(
    select event.body from ${webhookEvents} event
    where event.customer_id = ${webhookDeliveries.customerId} and event.event_key = ${webhookDeliveries.eventKey})`,
  /** The place, in the order of the workspace, of the event that is told; null where that is not kept any more. */
  place: sql<Place | null>`case split_part(${webhookDeliveries.eventKey}, ':', 1)
    when 'run' then (
      select jsonb_build_object('tx', e.tx, 'seq', e.seq) from run_events e
      where e.customer_id = ${webhookDeliveries.customerId} and e.key = 'end'
        and e.run_id = split_part(${webhookDeliveries.eventKey}, ':', 2))
    else (
      select jsonb_build_object('tx', e.tx, 'seq', e.seq) from project_events e
      where e.customer_id = ${webhookDeliveries.customerId} and e.topic = 'project_completed'
        and e.project_id = split_part(${webhookDeliveries.eventKey}, ':', 2)
        and e.payload ->> 'completions' = split_part(${webhookDeliveries.eventKey}, ':', 3)
      order by e.id limit 1) end`,
  ...TARGET,
};

const PENDING: ClaimQueue = { table: 'webhook_deliveries', at: 'due_at', open: sql`status = 'pending'` };
/** Tells how far behind housekeeping is, by its chore. */
export const WEBHOOKS_BEHIND = { startWebhooks: behindOf(PENDING) };

const ENDPOINTS: Receivers = { table: 'webhook_subscriptions', on: 'active', name: 'url' };

/**
 * @param options.pauseAfterMs an endpoint that takes nothing for this long is paused
 * @param options.lookAgainMs after this time somebody looks whether Temporal still has a delivery
 */
const chooseDeliveries = listFilters('webhook_deliveries', webhookDeliveries.customerId, {
  // The status is in the text of the statement, so that the planner knows it and uses the index of rare ones.
  status: (status: DeliveryStatus) => sql`${webhookDeliveries.status} = ${sql.raw(`'${status}'`)}`,
  endpoint: (endpoint: number) => sql`${webhookDeliveries.subscriptionId} = ${endpoint}::bigint`,
});

export const createWebhookStore = (db: Database, { pauseAfterMs = PAUSE_AFTER_MS, lookAgainMs = 300_000 } = {}) => {
  const { moveCircuit, ...pauses } = createCircuits(db, ENDPOINTS, pauseAfterMs);
  const endpointOf = ({ deliveryId }: DeliveryRef): SQL => sql`deleted_at is null and id = (
    select d.subscription_id from webhook_deliveries d where d.id = ${deliveryId})`;

  const log = () =>
    db.orm.select(DELIVERY).from(webhookDeliveries).innerJoin(webhookSubscriptions, OF_ITS_ENDPOINT).$dynamic();

  /** @throws Problem not_found */
  async function getDelivery(customerId: string, id: string): Promise<WebhookDeliveryRow> {
    const [row] = await log().where(and(eq(webhookDeliveries.customerId, customerId), eq(webhookDeliveries.id, id)));
    return found(row);
  }

  /** Whoever follows the workspace hears of it. */
  async function end(ref: DeliveryRef, status: DeliveryStatus): Promise<void> {
    await db.rows(sql`
      with ended as (
        update ${webhookDeliveries} set status = ${status}::webhook_delivery_status, completed_at = now()
        where ${pending(ref)} returning id, customer_id, subscription_id, event_type, event_key, attempt_count
      ) ${insertLogEvent(sql`ended`, {
        kind: 'delivery',
        topic: status,
        subject: sql`guard.id`,
        customerId: sql`guard.customer_id`,
        // `run:<id>`, or `project:<id>:<completion>`.
        runId: sql`case when guard.event_key like 'run:%' then split_part(guard.event_key, ':', 2) end`,
        projectId: sql`case when guard.event_key like 'project:%' then split_part(guard.event_key, ':', 2) end`,
        payload: sql`jsonb_build_object('event_type', guard.event_type, 'endpoint_id', guard.subscription_id,
          'attempts', guard.attempt_count)`,
      })}`);
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
    ...createEndpointRows(db),
    ...pauses,

    async listDeliveries(customerId: string, { limit, offset, ...filter }: WebhookDeliveryQuery) {
      const { where, tallied } = chooseDeliveries(customerId, filter);
      const start = await findPage(db, tallied, offset);
      const page = db.orm
        .select({ id: webhookDeliveries.id })
        .from(webhookDeliveries)
        .where(and(where, belowPlace(webhookDeliveries.id, start)))
        .orderBy(desc(webhookDeliveries.id))
        .limit(limit)
        .offset(start.offset);
      const data = await log()
        .where(sql`${webhookDeliveries.id} in ${page}`)
        .orderBy(desc(webhookDeliveries.id));
      return { data, total: await countRows(db, tallied) };
    },

    getDelivery,

    /**
     * Makes a delivery pending again, under the next number: one that has ended, or that waits for another attempt. The
     * sending that waits finds nothing under its number any more.
     * @throws Problem not_found, also where its endpoint was deleted; delivery_in_flight
     */
    async redeliver(customerId: string, id: string): Promise<void> {
      const [again] = await db.orm
        .update(webhookDeliveries)
        .set({
          status: 'pending',
          completedAt: null,
          redeliveries: sql`${webhookDeliveries.redeliveries} + 1`,
          dueAt: sql`default`,
        })
        .from(webhookSubscriptions)
        .where(
          and(
            eq(webhookDeliveries.customerId, customerId),
            eq(webhookDeliveries.id, id),
            or(ne(webhookDeliveries.status, 'pending'), LATEST_ATTEMPT_IS_OVER),
            OF_ITS_ENDPOINT,
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

    /** @returns the endpoint; undefined where nothing is left to send */
    async loadTarget(ref: DeliveryRef): Promise<(SigningSecrets & { url: string }) | undefined> {
      const [target] = await db.orm
        .select(TARGET)
        .from(webhookDeliveries)
        .innerJoin(webhookSubscriptions, OF_ITS_ENDPOINT)
        .where(pending(ref));
      return target;
    },

    /**
     * Counts an attempt before it is made, so that its number is its own even if the worker dies in it.
     * @returns undefined where nothing is left to send
     */
    async startAttempt(ref: DeliveryRef) {
      const [attempt] = await db.orm
        .update(webhookDeliveries)
        .set({ attemptCount: sql`${webhookDeliveries.attemptCount} + 1` })
        .from(webhookSubscriptions)
        .where(and(pending(ref), OF_ITS_ENDPOINT, isNull(webhookSubscriptions.deletedAt)))
        .returning(STARTED_ATTEMPT);
      if (attempt) return attempt;
      // The delivery was inserted while its endpoint was being deleted, so that deletion did not see it.
      await db.orm
        .update(webhookDeliveries)
        .set({ status: 'dropped', completedAt: sql`now()` })
        .from(webhookSubscriptions)
        .where(and(pending(ref), OF_ITS_ENDPOINT, isNotNull(webhookSubscriptions.deletedAt)));
      return undefined;
    },

    /**
     * Adds the attempt to the log, and ends the delivery unless another attempt follows. The row of the endpoint is
     * locked first.
     */
    recordAttempt: (
      ref: DeliveryRef,
      status: DeliveryStatus,
      attempt: Omit<typeof webhookDeliveryAttempts.$inferInsert, 'deliveryId'>,
    ): Promise<void> =>
      db.transaction(async () => {
        await moveCircuit(endpointOf(ref), status === 'delivered');
        await db.orm
          .insert(webhookDeliveryAttempts)
          .values({ deliveryId: ref.deliveryId, ...attempt })
          .onConflictDoNothing();
        if (status !== 'pending') await end(ref, status);
      }),

    recordExhausted: (ref: DeliveryRef): Promise<void> => end(ref, 'exhausted'),

    /** @returns those that still wait to be sent, of any workspace, because the caller has just recorded them */
    listStartable: (ids: readonly string[]) => startable(inArray(webhookDeliveries.id, [...ids])),

    /**
     * Takes deliveries of all workspaces for housekeeping: those that nobody knows to be under way, or has looked at
     * for long.
     */
    takeDue: (turn: Turn) => takeDue(db, PENDING, turn, START_AGAIN_MS),

    /** Notes that Temporal has these. */
    noteStarted: (started: readonly DeliveryRef[]) => putOff(db, PENDING, started, lookAgainMs),
  };
};

/** Selects `name` and `created_at` of the webhooks of a workspace. */
export const namedWebhooks = (customerId: string): SQL =>
  sql`select url as name, created_at from webhook_subscriptions where customer_id = ${customerId}`;

/** Selects `kind`, `status` and `created_at` of all deliveries of the deployment that are still to be sent. */
export const PENDING_WEBHOOKS: SQL = sql`
  select 'webhook_delivery', status::text, created_at from webhook_deliveries where status = 'pending'`;
