/**
 * The AI SDK's models, built for each call from that call's credentials: no key outlives its call, and a rotated one
 * counts at once. The SDK of a provider is loaded with the first call of one of its models.
 */
import type { LanguageModel } from 'ai';
import type { Config } from '../core/config.ts';
import type { GuardedFetch } from '../egress/egress.ts';
import { plainFetch } from '../egress/limits.ts';
import { mending } from './mended-lines.ts';
import { streaming } from './whole-replies.ts';
import { replyFetch, type ReplyLimits } from './reply-limits.ts';
import { PROVIDERS } from './catalogue.ts';
import {
  isWithoutProvider,
  ModelFailure,
  type CredentialOf,
  type ModelCredentials,
  type ProviderName,
  type ResolvedModel,
} from './types.ts';

/** A model object of the AI SDK, as opposed to the id of one at its gateway. */
export type SdkModel = Extract<LanguageModel, { specificationVersion: 'v3' }>;
export type CallOptions = Parameters<SdkModel['doGenerate']>[0];
export type Prompt = CallOptions['prompt'];

/** How a provider's model is made for one call. Whatever it fetches goes through one of these two. */
interface Making<Credential> {
  credential: Credential;
  model: string;
  fetch: typeof globalThis.fetch;
  /** Reaches public addresses only. Undefined: this deployment calls no server that a workspace names. */
  guardedFetch: typeof globalThis.fetch | undefined;
  config: Config;
}

const SDK_MODELS: { readonly [Name in ProviderName]: (making: Making<CredentialOf<Name>>) => Promise<SdkModel> } = {
  async anthropic({ credential: apiKey, model, fetch, config }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, baseURL: config.ANTHROPIC_BASE_URL, fetch: mending(fetch) })(model);
  },
  async openai({ credential: apiKey, model, fetch, config }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey, baseURL: config.OPENAI_BASE_URL, fetch: mending(fetch) })(model);
  },
  async 'openai-compatible'({ credential, model, fetch, guardedFetch, config }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const { baseUrl, apiKey } = credential;
    const isOperators = credential.isOperators ?? baseUrl === config.OPENAI_COMPATIBLE_BASE_URL;
    // Without the guard a workspace could have the service call any address inside its network.
    const allowed = isOperators ? fetch : guardedFetch;
    if (!allowed) {
      throw new ModelFailure(
        'model_not_configured',
        'This deployment does not call model servers that a workspace names.',
      );
    }
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: baseUrl,
      apiKey,
      includeUsage: true,
      fetch: mending(streaming(allowed)),
    })(model);
  },
};

/** @param guardedFetch reaches public addresses only; an address that a workspace chose is called through it */
export const createProviders = (config: Config, guardedFetch?: GuardedFetch) => {
  const plain = plainFetch(config);
  return async (
    { provider, model }: ResolvedModel,
    credentials: ModelCredentials,
    limits: ReplyLimits,
  ): Promise<SdkModel> => {
    const make = <Name extends ProviderName>(name: Name): Promise<SdkModel> => {
      const credential = credentials[name];
      if (!credential) {
        throw new ModelFailure(
          'model_not_configured',
          `${PROVIDERS[name].setting} is not set and the workspace has no credential of its own.`,
        );
      }
      return SDK_MODELS[name]({
        credential,
        model,
        fetch: replyFetch(plain, limits),
        guardedFetch: guardedFetch && replyFetch(guardedFetch, limits),
        config,
      });
    };
    if (isWithoutProvider(provider)) throw new Error(`${provider} is not a provider`);
    return make(provider);
  };
};
