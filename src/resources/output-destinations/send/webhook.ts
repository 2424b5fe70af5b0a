/** Sends a signed POST with the artifact in it, signed as webhooks are. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import { discard } from '../../../platform/egress/read-capped.ts';
import type { DestinationTarget } from '../contract.ts';
import { ARTIFACT_FINISHED } from '../model.ts';
import { fileOf, refusedWith, type Output } from './output.ts';

type WebhookConfig = Extract<DestinationTarget, { kind: 'webhook' }>['config'];
/** Signs as outbound webhooks do. */
export type Sign = (secrets: readonly string[], body: string, t: number) => string;

export async function sendWebhook(
  { fetch, sign }: { fetch: GuardedFetch; sign: Sign },
  { url, secret }: WebhookConfig,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { deliveryId, project, artifact } = output;
  const { contentType } = fileOf(output);
  const t = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    type: ARTIFACT_FINISHED,
    created_at: t,
    data: {
      delivery_id: deliveryId,
      project_id: project.id,
      title: project.title,
      workflow_slug: project.workflowSlug,
      workflow_version: project.workflowVersion,
      artifact_id: artifact.id,
      phase_slug: artifact.phaseSlug,
      version: artifact.version,
      schema_slug: artifact.schemaSlug,
      content_type: contentType,
      created_at: artifact.createdAt.toISOString(),
      content: artifact.content,
    },
  });
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-event': ARTIFACT_FINISHED,
      'x-service-delivery': deliveryId,
      ...(secret !== undefined && { 'x-service-signature': sign([secret], body, t) }),
    },
    body,
    // A redirect is an answer, and not 2xx: the tenant named this address and no other.
    redirect: 'manual',
    signal,
  });
  await discard(response);
  if (!response.ok) throw refusedWith(response.status, 'the receiver');
}
