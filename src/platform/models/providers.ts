/**
 * The AI SDK's models, built for each call from that call's credentials: no key outlives its call, and a rotated one
 * counts at once.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { Config } from '../core/config.ts';
import type { GuardedFetch } from '../egress/egress.ts';
import { plainFetch } from '../egress/limits.ts';
import { replyFetch, type ReplyLimits } from './reply-limits.ts';
import { ModelFailure, type ModelCredentials, type ResolvedModel } from './types.ts';

/** A model object of the AI SDK, as opposed to the id of one at its gateway. */
export type SdkModel = Extract<LanguageModel, { specificationVersion: 'v3' }>;
export type CallOptions = Parameters<SdkModel['doGenerate']>[0];
export type Prompt = CallOptions['prompt'];

const missing = (setting: string) =>
  new ModelFailure('model_not_configured', `${setting} is not set and the workspace has no credential of its own.`);

/** @param guardedFetch reaches public addresses only; used for an address that a workspace chose, not the operator */
export const createProviders = (config: Config, guardedFetch?: GuardedFetch) => {
  const plain = plainFetch(config);
  return (
    { provider, model }: ResolvedModel,
    { anthropicApiKey, openaiApiKey, openaiCompatible }: ModelCredentials,
    limits: ReplyLimits,
  ): SdkModel => {
    const fetch = replyFetch(plain, limits);
    switch (provider) {
      case 'anthropic':
        if (!anthropicApiKey) throw missing('ANTHROPIC_API_KEY');
        return createAnthropic({ apiKey: anthropicApiKey, baseURL: config.ANTHROPIC_BASE_URL, fetch })(model);
      case 'openai':
        if (!openaiApiKey) throw missing('OPENAI_API_KEY');
        return createOpenAI({ apiKey: openaiApiKey, baseURL: config.OPENAI_BASE_URL, fetch })(model);
      case 'openai-compatible': {
        if (!openaiCompatible) throw missing('OPENAI_COMPATIBLE_BASE_URL');
        const { baseUrl, apiKey } = openaiCompatible;
        const isOperators = openaiCompatible.isOperators ?? baseUrl === config.OPENAI_COMPATIBLE_BASE_URL;
        // Without the guard a workspace could have the service call any address inside its network.
        if (!isOperators && !guardedFetch) {
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
          fetch: isOperators ? fetch : replyFetch(guardedFetch!, limits),
        })(model);
      }
      case 'offline':
        throw new Error('the offline model is not a provider');
    }
  };
};
