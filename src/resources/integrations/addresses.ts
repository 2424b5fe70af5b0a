/**
 * Tells where the APIs of integrations are: an address that the operator set goes before the one that the provider
 * publishes.
 */
import { ConfigError, type Config } from '../../platform/core/config.ts';
import { withoutTrailingSlashes } from '../../platform/core/text.ts';
import { integrations } from './catalogue.ts';

export type BaseAddresses = ReturnType<typeof createBaseAddresses>;

/** @throws ConfigError when a setting names an unknown integration, or one whose address the workspace gives */
export function createBaseAddresses(
  settings: Pick<Config, 'INTEGRATION_BASE_URLS' | 'OPENAI_BASE_URL' | 'ANTHROPIC_BASE_URL'>,
) {
  const set = new Map(Object.entries(settings.INTEGRATION_BASE_URLS));
  const wrong = [...set.keys()].find((slug) => !integrations.get(slug)?.baseUrl);
  if (wrong)
    throw new ConfigError(`INTEGRATION_BASE_URLS: there is no integration ${wrong} with an address to replace`);
  // A key is checked at the address at which it is used.
  const operators: Record<string, string | undefined> = {
    openai: settings.OPENAI_BASE_URL,
    anthropic: settings.ANTHROPIC_BASE_URL,
    ...Object.fromEntries(set),
  };
  const ofOperator = (slug: string) => {
    const url = operators[slug];
    return url === undefined ? undefined : withoutTrailingSlashes(url);
  };
  return {
    /** An address that the operator set may be private, so plain requests go there. */
    isOperators: (slug: string): boolean => ofOperator(slug) !== undefined,
    baseOf: (slug: string): string | undefined => ofOperator(slug) ?? integrations.get(slug)?.baseUrl,
  };
}
