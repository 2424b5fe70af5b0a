/** What is posted to a destination of the kind `webhook`, as the OpenAPI document of the control plane tells it. */
import { z } from 'zod';
import type { Announcement } from '../../../platform/http/announcement.ts';
import { Timestamp } from '../../../platform/http/schemas.ts';
import { SPENDING_EVENTS } from '../../cost/notices/model.ts';
import { ARTIFACT_FINISHED, WAIT_EVENTS } from '../model.ts';

const deliveryId = z.string().describe('The same in each attempt');

const Artifact = z.object({
  delivery_id: deliveryId,
  project_id: z.string(),
  title: z.string(),
  workflow_slug: z.string(),
  workflow_version: z.int(),
  artifact_id: z.string(),
  phase_slug: z.string(),
  version: z.int(),
  schema_slug: z.string(),
  content_type: z.string(),
  created_at: Timestamp,
  content: z.unknown().describe('As the phase made it'),
});

const Wait = z.object({
  delivery_id: deliveryId,
  wait_id: z.uuid(),
  revision: z.int().describe('What was told of. An answer names it, and is refused where the wait has changed since'),
  nth: z.int().describe('Which reminder it is, counted from one'),
  kind: z.string(),
  title: z.string().describe('What is asked, in a line'),
  status: z.enum(['open', 'settled']).describe('When it was sent: an answer may have come before the notice'),
  project_id: z.string().nullable(),
  project_title: z.string().nullable(),
  workflow_slug: z.string().nullable(),
  phase_slug: z.string().nullable(),
  step_slug: z.string().nullable(),
  run_id: z.string().nullable(),
  opened_at: Timestamp,
  due_at: Timestamp.nullable(),
  settled_at: Timestamp.nullable(),
  answer: z.string().nullable(),
  settled_by: z.string().nullable(),
  url: z.string().describe('Where it is answered, in the console'),
});

const Spending = z.object({
  delivery_id: deliveryId,
  title: z.string().describe('In a line'),
  cap_id: z.string().nullable().describe('`workspace.month`, `agent.writer.day`, `api-key.12.month`'),
  threshold: z.int().nullable().describe('Percent of the limit'),
  spent_usd: z.string().nullable(),
  limit_usd: z.string().nullable(),
  usual_usd: z.string().nullable().optional().describe('Of a surge: what an hour costs on average'),
  run_id: z.string().nullable().describe('Whose call had no known price; of a surge the dearest'),
});

type SpendingEvent = (typeof SPENDING_EVENTS)[keyof typeof SPENDING_EVENTS];
type OutputEvent = SpendingEvent | typeof ARTIFACT_FINISHED | (typeof WAIT_EVENTS)[keyof typeof WAIT_EVENTS];

const announced = (event: OutputEvent, summary: string, data: z.ZodObject): Announcement => ({
  event,
  summary,
  headers: z.object({
    'x-service-event': z.literal(event),
    'x-service-delivery': z.string().describe('`data.delivery_id`'),
    'x-service-signature': z
      .string()
      .optional()
      .describe('Where the destination has a secret: signed with it, as webhooks are'),
  }),
  body: z
    .object({ type: z.literal(event), created_at: z.int().describe('Unix seconds of this attempt'), data })
    .meta({ id: `WebhookOf.${event}` }),
  answers: 'Any 2xx takes it. 429, 5xx and silence are tried again, any other answer is not.',
});

export const OUTPUT_WEBHOOKS: Readonly<Record<OutputEvent, Announcement>> = {
  [ARTIFACT_FINISHED]: announced(ARTIFACT_FINISHED, 'A phase of a project has finished an artifact', Artifact),
  [WAIT_EVENTS.opened]: announced(
    WAIT_EVENTS.opened,
    'Something waits for an answer, or for another one than before',
    Wait,
  ),
  [WAIT_EVENTS.reminder]: announced(WAIT_EVENTS.reminder, 'It still waits', Wait),
  [WAIT_EVENTS.escalated]: announced(WAIT_EVENTS.escalated, 'It is overdue, and others may answer as well', Wait),
  [WAIT_EVENTS.settled]: announced(WAIT_EVENTS.settled, 'It was answered, or what it was about moved on', Wait),
  [SPENDING_EVENTS.threshold]: announced(SPENDING_EVENTS.threshold, 'So much of a cap is spent', Spending),
  [SPENDING_EVENTS.surge]: announced(SPENDING_EVENTS.surge, 'An hour cost several times what is usual', Spending),
  [SPENDING_EVENTS.unpriced]: announced(SPENDING_EVENTS.unpriced, 'A call had no known price', Spending),
};
