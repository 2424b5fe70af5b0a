/** What is posted to a destination of the kind `webhook`, as the OpenAPI document of the control plane tells it. */
import { z } from 'zod';
import type { Announcement } from '../../../platform/http/announcement.ts';
import { Timestamp } from '../../../platform/http/schemas.ts';
import { ARTIFACT_FINISHED } from '../model.ts';

const Artifact = z.object({
  delivery_id: z.string().describe('The same in each attempt'),
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

export const OUTPUT_WEBHOOKS: Readonly<Record<typeof ARTIFACT_FINISHED, Announcement>> = {
  [ARTIFACT_FINISHED]: {
    event: ARTIFACT_FINISHED,
    summary: 'A phase of a project has finished an artifact',
    headers: z.object({
      'x-service-event': z.literal(ARTIFACT_FINISHED),
      'x-service-delivery': z.string().describe('`data.delivery_id`'),
      'x-service-signature': z
        .string()
        .optional()
        .describe('Where the destination has a secret: signed with it, as webhooks are'),
    }),
    body: z
      .object({
        type: z.literal(ARTIFACT_FINISHED),
        created_at: z.int().describe('Unix seconds of this attempt'),
        data: Artifact,
      })
      .meta({ id: `WebhookOf.${ARTIFACT_FINISHED}` }),
    answers: 'Any 2xx takes it. 429, 5xx and silence are tried again, any other answer is not.',
  },
};
