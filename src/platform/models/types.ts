/** What the rest of the product knows of language models. Nothing outside this folder imports the AI SDK's providers. */
import type { ModelMessage } from 'ai';
import type { Effort } from '../core/effort.ts';
import type { TokenPrice } from '../core/server-price.ts';
import type { OutputLimit, OutputLimitName } from './output-limit.ts';
import type { RunFailure } from '../core/problem.ts';

/** The order is the order of preference. The last one has every model that is nobody else's. */
export const PROVIDER_NAMES = [
  'anthropic',
  'openai',
  'google',
  'google-vertex',
  'amazon-bedrock',
  'azure-openai',
  'mistral',
  'openai-compatible',
] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

export interface ModelServer {
  baseUrl: string;
  apiKey?: string;
  model: string;
  /** What its models cost, where whoever named the server said so. */
  price?: TokenPrice;
  /** Its model sees pictures. */
  sees?: true;
  /** The operator set this address, which therefore may be private. */
  isOperators?: true;
  /** This is the managed model router, which the deployment pays. */
  isRouter?: true;
}

/** A key, and what else may be said with it. */
export interface KeyedService {
  apiKey: string;
  /** Unless it is the provider's own. */
  baseUrl?: string;
  /** Used where no model is named. */
  model?: string;
  /** The operator set this address, which therefore may be private. */
  isOperators?: true;
}

export interface AzureService extends KeyedService {
  /** It ends with `/openai`, as Azure shows it. */
  baseUrl: string;
  /** With one, each deployment is called at an address of its own, in the chat protocol. */
  apiVersion?: string;
}

export interface BedrockService extends Partial<KeyedService> {
  region: string;
  /** In place of a key. */
  accessKey?: { id: string; secret: string; session?: string };
}

/** Each provider is called with its API key, with a key and more, or with a server. */
interface ProviderCredentials extends Record<ProviderName, unknown> {
  anthropic: string;
  openai: string;
  google: KeyedService;
  'google-vertex': KeyedService;
  'amazon-bedrock': BedrockService;
  'azure-openai': AzureService;
  mistral: KeyedService;
  'openai-compatible': ModelServer;
}

/** What a workspace or the deployment may use; a workspace's own credential wins. */
export interface ModelCredentials extends Partial<ProviderCredentials> {
  /**
   * The workspace has credentials of its own for these providers, which go before those of the deployment where any
   * will do.
   */
  own?: readonly ProviderName[];
}

export type CredentialOf<Name extends ProviderName> = NonNullable<ModelCredentials[Name]>;

export type ProviderTier = 'fast' | 'standard' | 'deep';
type ModelTier = ProviderTier | 'offline';

export interface KnownModel {
  id: string;
  provider: ProviderName;
  tier: ProviderTier;
  /** Counted in tokens. */
  contextWindow: number;
  /** The most tokens that one reply may have. */
  maxOutput: number;
  /** Nothing is known of it but what its window holds. */
  isOutputUnknown?: true;
  sees: boolean;
  /** How hard it can be told to think; undefined where that is not known, and none where it cannot be told. */
  efforts?: readonly Effort[] | undefined;
}

/** What is known of models: one object for each reading of the files. */
export interface Catalogue {
  /** The ids of the models of a provider that have a name here, those of the file first. */
  idsOf(provider: ProviderName): readonly string[];
  /** @param unknownWindow what a model of which nothing is known is taken to hold */
  describe(id: string, provider: ProviderName, unknownWindow: number): KnownModel;
  /** @returns whose model this is by the file */
  providerOf(id: string): ProviderName | undefined;
  /** @param given the one model that came with the credential */
  preferred(tier: ProviderTier, provider: ProviderName, given?: string): string | undefined;
  /** @returns what the operator says that it costs */
  priceOf(id: string, provider: string): TokenPrice | undefined;
}

