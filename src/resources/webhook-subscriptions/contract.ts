/** The HTTP contract of outbound webhooks: endpoints on the public API, the delivery log on the control plane. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { IntId, limit, listReply, offset, pageReply, Timestamp } from '../../platform/http/schemas.ts';
import { ALL_EVENTS, DELIVERY_STATUSES, WEBHOOK_EVENTS } from './model.ts';

const Webhook = z
  .object({
    id: z.int(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    active: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'Webhook' });

const Endpoint = Webhook.extend({
  failing_since: Timestamp.nullable().describe('The first failed attempt since it last took something'),
  paused_at: Timestamp.nullable().describe('Set where it is not active because it took nothing for days'),
}).meta({ id: 'WebhookEndpoint' });

const Attempt = z.object({
  attempt: z.int().describe('Counts on over redeliveries; a number is missing where a crash left no record'),
  ts: Timestamp,
  status_code: z.int().nullable().describe('Null when no answer came'),
  duration_ms: z.int(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable().describe('The first kilobyte of the answer'),
});

const Delivery = z
  .object({
    id: z.uuid(),
    endpoint_id: z.int(),
    url: z.string(),
    event_type: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempt_count: z.int(),
    redeliveries: z.int(),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
    attempts: z.array(Attempt),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDeliveryRow = z.input<typeof Delivery>;

const CreatedWebhook = Webhook.extend({ secret: z.string() }).meta({ id: 'NewWebhook' });

export const NewWebhook = z.object({
  url: z.string().min(1).max(2_048).describe('An https address that takes POST'),
  // The events are plain strings, as an unknown one is a 400 of its own and not a validation body.
  events: z
    .array(z.string().max(100))
    .min(1)
    .max(100)
    .default([ALL_EVENTS])
    .describe(`${WEBHOOK_EVENTS.join(', ')}, or ${ALL_EVENTS} for all, which is also what none means`),
  description: z.string().max(1_000).nullish(),
});
export type NewWebhook = z.output<typeof NewWebhook>;

const DeliveryQuery = z.object({
  limit: limit(500, 50),
  offset,
  status: z.enum(DELIVERY_STATUSES).optional(),
  endpoint: IntId.optional().describe('Id of an endpoint'),
});
export type WebhookDeliveryQuery = z.output<typeof DeliveryQuery>;

export const createWebhook = endpoint({
  id: 'webhooks.create',
  surface: 'public',
  path: '/v1/webhooks',
  summary: 'Register a URL that events are posted to',
  description: 'The signing secret is in this answer and in no other.',
  body: NewWebhook,
  status: 201,
  reply: CreatedWebhook,
  problems: ['unknown_event', 'invalid_url', 'plan_limit_exceeded'],
});

export const listWebhooks = endpoint({
  id: 'webhooks.list',
  surface: 'public',
  path: '/v1/webhooks',
  summary: 'List registered URLs, without their secrets',
  reply: listReply(Webhook),
});

export const deleteWebhook = endpoint({
  id: 'webhooks.delete',
  surface: 'public',
  method: 'delete',
  path: '/v1/webhooks/{id}',
  summary: 'Delete an endpoint and drop its queued deliveries',
  params: z.object({ id: IntId }),
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const listDeliveries = endpoint({
  id: 'webhook-deliveries.list',
  path: '/v1/webhook-deliveries',
  summary: 'Delivery log with attempts, newest first',
  query: DeliveryQuery,
  reply: pageReply(Delivery),
});

export const redeliver = endpoint({
  id: 'webhook-deliveries.redeliver',
  method: 'post',
  path: '/v1/webhook-deliveries/{id}/redeliver',
  audited: false,
  summary: 'Send a delivery once more, with eight new attempts',
  description:
    'One that has ended, or that waits for its next attempt after one that failed. One whose attempt is under way is `delivery_in_flight`.',
  params: z.object({ id: z.uuid() }),
  reply: Delivery,
  problems: ['not_found', 'delivery_in_flight'],
});

export const listEndpoints = endpoint({
  id: 'webhook-deliveries.listEndpoints',
  path: '/v1/webhook-deliveries/endpoints',
  summary: 'Endpoints with what their deliveries come to: since when they fail, and which are paused for that',
  reply: listReply(Endpoint),
});

export const createEndpoint = endpoint({
  id: 'webhook-deliveries.createEndpoint',
  path: '/v1/webhook-deliveries/endpoints',
  summary: 'Register a URL that events are posted to, as with an API key',
  description: 'The signing secret is in this answer and in no other.',
  body: NewWebhook.meta({ id: 'NewWebhookEndpoint' }),
  status: 201,
  reply: CreatedWebhook,
  problems: ['unknown_event', 'invalid_url', 'plan_limit_exceeded'],
});

export const deleteEndpoint = endpoint({
  id: 'webhook-deliveries.deleteEndpoint',
  method: 'delete',
  path: '/v1/webhook-deliveries/endpoints/{id}',
  summary: 'Delete an endpoint and drop its queued deliveries',
  params: z.object({ id: IntId }),
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const resumeEndpoint = endpoint({
  id: 'webhook-deliveries.resumeEndpoint',
  method: 'post',
  path: '/v1/webhook-deliveries/endpoints/{id}/resume',
  summary: 'Switch on an endpoint that was paused; a delivery that is sent again and taken does so too',
  params: z.object({ id: IntId }),
  reply: Endpoint,
  problems: ['not_found'],
});

export const rotateSecret = endpoint({
  id: 'webhook-deliveries.rotateSecret',
  method: 'post',
  path: '/v1/webhook-deliveries/endpoints/{id}/rotate-secret',
  summary: 'Replace the signing secret; the old one signs along for 24 hours',
  description:
    'Until then the new one is not replaced in its turn: a receiver that has not followed yet would be cut off.',
  params: z.object({ id: IntId }),
  reply: z.object({ id: z.int(), secret: z.string(), previous_secret_expires_at: Timestamp }),
  problems: ['not_found', 'rotation_under_way'],
});
