/**
 * How many tools a request may have. A provider refuses the whole request for one more, so that a model is offered no more.
 * A server of the OpenAI protocol is known by its address; of others nothing is known.
 */
import type { ModelCredentials, ResolvedModel } from './types.ts';

/** As the providers document it, or say when they refuse (`array_above_max_length`, `maximum number of items is 128`). */
const OF_HOSTS = {
  'api.openai.com': 128,
  'openai.azure.com': 128,
  'api.deepseek.com': 128,
  'api.groq.com': 128,
  'api.x.ai': 200,
  'generativelanguage.googleapis.com': 512,
} as const;
const OF_PROVIDERS: { readonly [Name in ResolvedModel['provider']]?: number } = {
  openai: OF_HOSTS['api.openai.com'],
  'azure-openai': OF_HOSTS['openai.azure.com'],
  google: OF_HOSTS['generativelanguage.googleapis.com'],
  'google-vertex': OF_HOSTS['generativelanguage.googleapis.com'],
};

/** @returns the most tools that a request to the provider may have */
export function mostTools({ provider }: Pick<ResolvedModel, 'provider'>, credentials: ModelCredentials): number {
  const server = credentials['openai-compatible'];
  if (provider !== 'openai-compatible' || !server) return OF_PROVIDERS[provider] ?? Infinity;
  const { hostname } = new URL(server.baseUrl);
  const [, most = Infinity] = Object.entries(OF_HOSTS).find(([host]) => `.${hostname}`.endsWith(`.${host}`)) ?? [];
  return most;
}
