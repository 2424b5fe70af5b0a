/**
 * One of each thing that a workspace can own, made through the API. Every text in it carries the workspace's mark, so
 * that a search for the mark finds whatever of it shows up elsewhere. Another kind of thing is another line here.
 */
import sharp from 'sharp';
import { newRunId, newUuid } from '../../src/platform/core/ids.ts';
import { endpoints } from './endpoints.ts';
import { send } from './send.ts';
import { eventually, type Tenant, type TestService } from './service.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** By the words that examples use for them. */
export interface Belongings {
  apiKeyId: number;
  agentSlug: string;
  runId: string;
  threadId: string;
  webhookId: number;
  deliveryId: string;
}

/** Well-formed, and nobody's. */
export const NOBODYS: Belongings = {
  apiKeyId: 2_000_000_001,
  agentSlug: 'nobodys-agent',
  runId: newRunId(),
  threadId: 'nobodys-thread',
  webhookId: 2_000_000_001,
  deliveryId: newUuid(),
};

export const picture = async (): Promise<Uint8Array<ArrayBuffer>> => {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#a33' } });
  return new Uint8Array(await image.png().toBuffer());
};

/** @param mark lower-case letters, digits and dashes: it becomes part of a slug too */
export async function makeBelongings(
  service: TestService,
  tenant: Tenant,
  receiver: WebhookReceiver,
  mark: string,
): Promise<Belongings> {
  const made = async (answer: ReturnType<Tenant['cp']>) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`not made: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { id: apiKeyId } = await made(tenant.cp('POST', '/v1/api-keys', { name: `${mark} key` }));
  const agentSlug = `${mark}-agent`;
  await made(
    tenant.cp('POST', '/v1/agents', {
      slug: agentSlug,
      model: 'offline',
      prompt: `${mark} prompt`,
      description: `${mark} description`,
      allowed_tool_slugs: ['save_artifact', 'spawn_run'],
      default_workspace: `${mark} workspace`,
    }),
  );
  await made(tenant.cp('PATCH', `/v1/agents/${agentSlug}/voice`, { voice: `${mark} voice` }));
  const putAvatar = endpoints.find(({ id }) => id === 'agents.putAvatar')!;
  await made(send(service, tenant, putAvatar, { params: { slug: agentSlug }, file: await picture() }));
  const { id: webhookId } = await made(
    tenant.api('POST', '/v1/webhooks', { url: `${receiver.url}/${mark}`, description: `${mark} webhook` }),
  );

  const threadId = `${mark} thread`;
  const file = JSON.stringify({ filename: `${mark}.md`, content: `${mark} content` });
  const prompt = `${mark} question [[tool:save_artifact ${file}]]`;
  const { run_id: runId, status } = await tenant.run({ agent: agentSlug, prompt, thread_id: threadId });
  if (status !== 'succeeded') throw new Error(`the run ${status}`);
  const deliveryId = await eventually(async () => {
    const { body } = await tenant.cp('GET', '/v1/webhook-deliveries');
    const [delivery] = body.data as { id: string; status: string }[];
    if (delivery?.status !== 'delivered') throw new Error('not delivered yet');
    return delivery.id;
  });
  return { apiKeyId, agentSlug, runId, threadId, webhookId, deliveryId };
}
