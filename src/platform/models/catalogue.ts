/**
 * The providers of models: their credentials, their integrations, and whose a model is. What is known of the models is in
 * `known-models.ts`; an id that is not there still works where its provider can be told from its spelling.
 */
import type { Config } from '../core/config.ts';
import { tokenPriceIn } from '../core/server-price.ts';
import {
  PROVIDER_NAMES,
  type AzureService,
  type BedrockService,
  type Catalogue,
  type CredentialOf,
  type KeyedService,
  type KnownModel,
  type ModelCredentials,
  type ModelServer,
  type ProviderName,
  type ProviderTier,
} from './types.ts';

/** What a workspace gave to an integration through which a provider can be called, opened. */
export interface GivenToIntegration {
  token: string | undefined;
  /** The workspace has a server of its own, and named this model there. */
  baseUrl: string | undefined;
  model: string | undefined;
  /** The version of the API that the workspace uses there. */
  version: string | undefined;
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
  /** Ids may begin with this and a slash, which says whose they are and is not sent: others have models of the same name. */
  prefix?: string;
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

/** A server that speaks the OpenAI chat protocol. @param defaultModel its model where none is named */
const serverAt =
  (defaultModel: string) =>
  ({ token, baseUrl, model, price, known }: GivenToIntegration): ModelServer | undefined => {
    const base = baseUrl ?? known.baseUrl;
    if (!base || !(baseUrl ?? token)) return undefined;
    return {
      baseUrl: base,
      ...(token && { apiKey: token }),
      model: model ?? defaultModel,
      ...priced(price),
      ...(!baseUrl && known.isOperators && { isOperators: true as const }),
    };
  };

const keyed = ({ token, model, known }: GivenToIntegration): KeyedService | undefined =>
  token === undefined
    ? undefined
    : {
        apiKey: token,
        ...(model !== undefined && { model }),
        ...(known.isOperators && known.baseUrl !== undefined && { baseUrl: known.baseUrl, isOperators: true as const }),
      };

/** The one in the address of an endpoint: `bedrock-runtime.<region>.amazonaws.com`. */
const REGION = /\.([a-z]{2}(?:-[a-z]+)+-\d)\./;

function bedrock({ token, baseUrl, model, known }: GivenToIntegration): BedrockService | undefined {
  const base = baseUrl ?? known.baseUrl;
  if (!token || !base) return undefined;
  return {
    apiKey: token,
    baseUrl: base,
    region: REGION.exec(base)?.[1] ?? 'us-east-1',
    ...(model !== undefined && { model }),
    ...(baseUrl === undefined && known.isOperators && { isOperators: true as const }),
  };
}

function azure({ token, baseUrl, model, version }: GivenToIntegration): AzureService | undefined {
  if (!token || !baseUrl || !model) return undefined;
  return { apiKey: token, baseUrl, model, ...(version !== undefined && { apiVersion: version }) };
}

/** What is configured by a key and an address. */
const byKey = (apiKey: string | undefined, baseUrl: string | undefined): KeyedService | undefined =>
  apiKey === undefined ? undefined : { apiKey, ...(baseUrl !== undefined && { baseUrl, isOperators: true as const }) };

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
  google: {
    label: 'Google',
    setting: 'GOOGLE_API_KEY',
    ofDeployment: (config) => byKey(config.GOOGLE_API_KEY, config.GOOGLE_BASE_URL),
    integrations: { google: keyed },
    secretsOf: ({ apiKey }) => [apiKey],
    isItsModel: (id) => id.startsWith('gemini-'),
    unknownWindow: 1_000_000,
  },
  'google-vertex': {
    label: 'Google Vertex AI',
    setting: 'VERTEX_API_KEY',
    ofDeployment: (config) => byKey(config.VERTEX_API_KEY, config.VERTEX_BASE_URL),
    integrations: { 'google-vertex': keyed },
    secretsOf: ({ apiKey }) => [apiKey],
    isItsModel: () => false,
    prefix: 'vertex',
    unknownWindow: 1_000_000,
  },
  'amazon-bedrock': {
    label: 'Amazon Bedrock',
    setting: 'BEDROCK_REGION',
    ofDeployment: ({
      BEDROCK_REGION: region,
      BEDROCK_BASE_URL: baseUrl,
      AWS_BEARER_TOKEN_BEDROCK: apiKey,
      BEDROCK_ACCESS_KEY_ID: id,
      BEDROCK_SECRET_ACCESS_KEY: secret,
      BEDROCK_SESSION_TOKEN: session,
    }) => {
      const accessKey = id && secret ? { id, secret, ...(session && { session }) } : undefined;
      if (!region || !(apiKey ?? accessKey)) return undefined;
      const address = baseUrl === undefined ? {} : { baseUrl, isOperators: true as const };
      return { region, ...address, ...(apiKey ? { apiKey } : { ...(accessKey && { accessKey }) }) };
    },
    integrations: { 'amazon-bedrock': bedrock },
    secretsOf: ({ apiKey, accessKey }) => [apiKey, accessKey?.id, accessKey?.secret, accessKey?.session],
    isItsModel: (id) => BEDROCK_MODEL.test(id),
    prefix: 'bedrock',
    unknownWindow: 128_000,
  },
  'azure-openai': {
    label: 'Azure OpenAI',
    setting: 'AZURE_OPENAI_API_KEY',
    ofDeployment: ({
      AZURE_OPENAI_API_KEY: apiKey,
      AZURE_OPENAI_BASE_URL: baseUrl,
      AZURE_OPENAI_DEPLOYMENT: model,
      AZURE_OPENAI_API_VERSION: apiVersion,
    }) =>
      apiKey && baseUrl && model
        ? { apiKey, baseUrl, model, isOperators: true, ...(apiVersion && { apiVersion }) }
        : undefined,
    integrations: { 'azure-openai': azure },
    secretsOf: ({ apiKey }) => [apiKey],
    isItsModel: () => false,
    prefix: 'azure',
    unknownWindow: 128_000,
  },
  mistral: {
    label: 'Mistral',
    setting: 'MISTRAL_API_KEY',
    ofDeployment: (config) => byKey(config.MISTRAL_API_KEY, config.MISTRAL_BASE_URL),
    integrations: { mistral: keyed },
    secretsOf: ({ apiKey }) => [apiKey],
    // Its weights are open, and others serve them: these are the names at its own address, without a `:` as Ollama has it.
    isItsModel: (id) =>
      /^((mistral|magistral|devstral|ministral|pixtral|codestral|labs-\w+)-[\w.-]*(latest|\d{4})|(mistral|magistral)-(large|medium|small))$/.test(
        id,
      ),
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
      'openai-compatible': serverAt('default'),
      openrouter: serverAt('openrouter/auto'),
    },
    secretsOf: ({ apiKey, baseUrl }) => [apiKey, tellingPath(baseUrl), new URL(baseUrl).password || undefined],
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

/** `anthropic.claude-...`, `us.amazon.nova-...`, and what an account has of its own. */
const BEDROCK_MODEL =
  /^(arn:aws[\w-]*:bedrock:|((us|us-gov|eu|apac|jp|au|ca|global)\.)?(ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|stability|twelvelabs|writer|zai)\.[a-z])/;

/** @returns the id as its provider has it */
export function idAtProvider(id: string, provider: ProviderName): string {
  const { prefix } = PROVIDERS[provider];
  return prefix !== undefined && id.startsWith(`${prefix}/`) ? id.slice(prefix.length + 1) : id;
}

const isItsModel = (id: string) => (name: ProviderName) =>
  idAtProvider(id, name) !== id || PROVIDERS[name].isItsModel(id);

const providerOf = (id: string): ProviderName => PROVIDER_NAMES.find(isItsModel(id)) ?? 'openai-compatible';

/** @returns what is known of a model; of an unknown one, what its spelling tells */
export function describeModel(id: string, credentials: ModelCredentials, catalogue: Catalogue): KnownModel {
  // The server's own id may look like anyone's (`gpt-oss-20b`): what the operator named it wins.
  const provider =
    id === credentials['openai-compatible']?.model ? 'openai-compatible' : (catalogue.providerOf(id) ?? providerOf(id));
  return described(id, provider, catalogue);
}

/** @returns what is known of a model, under the id by which people name it */
export function described(id: string, provider: ProviderName, catalogue: Catalogue): KnownModel {
  const { prefix, unknownWindow, isItsModel: isSpelt } = PROVIDERS[provider];
  const bare = idAtProvider(id, provider);
  const named = prefix === undefined || isSpelt(bare) ? bare : `${prefix}/${bare}`;
  return { ...catalogue.describe(bare, provider, unknownWindow), id: named };
}

/**
 * @returns the preferred model of a tier at a provider. The one that came with a credential serves every tier, unless the
 * operator's file names another for it.
 */
export function modelOfTier(
  tier: ProviderTier,
  provider: ProviderName,
  credentials: ModelCredentials,
  catalogue: Catalogue,
): KnownModel {
  const credential = credentials[provider];
  const given = typeof credential === 'object' ? credential.model : undefined;
  const isOwn = credentials.own?.includes(provider);
  const preferred = catalogue.preferred(tier, provider, given);
  const id = isOwn ? (given ?? preferred) : preferred;
  if (id === undefined) throw new Error(`the catalogue has no ${tier} model of ${provider}`);
  return { ...described(id, provider, catalogue), tier };
}
