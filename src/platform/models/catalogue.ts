/**
 * The models that the product knows by name, the preferred one of each tier and provider first. Built-in agents name
 * models by these ids. An id that is not here still works where its provider can be told from its spelling.
 *
 * Ids and windows as in the data of `@pydantic/genai-prices`, so that each has a price.
 */
import type { ModelCredentials, ModelTier, ResolvedModel } from './types.ts';

export type ProviderName = Exclude<ResolvedModel['provider'], 'offline'>;
export type ProviderTier = Exclude<ModelTier, 'offline'>;

export interface KnownModel {
  id: string;
  provider: ProviderName;
  tier: ProviderTier;
  /** Tokens. */
  contextWindow: number;
}

export const MODELS: readonly KnownModel[] = [
  { id: 'claude-haiku-4-5', provider: 'anthropic', tier: 'fast', contextWindow: 200_000 },
  { id: 'claude-sonnet-5', provider: 'anthropic', tier: 'standard', contextWindow: 1_000_000 },
  { id: 'claude-sonnet-4-6', provider: 'anthropic', tier: 'standard', contextWindow: 1_000_000 },
  { id: 'claude-sonnet-4-5', provider: 'anthropic', tier: 'standard', contextWindow: 200_000 },
  { id: 'claude-opus-5-5', provider: 'anthropic', tier: 'deep', contextWindow: 1_000_000 },
  { id: 'claude-opus-5', provider: 'anthropic', tier: 'deep', contextWindow: 1_000_000 },
  { id: 'claude-fable-5-1', provider: 'anthropic', tier: 'deep', contextWindow: 1_000_000 },
  { id: 'gpt-6-luna', provider: 'openai', tier: 'fast', contextWindow: 1_050_000 },
  { id: 'gpt-5.4-mini', provider: 'openai', tier: 'fast', contextWindow: 400_000 },
  { id: 'gpt-6-sol', provider: 'openai', tier: 'standard', contextWindow: 1_050_000 },
  { id: 'gpt-5.5', provider: 'openai', tier: 'standard', contextWindow: 1_000_000 },
  { id: 'gpt-6-astra', provider: 'openai', tier: 'deep', contextWindow: 1_050_000 },
  { id: 'o3', provider: 'openai', tier: 'deep', contextWindow: 200_000 },
];

/** All that the choice of a model and the words about it need to know of a provider; `providers.ts` calls it. */
interface Provider {
  label: string;
  /** The setting that makes it available. */
  settings: string;
  isConfigured(given: ModelCredentials): boolean;
  /** What must stand in no message of a call with these credentials. */
  secretsOf(given: ModelCredentials): readonly (string | undefined)[];
  /** Whether a model that the catalogue does not have is its, by the spelling. */
  isItsModel(id: string): boolean;
  /** Tokens of such a model. Small on purpose: a window taken for larger than it is turns into refused calls. */
  unknownWindow: number;
}

/** In the order of preference. The last one has every model that is nobody else's. */
export const PROVIDERS: Record<ProviderName, Provider> = {
  anthropic: {
    label: 'Anthropic',
    settings: 'ANTHROPIC_API_KEY',
    isConfigured: ({ anthropicApiKey }) => Boolean(anthropicApiKey),
    secretsOf: ({ anthropicApiKey }) => [anthropicApiKey],
    isItsModel: (id) => id.startsWith('claude-'),
    unknownWindow: 200_000,
  },
  openai: {
    label: 'OpenAI',
    settings: 'OPENAI_API_KEY',
    isConfigured: ({ openaiApiKey }) => Boolean(openaiApiKey),
    secretsOf: ({ openaiApiKey }) => [openaiApiKey],
    isItsModel: (id) => id.startsWith('gpt-') || /^o\d/.test(id),
    unknownWindow: 128_000,
  },
  'openai-compatible': {
    label: 'the OpenAI-compatible server',
    settings: 'OPENAI_COMPATIBLE_BASE_URL',
    isConfigured: ({ openaiCompatible }) => Boolean(openaiCompatible),
    secretsOf: ({ openaiCompatible: server }) => [server?.apiKey, server && tellingPath(server.baseUrl)],
    isItsModel: () => true,
    unknownWindow: 128_000,
  },
};
const NAMES = Object.keys(PROVIDERS) as ProviderName[];

/** An address may be as good as a key: there are servers that take one as a part of it. */
function tellingPath(baseUrl: string): string | undefined {
  const { pathname } = new URL(baseUrl);
  return pathname.length > '/v1beta'.length ? pathname : undefined;
}

/** What must be quoted nowhere, whichever provider was called. */
export const secretsAmong = (given: ModelCredentials): string[] =>
  NAMES.flatMap((name) => PROVIDERS[name].secretsOf(given)).filter((secret) => secret !== undefined);

/** The workspace's own first. */
export function configuredProviders(given: ModelCredentials): ProviderName[] {
  const configured = NAMES.filter((name) => PROVIDERS[name].isConfigured(given));
  const isOwn = (name: ProviderName) => given.own?.includes(name) ?? false;
  return [...configured.filter(isOwn), ...configured.filter((name) => !isOwn(name))];
}

/** `claude-sonnet-4-5-20250929`, `gpt-5.5-2026-04-23`, `...-latest`: the same model as without the suffix. */
export const SNAPSHOT = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

const providerOf = (id: string): ProviderName => NAMES.find((name) => PROVIDERS[name].isItsModel(id))!;

/** What is known of a model id; of an unknown one, what its spelling tells. */
export function describeModel(id: string, credentials: ModelCredentials): KnownModel {
  // The server's own id may look like anyone's (`gpt-oss-20b`): what the operator named it wins.
  const provider = id === credentials.openaiCompatible?.model ? 'openai-compatible' : providerOf(id);
  const known = MODELS.find((model) => model.provider === provider && model.id === id.replace(SNAPSHOT, ''));
  return { ...(known ?? { tier: 'standard', contextWindow: PROVIDERS[provider].unknownWindow }), id, provider };
}

/** The preferred model of a tier at a provider. An OpenAI-compatible server's one model serves every tier. */
export function modelOfTier(tier: ProviderTier, provider: ProviderName, credentials: ModelCredentials): KnownModel {
  if (provider === 'openai-compatible' && credentials.openaiCompatible) {
    return { ...describeModel(credentials.openaiCompatible.model, credentials), tier };
  }
  const model = MODELS.find((known) => known.provider === provider && known.tier === tier);
  if (!model) throw new Error(`the catalogue has no ${tier} model of ${provider}`);
  return model;
}
