/**
 * What is posted to a registered URL, as the OpenAPI document of the public API tells it. What is sent is written by
 * the statements that end a run or complete a project; a test holds both against each other.
 */
import { z } from 'zod';
import type { Announcement } from '../../../platform/http/announcement.ts';
import { Timestamp, Usd } from '../../../platform/http/schemas.ts';
import type { WebhookEvent } from '../model.ts';

const CreatedAt = z.int().describe('Unix seconds at which it happened');

const RunOutcome = z.object({
  run_id: z.string().describe('Tells a repeated delivery from another'),
  agent: z.string().nullable(),
  status: z.enum(['succeeded', 'failed']),
  output: z.string().nullable().describe('The reply; null where there is none'),
});

const ProjectOutcome = z.object({
  project_id: z.string().describe('Tells a repeated delivery from another'),
  title: z.string(),
  workflow_slug: z.string(),
  workflow_version: z.int(),
  status: z.literal('completed'),
  cost_total_usd: Usd,
  completed_at: Timestamp,
});

const SIGNATURE =
  '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>` under the secret of the endpoint. While a secret is ' +
  'being replaced there is one `v1` for each, that of the new one last. Refuse a `t` that is more than 300 s away';

const headersFor = (event: WebhookEvent) =>
  z.object({
    'x-service-event': z.literal(event),
    'x-service-event-id': z.string().describe('What is told: the same for each endpoint that is told of it'),
    'x-service-delivery': z
      .uuid()
      .describe('The same in each attempt and redelivery; the log of deliveries has it as `id`'),
    'x-service-signature': z.string().describe(SIGNATURE),
    'x-service-event-cursor': z
      .string()
      .optional()
      .describe('Where this is in the order of the workspace: `GET /v1/live` goes on after it'),
  });

const announced = (event: WebhookEvent, summary: string, data: z.ZodType): Announcement => ({
  event,
  summary,
  headers: headersFor(event),
  body: z.object({ type: z.literal(event), created_at: CreatedAt, data }).meta({ id: `WebhookOf.${event}` }),
  answers: 'Any 2xx within 10 s takes it. 429, 5xx and silence are tried again, any other answer is not.',
});

export const WEBHOOKS: Readonly<Record<WebhookEvent, Announcement>> = {
  'run.succeeded': announced('run.succeeded', 'A run that was asked for has succeeded', RunOutcome),
  'run.failed': announced('run.failed', 'A run that was asked for has failed', RunOutcome),
  'project.completed': announced('project.completed', 'A project is completed', ProjectOutcome),
};
