/** https://learn.microsoft.com/azure/ai-foundry/openai/latest: OpenAI's responses, at an address of the resource. */
import { fileURLToPath } from 'node:url';
import { AZURE_ENV, AZURE_FAILURES } from '../azure.ts';
import { KEY } from '../fixture.ts';
import { responsesCases } from './openai.ts';
import type { Wire } from './wire.ts';

export const AZURE: Wire = {
  label: 'Azure OpenAI',
  model: 'azure/our-gpt',
  // Nothing is known of a deployment but what the operator says.
  env: { ...AZURE_ENV, MODEL_CATALOGUE: fileURLToPath(new URL('azure-models.yaml', import.meta.url)) },
  path: '/v1/responses',
  headers: { 'api-key': KEY },
  cases: responsesCases('our-gpt', 'system', AZURE_FAILURES),
};
