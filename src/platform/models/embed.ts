/**
 * Turns texts into vectors, by the packaged model or by a provider through the AI SDK. Vectors of two models say
 * nothing about each other, so the database remembers which model made those it holds (see the memory's
 * store/vectors.ts).
 */
import type { embed, EmbeddingModel } from 'ai';
import { ConfigError, type Config } from '../core/config.ts';
import { fieldsOf } from '../core/record.ts';
import { plainFetch } from '../egress/limits.ts';
import { createPackagedModel, normalized, PACKAGED } from './embed-packaged.ts';
import { malformed, timedOut, toModelFailure } from './failures.ts';
import { isVector } from './provider-numbers.ts';
import type { EmbedOptions, ModelCredentials, ResolvedModel } from './types.ts';

type SdkEmbeddingModel = Extract<EmbeddingModel, { specificationVersion: 'v3' }>;

export interface Embedder {
  /** Provider and model; only vectors with the same value can be compared. */
  model: string;
  dimensions: number;
  /** @returns one vector of unit length for each text @throws ModelFailure */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<number[][]>;
  close(): Promise<void>;
}

type Options = NonNullable<Parameters<typeof embed>[0]['providerOptions']>;

interface Provider {
  name: Extract<ResolvedModel['provider'], 'openai' | 'openai-compatible'>;
  sdk: (fetch: typeof globalThis.fetch) => Promise<SdkEmbeddingModel>;
  options?: Options;
}

/** A provider is sent so many characters of a text. Their models take 8,000 tokens, and refuse more than they take. */
const MAX_CHARACTERS = 16_000;
const TIMEOUT_MS = 60_000;
/** One number of a vector takes so many bytes in an answer. */
const NUMBER_BYTES = 32;
const AROUND_BYTES = 1_024 * 1_024;

/** @throws ConfigError when a setting of a provider is missing, or is of another one than is asked for */
export function createEmbedder(config: Config, credentials: ModelCredentials): Embedder {
  const { EMBEDDING_MODEL: model, EMBEDDING_DIMENSIONS: dimensions } = config;
  if (config.EMBEDDING_PROVIDER === 'packaged') {
    if (dimensions && dimensions !== PACKAGED.dimensions) throw notPackaged('EMBEDDING_DIMENSIONS', dimensions);
    if (model && model !== PACKAGED.model) throw notPackaged('EMBEDDING_MODEL', model);
    return packaged();
  }
  if (!model) throw needs('EMBEDDING_MODEL');
  if (!dimensions) throw needs('EMBEDDING_DIMENSIONS');
  return provided(providerOf(config, { model, dimensions }), { model, dimensions, credentials, config });
}

const needs = (setting: string) => new ConfigError(`${setting}: is not set; EMBEDDING_PROVIDER needs it`);

const notPackaged = (setting: string, said: string | number) =>
  new ConfigError(
    `${setting}: is ${said}, but EMBEDDING_PROVIDER=packaged has ${PACKAGED.model} with ${PACKAGED.dimensions} numbers; leave ${setting} out, or set EMBEDDING_PROVIDER`,
  );

function packaged(): Embedder {
  return { ...PACKAGED, ...createPackagedModel() };
}

function providerOf(config: Config, { model, dimensions }: { model: string; dimensions: number }): Provider {
  if (config.EMBEDDING_PROVIDER === 'openai') {
    if (!config.OPENAI_API_KEY) throw needs('OPENAI_API_KEY');
    const settings = { apiKey: config.OPENAI_API_KEY, baseURL: config.OPENAI_BASE_URL };
    // Models before the third family have one size and refuse to be asked for another.
    return {
      name: 'openai',
      sdk: async (fetch) => (await import('@ai-sdk/openai')).createOpenAI({ ...settings, fetch }).embeddingModel(model),
      ...(model.startsWith('text-embedding-3') && { options: { openai: { dimensions } } }),
    };
  }
  if (!config.OPENAI_COMPATIBLE_BASE_URL) throw needs('OPENAI_COMPATIBLE_BASE_URL');
  const settings = {
    name: 'openai-compatible',
    baseURL: config.OPENAI_COMPATIBLE_BASE_URL,
    apiKey: config.OPENAI_COMPATIBLE_API_KEY,
  };
  return {
    name: 'openai-compatible',
    async sdk(fetch) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ ...settings, fetch }).embeddingModel(model);
    },
  };
}

function provided(
  { name, sdk, options }: Provider,
  {
    model,
    dimensions,
    credentials,
    config,
  }: { model: string; dimensions: number; credentials: ModelCredentials; config: Config },
): Embedder {
  const subject = { model, provider: name };
  const plain = plainFetch(config);
  const timeoutMs = Math.min(config.MODEL_TIMEOUT, TIMEOUT_MS);
  return {
    model: `${name}:${model}`,
    dimensions,
    close: async () => {},
    async embed(texts, { signal } = {}) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const limits = { maxBytes: AROUND_BYTES + texts.length * dimensions * NUMBER_BYTES, totalMs: timeoutMs };
      const fetch = ((url: string | URL, init?: RequestInit) => plain(url, init, limits)) as typeof globalThis.fetch;
      const { embedMany } = await import('ai');
      const { embeddings } = await embedMany({
        model: await sdk(fetch),
        // A provider refuses a text without anything in it.
        values: texts.map((text) => text.trim().slice(0, MAX_CHARACTERS).toWellFormed() || '.'),
        abortSignal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        ...(options && { providerOptions: options }),
      }).catch((error: unknown) => {
        if (deadline.aborted) throw timedOut(subject, timeoutMs);
        const maxRetryAfterMs = config.MODEL_MAX_RETRY_AFTER;
        throw toModelFailure(lastOf(error), { resolved: subject, credentials, maxRetryAfterMs });
      });
      const odd = embeddings.find((vector) => vector.length !== dimensions);
      if (odd)
        throw malformed(subject, `a vector of ${odd.length} numbers where EMBEDDING_DIMENSIONS says ${dimensions}`);
      if (!embeddings.every(isVector)) throw malformed(subject, 'a vector whose numbers are too large');
      return embeddings.map(normalized);
    },
  };
}

/** @returns the last error, since the SDK repeats a failed call and then wraps what it met */
const lastOf = (error: unknown): unknown => fieldsOf(error).lastError ?? error;
