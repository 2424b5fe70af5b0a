/**
 * Records the deliveries that an event sets off: one for each endpoint that wants it, written with what makes the event
 * true.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { ALL_EVENTS, type WebhookEvent } from '../model.ts';
import { webhookDeliveries, webhookEvents, webhookSubscriptions } from '../table.ts';

export interface WebhookMessage {
  customerId: string;
  eventType: WebhookEvent;
  /** It names what happened, for example `run:<id>`, so that an endpoint hears of it once. */
  eventKey: string;
  data: Record<string, unknown>;
  /** Unix seconds; the present where it is not given. */
  createdAtS?: number;
}

/** It is a uuid v7, so that the log sorts by time although the ids are made inside the statement. */
const UUID_V7 = sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`;

/**
 * The outbox as part of the statement that makes an event true, if the CTE `guard` has a row: CTEs of what is told, once,
 * and `deliveries`, the `id` of one for each endpoint that wants it.
 */
export function outboxCtes(guard: SQL, { customerId, eventType, eventKey, data, createdAtS }: WebhookMessage): SQL {
  const body = JSON.stringify({ type: eventType, created_at: createdAtS ?? Math.floor(Date.now() / 1000), data });
  return sql`
    hearing as (
      select endpoint.id from ${guard} guard, ${webhookSubscriptions} endpoint
      where endpoint.customer_id = ${customerId} and endpoint.deleted_at is null and endpoint.active
        and endpoint.events && array[${eventType}, ${ALL_EVENTS}]
    ), told as (
      insert into ${webhookEvents} (customer_id, event_key, body)
      select ${customerId}::text, ${eventKey}::text, ${body}::text where exists (select 1 from hearing)
      on conflict do nothing
    ), deliveries as (
      insert into ${webhookDeliveries} (id, customer_id, subscription_id, event_type, event_key)
      select ${UUID_V7}, ${customerId}::text, hearing.id, ${eventType}::text, ${eventKey}::text from hearing
      on conflict (event_key, subscription_id) do nothing
      returning id
    )`;
}

/** Selects the `id` of each delivery of an event that is still to be sent. */
export const pendingDeliveries = (customerId: SQL | string, eventKey: SQL | string): SQL => sql`
  select delivery.id from ${webhookDeliveries} delivery
  join ${webhookSubscriptions} endpoint on endpoint.id = delivery.subscription_id and endpoint.customer_id = delivery.customer_id
  where endpoint.customer_id = ${customerId} and endpoint.deleted_at is null
    and delivery.event_key = ${eventKey} and delivery.status = 'pending'`;

/**
 * The outbox as a statement of its own, for the transaction that makes an event true. Repeating it adds nothing.
 * @param more parts of the same statement, of which each begins with a comma
 * @returns ids of what is to be sent for this event, including those of an earlier call
 */
export async function insertDeliveries(db: Database, message: WebhookMessage, more = sql``): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    with always as (select 1), ${outboxCtes(sql`always`, message)}${more}
    select id from deliveries
    union all ${pendingDeliveries(message.customerId, message.eventKey)}`);
  return rows.map(({ id }) => id);
}
