/**
 * Opens what a workspace gave to its integrations, for the moment in which runs and tools use it. Each look is one
 * indexed statement, and nothing is kept: a new value counts at once, and a deleted one is gone.
 */
import { sha256, type SecretBox } from '../../platform/core/crypto.ts';
import { MODEL_INTEGRATIONS, workspaceCredentials } from '../../platform/models/catalogue.ts';
import type { ModelCredentials, ModelServer } from '../../platform/models/types.ts';
import type { BaseAddresses } from './addresses.ts';
import { integrations, tokenKindOf } from './catalogue.ts';
import { MCP_URL, SHARED, type TokenOrigins, type ToolCredential } from './model.ts';
import { API_VERSION, BASE_URL, DEFAULT_MODEL, MODEL_PRICE } from './provider.ts';
import { secretOwner, tokenOwner, type IntegrationStore, type SealedValue } from './store.ts';

export interface IntegrationServer {
  /** Of the integration; its tools are `mcp.<name>.<tool>`. */
  name: string;
  url: string;
  /** The integration's token. */
  bearer?: string;
  /** Of what is kept of both: another one when they are given anew, also the same ones by somebody else. */
  given: string;
}

export interface CredentialOptions {
  store: Pick<IntegrationStore, 'listSealed'>;
  secretBox: Pick<SecretBox, 'open'>;
  addresses: BaseAddresses;
  /** What the managed model router gave the workspace: for those that have no such server of their own. */
  managedRouter: (customerId: string) => Promise<ModelServer | undefined>;
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
  const originsOf = (customerId: string, slug: string, values: readonly SealedValue[]): TokenOrigins =>
    addresses.tokenOrigins(slug, openSecret(customerId, slug, BASE_URL, values));
  const openDefaultToken = (customerId: string, slug: string, values: readonly SealedValue[]) => {
    const integration = integrations.get(slug);
    const kind = integration && tokenKindOf(integration);
    return kind && openToken(customerId, slug, kind, values);
  };

  return {
    async modelCredentials(customerId: string): Promise<ModelCredentials> {
      const values = await store.listSealed(customerId, MODEL_INTEGRATIONS);
      const own = workspaceCredentials((slug) => ({
        token: openDefaultToken(customerId, slug, values),
        baseUrl: openSecret(customerId, slug, BASE_URL, values),
        model: openSecret(customerId, slug, DEFAULT_MODEL, values),
        version: openSecret(customerId, slug, API_VERSION, values),
        price: openSecret(customerId, slug, MODEL_PRICE, values),
        known: { baseUrl: addresses.baseOf(slug), isOperators: addresses.isOperators(slug) },
      }));
      return { ...own, 'openai-compatible': own['openai-compatible'] ?? (await managedRouter(customerId)) };
    },

    /** The first model provider whose token the workspace gave. */
    async modelVendorOf(customerId: string): Promise<string | null> {
      const values = await store.listSealed(customerId, MODEL_INTEGRATIONS);
      return MODEL_INTEGRATIONS.find((slug) => values.some((value) => value.isToken && value.slug === slug)) ?? null;
    },

    /**
     * Returns the shared token of an integration, for tools, and where it may go. One statement reads both: two could pair
     * a new token with the address of before.
     */
    async integrationCredential(customerId: string, slug: string): Promise<ToolCredential | undefined> {
      if (!integrations.has(slug)) return undefined;
      const values = await store.listSealed(customerId, [slug]);
      const token = openDefaultToken(customerId, slug, values);
      return token ? { token, ...originsOf(customerId, slug, values) } : undefined;
    },

    /** Where a tool that names the integration may send its token. */
    async tokenOrigins(customerId: string, slug: string): Promise<TokenOrigins> {
      return originsOf(customerId, slug, await store.listSealed(customerId, [slug]));
    },

    /** Servers that the workspace named; they may be reached through guarded egress only. */
    async mcpServersOf(customerId: string): Promise<IntegrationServer[]> {
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
