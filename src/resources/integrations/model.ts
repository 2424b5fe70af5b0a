/** Words and rules of integrations: what one consists of, and what its credentials say of its state. Pure. */
import { PRICE_FORM, tokenPriceIn } from '../../platform/core/server-price.ts';

/** Ordered from best to worst. */
export const HEALTH_STATUSES = ['ok', 'unchecked', 'rate_limited', 'expired', 'invalid'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];
/** The status of an integration is the worst of its credentials; `unconfigured` beats everything. */
export const INTEGRATION_STATUSES = ['unconfigured', ...HEALTH_STATUSES] as const;
export type IntegrationStatus = (typeof INTEGRATION_STATUSES)[number];

/**
 * What an integration can be given.
 * - `customer_token`: a token or key that the provider is asked about; one for each scope
 * - `secrets`: any other value, under `section.key`
 * - `oauth_files`: accounts that are signed in elsewhere; this API cannot set them
 */
export interface Slot {
  where: 'customer_token' | 'secrets' | 'oauth_files';
  /** The `kind` of a token or file, or the `section.key` of a secret. */
  key: string;
  label: string;
  required: boolean;
  /** A value must look like this; an `address` must be one that may be reached. */
  format?: 'address' | 'host' | 'port' | 'price';
}

/** Runs and tools use the value of this scope. */
export const SHARED = 'shared';

/** The optional slot by which an integration brings an MCP server: its tools appear as `mcp.<slug>.<tool>`. */
export const MCP_URL = 'mcp.url';

/** Beside a credential for tools: `models` that runs can use, an `mcp` server whose tools agents get. */
export const EXTRAS = ['models', 'mcp'] as const;
export type Extra = (typeof EXTRAS)[number];

/** The values that were given for the slots of one integration. */
export interface SlotValues {
  /** There is one for each kind and scope. */
  tokens: readonly { kind: string; scope: string; tokenId: string; health: HealthStatus }[];
  /** Secrets are listed by `section.key`. */
  secrets: readonly string[];
}

export const isSet = ({ where, key }: Slot, { tokens, secrets }: SlotValues): boolean => {
  if (where === 'customer_token') return tokens.some(({ kind }) => kind === key);
  return where === 'secrets' && secrets.includes(key);
};

/** @returns whether every required slot is set; where none is required, whether any is */
export function isConfigured(slots: readonly Slot[], given: SlotValues): boolean {
  const required = slots.filter((slot) => slot.required);
  return required.length > 0 ? required.every((slot) => isSet(slot, given)) : slots.some((slot) => isSet(slot, given));
}

/** Where the token of an integration may go. */
export interface TokenOrigins {
  /** Empty if nothing sends the token over HTTP. */
  origins: readonly string[];
  /** The same for people. An address that a workspace or the operator named is not repeated. */
  words: string;
}
export interface ToolCredential extends TokenOrigins {
  token: string;
}

/** @returns why a tool that names the integration must not call the origin */
export const originFault = (slug: string, { origins, words }: TokenOrigins, origin: string): string | undefined =>
  origins.includes(origin)
    ? undefined
    : `${origin} is no address of the integration "${slug}": its token goes to ${words} and nowhere else`;

export const worstOf = (statuses: readonly HealthStatus[]): HealthStatus | undefined =>
  HEALTH_STATUSES.findLast((status) => statuses.includes(status));

/** An integration that needs no token has nothing to check, and stays `unchecked`. */
export const statusOf = (slots: readonly Slot[], given: SlotValues): IntegrationStatus =>
  isConfigured(slots, given) ? (worstOf(given.tokens.map(({ health }) => health)) ?? 'unchecked') : 'unconfigured';

/** @returns what is wrong with a value, as far as that can be told without the network */
export function flawOf({ format }: Slot, value: string): string | undefined {
  if (format === 'port' && !(/^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65_536)) {
    return 'must be a port from 1 to 65535';
  }
  if (format === 'price' && !tokenPriceIn(value)) return PRICE_FORM;
  if (format === 'host' && !/^[\w.:-]+$/.test(value)) return 'must be a host name';
  return undefined;
}

/** @returns the id of the workflow that checks a token which was just given */
export const checkWorkflowId = (tokenId: string): string => `integration-check-${tokenId}`;
