/** Sends a signed POST, as webhooks are signed: of an artifact, with the artifact in it. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import { discard } from '../../../platform/egress/read-capped.ts';
import type { DestinationTarget } from '../contract.ts';
import { ARTIFACT_FINISHED } from '../model.ts';
import { fileOf, refusedWith, type DeliveredOutput } from './output.ts';

type WebhookConfig = Extract<DestinationTarget, { kind: 'webhook' }>['config'];
/** Signs as outbound webhooks do. */
export type Sign = (secrets: readonly string[], body: string, t: number) => string;

interface WebhookDependencies {
  fetch: GuardedFetch;
  sign: Sign;
}

interface Announced {
  event: string;
  deliveryId: string;
  /** What the event says, without the delivery's id. */
  data: object;
}

/** @throws OutputError */
export async function postSigned(
  { fetch, sign }: WebhookDependencies,
  { url, secret }: WebhookConfig,
  { event, deliveryId, data }: Announced,
  signal?: AbortSignal,
): Promise<void> {
  const t = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({ type: event, created_at: t, data: { delivery_id: deliveryId, ...data } });
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-event': event,
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

export async function sendWebhook(
  deps: WebhookDependencies,
  config: WebhookConfig,
  output: DeliveredOutput,
  signal?: AbortSignal,
): Promise<void> {
  const { deliveryId, project, artifact, isSample } = output;
  const { contentType } = fileOf(output);
  const announced = {
    event: ARTIFACT_FINISHED,
    deliveryId,
    data: {
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
      ...(isSample && { sample: true }),
    },
  };
  await postSigned(deps, config, announced, signal);
}