/** An agent and a request say this about the model to use. */
export interface ModelRequest {
  /** The id of the agent's model, or `auto`. */
  model: string;
  defaultModel?: string | null;
  /** `fixed` (default): the agent's model. `auto`: a model of the tier that the prompt asks for. */
  selectionMode?: string | null;
  reasoning?: boolean | null;
  /** The agent's model wins over any override. */
  enforce?: boolean | null;
  /** The request's `override.model_override`: the id of a model, or `auto`. */
  override?: string | null;
  prompt: string;
  /** Nobody here chose the model: a built-in agent came with it. Where its provider is not configured, another will do. */
  isBuiltin?: boolean;
}

export interface ResolvedModel {
  /** `offline`, or the id that the provider has for the model. */
  model: string;
  /** `sample`: answered from a recording that ships with the product. */
  provider: ProviderName | 'offline' | 'sample';
  tier: ModelTier;
  /**
   * The rule that chose it, for example `agent_default`, `override`, `agent_enforced`, `auto_short_prompt`, `offline`,
   * `sample`.
   */
  rule: string;
  enforce: boolean;
  reasoning: boolean;
  /** Counted in tokens. */
  contextWindow: number;
}

/** A picture as a model is shown it. */
export interface ShownPicture {
  mediaType: 'image/jpeg' | 'image/png';
  bytes: Buffer;
  width: number;
  height: number;
}

/** A reply that was written by hand and ships with the product. */
export interface RecordedReply {
  text: string;
  toolCalls: ModelReply['toolCalls'];
}

interface ToolDeclaration {
  name: string;
  description: string;
  /** The JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ModelCall {
  resolved: ResolvedModel;
  credentials: ModelCredentials;
  /** Messages of the AI SDK, without a system message. */
  messages: ModelMessage[];
  /** Shown with the results of tools, by the id of the call. Only for a model that sees. */
  pictures?: ReadonlyMap<string, readonly ShownPicture[]>;
  system: string;
  tools: readonly ToolDeclaration[];
  /**
   * With a JSON Schema here the reply is asked to be a text with one JSON value of this shape. The caller validates it.
   */
  outputSchema?: Record<string, unknown>;
  maxOutputTokens: number;
  /** Which limit that is. Absent: the setting. */
  limitedBy?: OutputLimitName;
  /** Absent: as the model does by itself. */
  effort?: Effort;
  /** Calls with the same one begin alike, so that a provider sends them to where it has that in its cache. */
  cacheKey?: string;
  timeoutMs: number;
  /** A provider that asks to wait for longer is not asked again. */
  maxRetryAfterMs?: number;
  signal: AbortSignal;
  /** Required when the provider is `sample`: the reply to give instead of calling a model. */
  recorded?: RecordedReply;
  /**
   * It is called before the call fails, with what a provider bills for it all the same: its reply had begun, or the
   * service hung up. It is not called for what is certainly free: a connection refused, an error for an answer, the
   * offline model.
   */
  onAborted?: (usage: TokenUsage) => void;
  /**
   * It is called with the reply's text while that is written. The offline model, which knows it at once, then takes its
   * time.
   */
  onText?: (piece: string) => void;
}

export interface TokenUsage {
  /** With what was read from the provider's cache, and what was written to it. */
  inputTokens: number;
  /** With what was reasoned. */
  outputTokens: number;
  /** Parts of the two, where the provider tells them. */
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** What a gateway says that it bills for the call, in US dollars. It goes before any price. */
  billedUsd?: number;
}

/**
 * What a provider gave with a part of its reply and wants back with it in the next call (signatures, encrypted reasoning), as
 * the SDK has it. Nobody else reads it, and no other model is told it.
 */
export type Opaque = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Reasoning {
  text: string;
  opaque?: Opaque;
}

export interface ModelReply {
  text: string;
  /** What it thought before it answered, where the provider tells. No part of its answer. */
  reasoning?: Reasoning[];
  toolCalls: {
    callId: string;
    tool: string;
    arguments: unknown;
    /** Why it cannot be made: the arguments are none. */
    fault?: string;
    opaque?: Opaque;
  }[];
  usage: TokenUsage;
  /** The provider's word: `stop`, `length`, `tool-calls` and others. */
  finishReason: string;
}

