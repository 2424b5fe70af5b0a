/**
 * Tells where the APIs of integrations are: an address that the operator set goes before the one that the provider
 * publishes.
 */
import { ConfigError, type Config } from '../../platform/core/config.ts';
import { httpOrigin } from '../../platform/core/http-origin.ts';
import { withoutTrailingSlashes } from '../../platform/core/text.ts';
import { integrations } from './catalogue.ts';
import { MCP_URL, type TokenOrigins } from './model.ts';
import { BASE_URL, MAIL_PORT, SERVER_HOST, SERVER_PORT } from './provider.ts';

/** The secrets that say where the tokens of an integration go. */
export const ADDRESS_SECRETS: readonly string[] = [BASE_URL, MCP_URL, SERVER_HOST, SERVER_PORT];
type GivenAddresses = Readonly<Record<string, string | undefined>>;

export type BaseAddresses = ReturnType<typeof createBaseAddresses>;

/** @throws ConfigError when a setting names an unknown integration, or one whose address the workspace gives */
export function createBaseAddresses(
  settings: Pick<
    Config,
    | 'INTEGRATION_BASE_URLS'
    | 'OPENAI_BASE_URL'
    | 'ANTHROPIC_BASE_URL'
    | 'GOOGLE_BASE_URL'
    | 'VERTEX_BASE_URL'
    | 'MISTRAL_BASE_URL'
  >,
) {
  const set = new Map(Object.entries(settings.INTEGRATION_BASE_URLS));
  const wrong = [...set.keys()].find((slug) => !integrations.get(slug)?.baseUrl);
  if (wrong)
    throw new ConfigError(`INTEGRATION_BASE_URLS: there is no integration ${wrong} with an address to replace`);
  // A key is checked at the address at which it is used.
  const operators: Record<string, string | undefined> = {
    openai: settings.OPENAI_BASE_URL,
    anthropic: settings.ANTHROPIC_BASE_URL,
    google: settings.GOOGLE_BASE_URL,
    'google-vertex': settings.VERTEX_BASE_URL,
    mistral: settings.MISTRAL_BASE_URL,
    ...Object.fromEntries(set),
  };
  const ofOperator = (slug: string) => {
    const url = operators[slug];
    return url === undefined ? undefined : withoutTrailingSlashes(url);
  };
  const baseOf = (slug: string): string | undefined => ofOperator(slug) ?? integrations.get(slug)?.baseUrl;
  return {
    /** An address that the operator set may be private, so plain requests go there. */
    isOperators: (slug: string): boolean => ofOperator(slug) !== undefined,
    baseOf,

    /** @param own the address of the workspace's own server @returns where a tool may send the integration's token */
    tokenOrigins(slug: string, own: string | undefined): TokenOrigins {
      const base = httpOrigin(own ?? baseOf(slug));
      if (base === undefined) return { origins: [], words: 'no address that a tool can call' };
      if (own !== undefined) return { origins: [base], words: 'the server that the workspace named' };
      if (ofOperator(slug) !== undefined) return { origins: [base], words: 'the address that the operator set' };
      const origins = [base, ...(integrations.get(slug)?.hosts ?? []).map((host) => `https://${host}`)];
      return { origins, words: origins.join(', ') };
    },

    /** @returns everything that is sent the tokens of an integration, with these values of `ADDRESS_SECRETS` */
    receiversOf(slug: string, given: GivenAddresses): string[] {
      const { [SERVER_HOST]: host, [SERVER_PORT]: port = MAIL_PORT } = given;
      const mailServer = host === undefined ? undefined : `smtp://${host}:${port}`;
      const receivers = [httpOrigin(given[BASE_URL] ?? baseOf(slug)), httpOrigin(given[MCP_URL]), mailServer];
      return receivers.filter((receiver) => receiver !== undefined);
    },
  };
}
