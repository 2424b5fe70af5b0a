/**
 * What tokens are worth, asked of those who know it. A provider that cannot be reached, or says something that tells
 * neither, leaves the status as it was; it is asked again soon.
 *
 * What goes wrong is logged without its words: an address may have the token in it, an answer may repeat it.
 */
import type { Config } from '../../platform/core/config.ts';
import { errorCodeOf, rootOf } from '../../platform/core/causes.ts';
import type { SecretBox } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { plainFetch } from '../../platform/egress/limits.ts';
import type { BaseAddresses } from './addresses.ts';
import { integrations } from './catalogue.ts';
import { createProbe } from './probe.ts';
import { BASE_URL, type GivenValues, type Integration } from './provider.ts';
import { secretOwner, tokenOwner, type IntegrationStore, type TokenToCheck } from './store.ts';

export interface HealthCheckOptions {
  store: Pick<IntegrationStore, 'claimDue' | 'listSecretsBeside' | 'recordHealth'>;
  secretBox: Pick<SecretBox, 'open'>;
  addresses: BaseAddresses;
  egress: Pick<Egress, 'fetch'>;
  settings: Pick<Config, 'EGRESS_ALLOWLIST' | 'INTEGRATION_HEALTH_INTERVAL' | 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'>;
  log: Log;
}

/**
 * A token is checked again after this time where the provider told nothing, or was asked too often, or the worker died.
 */
const SOON_MS = 5 * 60_000;
const AT_ONCE = 10;
/** A tick ends after this time, and the next one goes on. */
const TICK_MS = 60_000;

export const createHealthChecks = (options: HealthCheckOptions) => {
  const { store, secretBox, addresses, egress, settings, log } = options;
  const plain = plainFetch(settings);
  const regularlyMs = settings.INTEGRATION_HEALTH_INTERVAL;
  const soonMs = Math.min(SOON_MS, regularlyMs);

  /** @returns undefined if the token was replaced or deleted meanwhile: it may not fit the address any more */
  async function open(token: TokenToCheck): Promise<GivenValues | undefined> {
    const { customerId, slug } = token;
    const secrets = await store.listSecretsBeside(token);
    if (!secrets) return undefined;
    return {
      token: secretBox.open(token.sealed, tokenOwner(token)),
      secrets: Object.fromEntries(
        secrets.map(({ key, sealed }) => [key, secretBox.open(sealed, secretOwner({ customerId, slug, dotted: key }))]),
      ),
    };
  }

  /** Only the token that runs and tools use by default has an answer for its kind; all tokens are asked about alike. */
  async function healthOf(token: TokenToCheck, integration: Integration, signal: AbortSignal) {
    const given = await open(token);
    if (!given) return undefined;
    // A token with characters that a header cannot carry is nobody's.
    if (!/^[\x20-\x7e]*$/.test(given.token) && token.slug !== 'smtp') return 'invalid';
    const own = given.secrets[BASE_URL];
    const isPlain = own === undefined && addresses.isOperators(token.slug);
    const probe = createProbe({
      base: own ?? addresses.baseOf(token.slug),
      fetch: isPlain ? plain : egress.fetch,
      allowlist: settings.EGRESS_ALLOWLIST,
      timeoutMs: settings.RESPONSE_TIMEOUT,
      signal,
    });
    return integration.check(probe, given);
  }

  async function check(token: TokenToCheck, signal: AbortSignal): Promise<void> {
    const integration = integrations.get(token.slug);
    // An earlier catalogue had this integration.
    if (!integration) return;
    const health = await healthOf(token, integration, signal).catch((error: unknown) => {
      log.warn({ ...placeOf(token), reason: reasonOf(error) }, 'a credential could not be checked');
      return undefined;
    });
    if (!health) return;
    await store.recordHealth(token, health, health === 'rate_limited' ? soonMs : regularlyMs);
    log.debug({ ...placeOf(token), health }, 'a credential was checked');
  }

  return {
    async checkCredentials({ tokenId }: { tokenId?: string }, signal: AbortSignal): Promise<void> {
      const deadline = performance.now() + TICK_MS;
      while (!signal.aborted && performance.now() < deadline) {
        const due = await store.claimDue({ ...(tokenId && { tokenId }), limit: AT_ONCE, againMs: soonMs });
        await Promise.all(due.map((token) => check(token, signal)));
        if (due.length < AT_ONCE) return;
      }
    },
  };
};

const placeOf = ({ customerId, slug, kind, scope }: TokenToCheck) => ({ customer_id: customerId, slug, kind, scope });

/** @returns the kind of failure, by what names it without quoting anything */
function reasonOf(error: unknown): string {
  const root = rootOf(error);
  return errorCodeOf(root) ?? root?.name ?? 'unknown';
}
