/**
 * How to ask each endpoint for something that a workspace owns. Every endpoint that takes anything of the caller needs
 * its line: the tenancy test asks it as another workspace, and fails for an endpoint without one.
 */
import { picture, type Belongings } from './belongings.ts';
import type { RequestParts } from './send.ts';

/** Whatever can be named, in the path, the query or the body, comes from `of`. */
export type Example = (of: Belongings) => RequestParts | Promise<RequestParts>;

const agent: Example = ({ agentSlug }) => ({ params: { slug: agentSlug } });
const run: Example = ({ runId }) => ({ params: { run_id: runId } });
const webhook: Example = ({ webhookId }) => ({ params: { id: webhookId } });
const runOfAgent: Example = ({ agentSlug }) => ({ body: { agent: agentSlug, prompt: 'Say something.' } });

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'api-keys.create': () => ({ body: { name: 'another' } }),
  'api-keys.revoke': ({ apiKeyId }) => ({ params: { id: apiKeyId } }),

  'agents.create': () => ({ body: { slug: 'another', model: 'auto', prompt: 'You help.' } }),
  'agents.detail': agent,
  'agents.update': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { description: 'changed' } }),
  'agents.setModel': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { model: 'claude-haiku-4-5' } }),
  'agents.setVoice': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { voice: 'changed' } }),
  'agents.delete': agent,
  'agents.getAvatar': agent,
  'agents.putAvatar': async ({ agentSlug }) => ({ params: { slug: agentSlug }, file: await picture() }),
  'agents.deleteAvatar': agent,

  'runs.dispatch': runOfAgent,
  'runs.create': runOfAgent,
  'runs.get': run,
  'runs.list': ({ agentSlug }) => ({ query: { agent: agentSlug } }),
  'runs.events': run,
  'runs.detail': run,
  'runs.cancel': run,
  'runs.retry': run,
  'runs.costs': () => ({ query: { window: '24h' } }),
  'runs.context': run,
  'runs.contextContent': run,

  'webhooks.create': () => ({ body: { url: 'https://example.com/hook' } }),
  'webhooks.delete': webhook,
  'webhook-deliveries.list': ({ webhookId }) => ({ query: { endpoint: webhookId } }),
  'webhook-deliveries.redeliver': ({ deliveryId }) => ({ params: { id: deliveryId } }),
  'webhook-deliveries.rotateSecret': webhook,
};
