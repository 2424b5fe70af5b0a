/**
 * The AI SDK's models, built for each call from that call's credentials: no key outlives its call, and a rotated one
 * counts at once. The SDK of a provider is loaded with the first call of one of its models.
 */
import type { Config } from '../core/config.ts';
import type { GuardedFetch } from '../egress/egress.ts';
import { plainFetch } from '../egress/limits.ts';
import { addressed, compatibleModel } from './compatible.ts';
import { routedMarks } from './prompt-cache.ts';
import { withShortCallIds } from './short-call-ids.ts';
import { withOptions } from './changed-options.ts';
import { streaming } from './whole-replies.ts';
import { replyFetch, type ReplyLimits } from './reply-limits.ts';
import type { JsonMode } from './json-modes.ts';
import { idAtProvider, PROVIDERS } from './catalogue.ts';
import type { SdkModel } from './sdk.ts';
import {
  isWithoutProvider,
  ModelFailure,
  type CredentialOf,
  type ModelCredentials,
  type ProviderName,
  type ResolvedModel,
} from './types.ts';

/** How a provider's model is made for one call. Whatever it fetches goes through one of these two. */
interface Making<Credential> {
  credential: Credential;
  model: string;
  fetch: typeof globalThis.fetch;
  /** Reaches public addresses only. Undefined: this deployment calls no server that a workspace names. */
  guardedFetch: typeof globalThis.fetch | undefined;
  config: Config;
  mode: JsonMode;
}

/** The address of Vertex AI for keys. */
const VERTEX = 'https://aiplatform.googleapis.com/v1/publishers/google';

/** Without the guard a workspace could have the service call any address inside its network. */
function allowed(
  { fetch, guardedFetch }: Pick<Making<unknown>, 'fetch' | 'guardedFetch'>,
  { isOperators }: { isOperators?: boolean },
): typeof globalThis.fetch {
  const found = isOperators ? fetch : guardedFetch;
  if (found) return found;
  const text = 'This deployment does not call model servers that a workspace names.';
  throw new ModelFailure('model_not_configured', text);
}

const SDK_MODELS: { readonly [Name in ProviderName]: (making: Making<CredentialOf<Name>>) => Promise<SdkModel> } = {
  async anthropic({ credential: apiKey, model, fetch, config }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, baseURL: config.ANTHROPIC_BASE_URL, fetch })(model);
  },
  async openai({ credential: apiKey, model, fetch, config }) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey, baseURL: config.OPENAI_BASE_URL, fetch })(model);
  },
  async google({ credential: { apiKey, baseUrl }, model, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ apiKey, ...(baseUrl && { baseURL: baseUrl }), fetch })(model);
  },
  // Its express mode takes a key as the Gemini API does, and the same requests.
  async 'google-vertex'({ credential: { apiKey, baseUrl = VERTEX }, model, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ apiKey, baseURL: baseUrl, fetch })(model);
  },
  async 'amazon-bedrock'(making) {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const { apiKey = '', region, baseUrl, accessKey } = making.credential;
    return createAmazonBedrock({
      // Where there is none, the SDK would look for one in the environment, which may be the deployment's.
      apiKey,
      region,
      baseURL: baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`,
      ...(accessKey && {
        accessKeyId: accessKey.id,
        secretAccessKey: accessKey.secret,
        ...(accessKey.session && { sessionToken: accessKey.session }),
      }),
      fetch: baseUrl === undefined ? making.fetch : allowed(making, making.credential),
    })(making.model);
  },
  async 'azure-openai'(making) {
    const { createAzure } = await import('@ai-sdk/azure');
    const { apiKey, baseUrl, apiVersion } = making.credential;
    const settings = { apiKey, baseURL: baseUrl, fetch: allowed(making, making.credential) };
    const isDated = apiVersion !== undefined;
    const model = isDated
      ? createAzure({ ...settings, apiVersion, useDeploymentBasedUrls: true }).chat(making.model)
      : createAzure(settings)(making.model);
    return withOptions(model, ({ providerOptions, ...options }) => {
      // A dated version refuses a request for a field that is younger, and without these it stores nothing either.
      const { store, promptCacheKey, ...openai } = providerOptions?.openai ?? {};
      const younger = isDated ? {} : { store, promptCacheKey };
      // The name of a deployment does not tell whether its model thinks; who tells it how hard to, knows.
      const forceReasoning = options.reasoning !== undefined;
      return { ...options, providerOptions: { openai: { ...openai, ...younger, forceReasoning } } };
    });
  },
  async mistral({ credential: { apiKey, baseUrl }, model, fetch }) {
    const { createMistral } = await import('@ai-sdk/mistral');
    const mistral = createMistral({ apiKey, ...(baseUrl && { baseURL: baseUrl }), fetch });
    return withShortCallIds(mistral(model));
  },
  async 'openai-compatible'(making) {
    const { credential, model, config, mode } = making;
    const { baseUrl, apiKey } = credential;
    const isOperators = credential.isOperators ?? baseUrl === config.OPENAI_COMPATIBLE_BASE_URL;
    const fetch = streaming(allowed(making, { isOperators }));
    return compatibleModel(model, mode, { ...addressed(baseUrl, apiKey), fetch, ...routedMarks(model, credential) });
  },
};

/** @param guardedFetch reaches public addresses only; an address that a workspace chose is called through it */
export const createProviders = (config: Config, guardedFetch?: GuardedFetch) => {
  const plain = plainFetch(config);
  return async (
    { provider, model }: ResolvedModel,
    credentials: ModelCredentials,
    { mode, ...limits }: ReplyLimits & { mode: JsonMode },
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
        model: idAtProvider(model, name),
        fetch: replyFetch(plain, limits),
        guardedFetch: guardedFetch && replyFetch(guardedFetch, limits),
        config,
        mode,
      });
    };
    if (isWithoutProvider(provider)) throw new Error(`${provider} is not a provider`);
    return make(provider);
  };
};
