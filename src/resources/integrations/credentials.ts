/**
 * What runs and tools get of a workspace's integrations, opened for the moment in which it is used. Each is one indexed
 * statement, and nothing is kept: a new value counts at once, and a deleted one is gone.
 */
import { sha256, type SecretBox } from '../../platform/core/crypto.ts';
import type { EachCredential, ModelCredentials } from '../../platform/models/types.ts';
import type { BaseAddresses } from './addresses.ts';
import { integrations, tokenKindOf } from './catalogue.ts';
import { MCP_URL, MODEL_INTEGRATIONS, SHARED } from './model.ts';
import { BASE_URL, DEFAULT_MODEL } from './provider.ts';
import { secretOwner, tokenOwner, type IntegrationStore, type SealedValue } from './store.ts';

export interface McpServer {
  /** Of the integration; its tools are `mcp.<name>.<tool>`. */
  name: string;
  url: string;
  /** The integration's token. */
  bearer?: string;
  /** Of what is kept of both: another one when they are given anew, also the same ones by somebody else. */
  given: string;
}

/**
 * Providers whose models are called by the OpenAI chat protocol, the preferred one first: what comes after the base
 * address, and the model where the workspace names none.
 */
const COMPATIBLE: Record<string, { path: string; model: string }> = {
  'openai-compatible': { path: '', model: 'default' },
  openrouter: { path: '', model: 'openrouter/auto' },
  mistral: { path: '', model: 'mistral-large-latest' },
  google: { path: '/openai', model: 'gemini-flash-latest' },
};

export interface CredentialOptions {
  store: Pick<IntegrationStore, 'listSealed'>;
  secretBox: Pick<SecretBox, 'open'>;
  addresses: BaseAddresses;
  /** What the managed model router gave the workspace: for those that have no such server of their own. */
  managedRouter: (customerId: string) => Promise<ModelCredentials['openaiCompatible']>;
}

export const createCredentials = ({ store, secretBox, addresses, managedRouter }: CredentialOptions) => {
  const openToken = (customerId: string, slug: string, kind: string, values: readonly SealedValue[]) => {
    const token = values.find((value) => value.slug === slug && value.isToken && value.key === kind);
    return token && secretBox.open(token.sealed, tokenOwner({ customerId, slug, kind, scope: SHARED }));
  };
  const openSecret = (customerId: string, slug: string, dotted: string, values: readonly SealedValue[]) => {
    const secret = values.find((value) => value.slug === slug && !value.isToken && value.key === dotted);
    return secret && secretBox.open(secret.sealed, secretOwner({ customerId, slug, dotted }));
  };
  const openDefaultToken = (customerId: string, slug: string, values: readonly SealedValue[]) => {
    const integration = integrations.get(slug);
    const kind = integration && tokenKindOf(integration);
    return kind && openToken(customerId, slug, kind, values);
  };

  /** The server of the first of these that the workspace has set up. */
  function compatibleOf(customerId: string, values: readonly SealedValue[]): ModelCredentials['openaiCompatible'] {
    for (const [slug, { path, model }] of Object.entries(COMPATIBLE)) {
      const apiKey = openDefaultToken(customerId, slug, values);
      const own = openSecret(customerId, slug, BASE_URL, values);
      const base = own ?? addresses.baseOf(slug);
      if (!base || !(own ?? apiKey)) continue;
      return {
        baseUrl: base + path,
        ...(apiKey && { apiKey }),
        model: openSecret(customerId, slug, DEFAULT_MODEL, values) ?? model,
        ...(!own && addresses.isOperators(slug) && { isOperators: true as const }),
      };
    }
    return undefined;
  }

  return {
    async modelCredentials(customerId: string): Promise<EachCredential> {
      const values = await store.listSealed(customerId, MODEL_INTEGRATIONS);
      return {
        anthropicApiKey: openDefaultToken(customerId, 'anthropic', values),
        openaiApiKey: openDefaultToken(customerId, 'openai', values),
        openaiCompatible: compatibleOf(customerId, values) ?? (await managedRouter(customerId)),
      };
    },

    /** The first model provider whose token the workspace gave. */
    async modelVendorOf(customerId: string): Promise<string | null> {
      const values = await store.listSealed(customerId, MODEL_INTEGRATIONS);
      return MODEL_INTEGRATIONS.find((slug) => values.some((value) => value.isToken && value.slug === slug)) ?? null;
    },

    /** The shared token of an integration, for tools. */
    async integrationCredential(customerId: string, slug: string): Promise<string | undefined> {
      if (!integrations.has(slug)) return undefined;
      return openDefaultToken(customerId, slug, await store.listSealed(customerId, [slug]));
    },

    /** Servers that the workspace named; they may be reached through guarded egress only. */
    async mcpServersOf(customerId: string): Promise<McpServer[]> {
      const values = await store.listSealed(customerId, MCP_INTEGRATIONS);
      return MCP_INTEGRATIONS.flatMap((slug) => {
        const url = openSecret(customerId, slug, MCP_URL, values);
        if (!url) return [];
        const bearer = openDefaultToken(customerId, slug, values);
        const sealed = values.filter((value) => value.slug === slug).map((value) => value.sealed);
        return [{ name: slug, url, ...(bearer && { bearer }), given: sha256(sealed.toSorted().join()) }];
      });
    },
  };
};

const MCP_INTEGRATIONS = [...integrations.values()]
  .filter(({ slots }) => slots.some(({ key }) => key === MCP_URL))
  .map(({ slug }) => slug);
