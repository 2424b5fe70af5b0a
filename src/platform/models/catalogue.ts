/**
 * The models that the product knows by name, the preferred one of each tier and provider first. Built-in agents name
 * models by these ids. An id that is not here still works where its provider can be told from its spelling.
 *
 * Ids and windows as in the data of `@pydantic/genai-prices`, so that each has a price.
 */
import type { Config } from '../core/config.ts';
import { tokenPriceIn } from '../core/server-price.ts';
import {
  PROVIDER_NAMES,
  type CredentialOf,
  type ModelCredentials,
  type ModelServer,
  type ModelTier,
  type ProviderName,
} from './types.ts';

export type ProviderTier = Exclude<ModelTier, 'offline'>;

export interface KnownModel {
  id: string;
  provider: ProviderName;
  tier: ProviderTier;
  /** Counted in tokens. */
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

/** What a workspace gave to an integration through which a provider can be called, opened. */
export interface GivenToIntegration {
  token: string | undefined;
  /** The workspace has a server of its own, and named this model there. */
  baseUrl: string | undefined;
  model: string | undefined;
  /** The workspace said what its server costs. */
  price: string | undefined;
  /** Where the integration's API is, unless the workspace has a server of its own. */
  known: { baseUrl: string | undefined; isOperators: boolean };
}

/** All that a provider decides; `providers.ts` calls it. */
interface Provider<Credential> {
  label: string;
  /** The label within a sentence, where that differs. */
  phrase?: string;
  /** People are told to set this to make the provider available. */
  setting: keyof Config;
  /** @returns the deployment's credential */
  ofDeployment(config: Config): Credential | undefined;
  /**
   * The integrations to which a workspace gives its own credential, by slug, the preferred one first.
   * @returns the credential; undefined while what was given is not enough for a call
   */
  integrations: Readonly<Record<string, (given: GivenToIntegration) => Credential | undefined>>;
  /** @returns what must not appear in any message about a call with this credential */
  secretsOf(credential: Credential): readonly (string | undefined)[];
  /** @returns whether the spelling of an id that is not in the catalogue says that the model is this provider's */
  isItsModel(id: string): boolean;
  /**
   * A model that is not in the catalogue is taken to have so many tokens. The number is small on purpose: a window
   * taken for larger than it is turns into refused calls.
   */
  unknownWindow: number;
}

/** What is no price was refused where it was given; it leaves the server unpriced. */
function priced(text: string | undefined): Pick<ModelServer, 'price'> {
  const price = text === undefined ? undefined : tokenPriceIn(text);
  return price ? { price } : {};
}

/** A server that speaks the OpenAI chat protocol: what comes after its base address, its model where none is named. */
const serverAt =
  (path: string, defaultModel: string) =>
  ({ token, baseUrl, model, price, known }: GivenToIntegration): ModelServer | undefined => {
    const base = baseUrl ?? known.baseUrl;
    if (!base || !(baseUrl ?? token)) return undefined;
    return {
      baseUrl: base + path,
      ...(token && { apiKey: token }),
      model: model ?? defaultModel,
      ...priced(price),
      ...(!baseUrl && known.isOperators && { isOperators: true as const }),
    };
  };

/** A new provider does not compile without its entry, nor an entry without each of its parts. */
export const PROVIDERS: { readonly [Name in ProviderName]: Provider<CredentialOf<Name>> } = {
  anthropic: {
    label: 'Anthropic',
    setting: 'ANTHROPIC_API_KEY',
    ofDeployment: (config) => config.ANTHROPIC_API_KEY,
    integrations: { anthropic: ({ token }) => token },
    secretsOf: (apiKey) => [apiKey],
    isItsModel: (id) => id.startsWith('claude-'),
    unknownWindow: 200_000,
  },
  openai: {
    label: 'OpenAI',
    setting: 'OPENAI_API_KEY',
    ofDeployment: (config) => config.OPENAI_API_KEY,
    integrations: { openai: ({ token }) => token },
    secretsOf: (apiKey) => [apiKey],
    // `gpt-oss-...` has open weights, which others serve.
    isItsModel: (id) => /^(gpt-(?!oss)|chatgpt-|ft:|codex-|computer-use-|o\d)/.test(id),
    unknownWindow: 128_000,
  },
  'openai-compatible': {
    label: 'OpenAI-compatible',
    phrase: 'the OpenAI-compatible server',
    setting: 'OPENAI_COMPATIBLE_BASE_URL',
    ofDeployment: (config) =>
      config.OPENAI_COMPATIBLE_BASE_URL
        ? {
            baseUrl: config.OPENAI_COMPATIBLE_BASE_URL,
            apiKey: config.OPENAI_COMPATIBLE_API_KEY,
            model: config.OPENAI_COMPATIBLE_MODEL,
            ...(config.OPENAI_COMPATIBLE_SEES && { sees: true as const }),
            ...(config.OPENAI_COMPATIBLE_PRICE && { price: config.OPENAI_COMPATIBLE_PRICE }),
          }
        : undefined,
    integrations: {
      'openai-compatible': serverAt('', 'default'),
      openrouter: serverAt('', 'openrouter/auto'),
      mistral: serverAt('', 'mistral-large-latest'),
      google: serverAt('/openai', 'gemini-flash-latest'),
    },
    secretsOf: ({ apiKey, baseUrl }) => [apiKey, tellingPath(baseUrl)],
    isItsModel: () => true,
    unknownWindow: 128_000,
  },
};

/** The integrations whose credentials runs can use for models, the preferred one first. */
export const MODEL_INTEGRATIONS: readonly string[] = PROVIDER_NAMES.flatMap((name) =>
  Object.keys(PROVIDERS[name].integrations),
);

/** @returns the part of an address that may be as good as a key: there are servers that take one in it */
function tellingPath(baseUrl: string): string | undefined {
  const { pathname } = new URL(baseUrl);
  return pathname.length > '/v1beta'.length ? pathname : undefined;
}

/** Asks for the credential of each provider. */
export function credentialsBy(
  credentialOf: <Name extends ProviderName>(name: Name) => ModelCredentials[Name] | undefined,
): ModelCredentials {
  const given: ModelCredentials = {};
  const ask = <Name extends ProviderName>(name: Name) => {
    const credential = credentialOf(name);
    if (credential) given[name] = credential;
  };
  PROVIDER_NAMES.forEach((name) => ask(name));
  return given;
}

export const deploymentCredentials = (config: Config): ModelCredentials =>
  credentialsBy((name) => PROVIDERS[name].ofDeployment(config));

/** @param openGiven what the workspace gave to an integration; asked until one of a provider is enough for a call */
export const workspaceCredentials = (openGiven: (slug: string) => GivenToIntegration): ModelCredentials =>
  credentialsBy((name) => {
    for (const [slug, credentialOf] of Object.entries(PROVIDERS[name].integrations)) {
      const credential = credentialOf(openGiven(slug));
      if (credential) return credential;
    }
    return undefined;
  });

/** @returns what must be quoted nowhere, whichever provider was called */
export function secretsAmong(given: ModelCredentials): string[] {
  const secretsOf = <Name extends ProviderName>(name: Name) => {
    const credential = given[name];
    return credential ? PROVIDERS[name].secretsOf(credential) : [];
  };
  return PROVIDER_NAMES.flatMap((name) => secretsOf(name)).filter((secret) => secret !== undefined);
}

/** @returns the providers that can be used, the workspace's own first */
export function configuredProviders(given: ModelCredentials): ProviderName[] {
  const configured = PROVIDER_NAMES.filter((name) => Boolean(given[name]));
  const isOwn = (name: ProviderName) => given.own?.includes(name) ?? false;
  return [...configured.filter(isOwn), ...configured.filter((name) => !isOwn(name))];
}

/**
 * An id with such a suffix (`claude-sonnet-4-5-20250929`, `gpt-5.5-2026-04-23`, `...-latest`) names the same model as
 * without it.
 */
export const SNAPSHOT = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

const providerOf = (id: string): ProviderName =>
  PROVIDER_NAMES.find((name) => PROVIDERS[name].isItsModel(id)) ?? 'openai-compatible';

/** @returns what is known of a model; of an unknown one, what its spelling tells */
export function describeModel(id: string, credentials: ModelCredentials): KnownModel {
  // The server's own id may look like anyone's (`gpt-oss-20b`): what the operator named it wins.
  const provider = id === credentials['openai-compatible']?.model ? 'openai-compatible' : providerOf(id);
  const known = MODELS.find((model) => model.provider === provider && model.id === id.replace(SNAPSHOT, ''));
  return { ...(known ?? { tier: 'standard', contextWindow: PROVIDERS[provider].unknownWindow }), id, provider };
}

/**
 * @returns the preferred model of a tier at a provider; the one model of an OpenAI-compatible server serves every tier
 */
export function modelOfTier(tier: ProviderTier, provider: ProviderName, credentials: ModelCredentials): KnownModel {
  const server = credentials['openai-compatible'];
  if (provider === 'openai-compatible' && server) return { ...describeModel(server.model, credentials), tier };
  const model = MODELS.find((known) => known.provider === provider && known.tier === tier);
  if (!model) throw new Error(`the catalogue has no ${tier} model of ${provider}`);
  return model;
}