/** Tells whether replies come from the product itself: nobody is called, and nobody bills. */
export const isWithoutProvider = (provider: ResolvedModel['provider']): provider is 'offline' | 'sample' =>
  provider === 'offline' || provider === 'sample';

/** Says why a model call gave no usable reply, and whether another attempt may. */
export class ModelFailure extends Error {
  readonly code: RunFailure;
  readonly retryable: boolean;
  /** The provider asked for this delay. */
  readonly retryAfterMs: number | undefined;
  /** The timeline tells this beside the message. */
  readonly facts: Readonly<Record<string, unknown>> | undefined;

  constructor(code: RunFailure, message: string, { retryable = false, retryAfterMs, facts }: FailureOptions = {}) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.facts = facts;
  }
}

interface FailureOptions {
  retryable?: boolean;
  retryAfterMs?: number;
  facts?: Readonly<Record<string, unknown>>;
}

export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  /** The text belongs to this workspace; workspaces take turns where one thread embeds for all. */
  workspace?: string;
  /** The texts are questions, which some models embed in another way than what answers them. */
  isQuestion?: boolean;
}

/** The model that makes vectors. Vectors of another one cannot be compared with those of this one. */
export interface EmbedderFacts {
  /** Provider and model; only vectors with the same value can be compared. */
  model: string;
  dimensions: number;
  /** The languages whose meaning it knows; null if only its provider can say. */
  languages: readonly string[] | null;
  /** The scripts that it has tokens for; null if it has some for any. */
  scripts: readonly string[] | null;
  /** Cosine from which a memory counts as near to a question; each model has a scale of its own. */
  near: number;
  /** Returns whether the model has tokens for the script of a text. The vector of any other text is noise. */
  reads(text: string): boolean;
}

/** A vector, and the model that made it: it says nothing beside those of another one. */
export interface Embedding {
  model: string;
  vector: readonly number[];
}

/** Says whose price counts for a call of an OpenAI-compatible server. */
export interface PriceTerms {
  /** The model is called through the managed model router, whose prices are OpenRouter's. */
  isRouter?: boolean;
  /** Whoever named the server said what it costs. */
  ofServer?: TokenPrice | undefined;
}

export interface Models {
  /** @throws ModelFailure model_not_configured when an enforced or overriding model has no configured provider */
  resolve(request: ModelRequest, credentials: ModelCredentials): ResolvedModel;
  /** @returns how many tokens a call asks for, whatever its budgets can pay */
  outputLimit(
    resolved: Pick<ResolvedModel, 'model' | 'provider' | 'contextWindow'>,
    asked: { ofAgent: number | null; inputTokens: number },
  ): OutputLimit;
  /** @returns how hard the model can be told to think; undefined where that is not known */
  efforts(resolved: Pick<ResolvedModel, 'model' | 'provider'>): readonly Effort[] | undefined;
  /** @throws ModelFailure; rethrows the abort when `signal` fires */
  call(call: ModelCall): Promise<ModelReply>;
  /**
   * @returns whether this provider has answered none of the latest calls of this process. From time to time a caller is
   * told that it has, so that somebody tries.
   */
  isOut(resolved: Pick<ResolvedModel, 'provider'>, credentials: ModelCredentials): boolean;
  /** @returns those of the deployment that have answered none of the latest calls of this process */
  providersOut(): ProviderName[];
  /** @returns US dollars as a decimal string; null where no price is known */
  price(resolved: Pick<ResolvedModel, 'model' | 'provider'>, usage: TokenUsage, terms?: PriceTerms): string | null;
  /** What is known of models now. */
  catalogue(): Catalogue;
  /** Reads the operator's files of models and prices anew. @throws ConfigError that names file and entry; the old ones stay */
  reload(): void;
  countTokens(text: string): Promise<number>;
  /** Puts the workspace's own credentials over those of the deployment. */
  credentials(own?: ModelCredentials): ModelCredentials;
  embedding: EmbedderFacts;
  /**
   * @returns one vector of unit length for each text; the packaged model is loaded at first use
   * @throws ModelFailure of a provider
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<number[][]>;
  close(): Promise<void>;
}
