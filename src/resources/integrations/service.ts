/**
 * What a caller can do with integrations. Every write waits for the OTP gate, after everything that can be wrong with
 * it was found. A value that comes in is sealed at once and leaves again in `credentials.ts` and `health.ts` alone.
 */
import { INTEGRATION_HEALTH } from '../../../workflows/integration-health/messages.ts';
import type { integrationHealth } from '../../../workflows/integration-health/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import type { SecretBox } from '../../platform/core/crypto.ts';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import { can } from '../../platform/core/rights.ts';
import { found } from '../../platform/db/client.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Caller, Confirmation } from '../../platform/http/endpoint.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { queueName } from '../../platform/temporal/task-queues.ts';
import type { OtpService } from '../otp/service.ts';
import { ADDRESS_SECRETS, type BaseAddresses } from './addresses.ts';
import { findSlot, integrations } from './catalogue.ts';
import type { NewToken, IntegrationScope } from './contract.ts';
import { checkWorkflowId, flawOf, isConfigured, isSet, SHARED, statusOf, worstOf, type Slot } from './model.ts';
import type { Integration } from './provider.ts';
import { secretOwner, tokenOwner, type IntegrationStore, type SecretKey } from './store.ts';

export type IntegrationService = ReturnType<typeof createIntegrationService>;

export interface IntegrationServiceOptions {
  store: IntegrationStore;
  otp: Pick<OtpService, 'gate'>;
  secretBox: SecretBox;
  addresses: BaseAddresses;
  egress: Pick<Egress, 'isForbiddenUrl'>;
  temporal: Temporal;
  settings: Pick<Config, 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
  log: Log;
}

type Everything = Awaited<ReturnType<IntegrationStore['listGiven']>>;
type Given = ReturnType<typeof givenTo>;

export const createIntegrationService = (options: IntegrationServiceOptions) => {
  const { store, otp, secretBox, addresses, egress, temporal, settings, log } = options;

  const configOf = ({ slug, baseUrl }: Integration) => {
    if (!baseUrl) return [];
    const isOperators = addresses.isOperators(slug);
    const source = isOperators ? ('operator' as const) : ('default' as const);
    return [{ key: 'base_url', value: isOperators ? null : baseUrl, source }];
  };

  const summaryOf = (integration: Integration, given: Given) => {
    const { slug, name, category, description, slots, extras = [] } = integration;
    return {
      slug,
      name,
      category,
      description,
      is_configured: isConfigured(slots, given),
      status: statusOf(slots, given),
      credentials_required: slots.filter(({ required }) => required).length,
      credentials_set: slots.filter((slot) => isSet(slot, given)).length,
      credentials_total: slots.length,
      config_count: configOf(integration).length,
      extras: [...extras],
    };
  };

  /** The internal workspace acts for others; of anybody else what they name is ignored. @throws Problem not_found */
  async function ownerOf(caller: Caller, named: string | undefined): Promise<string> {
    const { customerId } = caller;
    if (named === undefined || named === customerId || !can(caller, 'integrations.write-any')) return customerId;
    if (!(await store.isWorkspace(named))) throw new Problem('not_found');
    return named;
  }

  /**
   * @returns the values that say where the tokens of an integration go, by `section.key`; undefined if no key opens one
   */
  async function addressesGiven(customerId: string, slug: string): Promise<Record<string, string> | undefined> {
    const values = await store.listSealed(customerId, [slug]);
    const given = values.filter(({ isToken, key }) => !isToken && ADDRESS_SECRETS.includes(key));
    try {
      return Object.fromEntries(
        given.map(({ key, sealed }) => [key, secretBox.open(sealed, secretOwner({ customerId, slug, dotted: key }))]),
      );
    } catch {
      return undefined;
    }
  }

  /**
   * Refuses a change of an address that would send a value to somebody for whom it was not given.
   * @param value undefined if the address is deleted
   * @throws Problem bad_request
   */
  async function checkReceivers({ customerId, slug, dotted }: SecretKey, value: string | undefined): Promise<void> {
    if (!ADDRESS_SECRETS.includes(dotted)) return;
    const given = givenTo({ slug }, await store.listGiven(customerId));
    const kept = [
      ...given.tokens.map(({ kind, scope }) => (scope === SHARED ? kind : `${kind} of the scope ${scope}`)),
      ...given.secrets.filter((key) => key.startsWith('server.') && !ADDRESS_SECRETS.includes(key)),
    ];
    if (kept.length === 0) return;
    const before = await addressesGiven(customerId, slug);
    const receivers = before && addresses.receiversOf(slug, before);
    const after = addresses.receiversOf(slug, { ...before, [dotted]: value });
    if (receivers && after.every((receiver) => receivers.includes(receiver))) return;
    const names = kept.join(', ');
    throw new Problem(
      'bad_request',
      `${dotted}: ${names} was given for another address and stays there. ` +
        `Delete ${names}, then change the address, then set ${names} again`,
    );
  }

  /** Starts checks once the write is through. The schedule makes up for a start that is lost. */
  async function requestChecks(customerId: string, tokenIds: readonly string[]): Promise<void> {
    const start = (tokenId: string) =>
      temporal.client.workflow.start<typeof integrationHealth>(INTEGRATION_HEALTH, {
        workflowId: checkWorkflowId(tokenId),
        taskQueue: queueName(settings, 'orchestration'),
        args: [{ tokenId }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: 'checks a new credential',
        priority: priorityOf(customerId),
      });
    await withinDeadline(temporal, () => Promise.all(tokenIds.map(start))).catch((err: unknown) =>
      log.warn({ err }, 'a new credential could not be checked at once; the schedule will check it'),
    );
  }

  return {
    async list({ customerId }: Caller) {
      const everything = await store.listGiven(customerId);
      const data = [...integrations.values()].map((integration) =>
        summaryOf(integration, givenTo(integration, everything)),
      );
      return { data, meta: { total: data.length } };
    },

    /** @throws Problem not_found */
    async get({ customerId }: Caller, slug: string) {
      const integration = found(integrations.get(slug));
      const given = givenTo(integration, await store.listGiven(customerId));
      return {
        ...summaryOf(integration, given),
        credentials: integration.slots.map((slot) => wireSlot(slot, given)),
        config: configOf(integration),
        tokens: given.tokens.map((token) => ({
          token_id: token.tokenId,
          kind: token.kind,
          scope: token.scope,
          health_status: token.health,
          checked_at: token.checkedAt,
          created_at: token.createdAt,
          updated_at: token.updatedAt,
        })),
      };
    },

    /** @throws Problem not_found, bad_request, and what the gate throws */
    async setToken(
      caller: Caller,
      confirmation: Confirmation,
      { slug, kind }: { slug: string; kind: string },
      { value, scope, customer_id: named }: NewToken,
    ) {
      checkToken(slug, kind);
      const key = { customerId: await ownerOf(caller, named), slug, kind, scope };
      const token = { ...key, tokenId: newUuid(), sealed: secretBox.seal(value, tokenOwner(key)) };
      await otp.gate(caller, confirmation, `integration.set:${slug}:${kind}:${scope}`, () =>
        store.writeAlone(key.customerId, slug, () => store.putToken(token)),
      );
      await requestChecks(key.customerId, [token.tokenId]);
      return { slug, kind, scope, is_set: true as const, health_status: 'unchecked' as const, token_id: token.tokenId };
    },

    /** @throws Problem not_found, bad_request, and what the gate throws */
    async deleteToken(
      caller: Caller,
      confirmation: Confirmation,
      { slug, kind }: { slug: string; kind: string },
      { scope, customer_id: named }: IntegrationScope,
    ): Promise<void> {
      checkToken(slug, kind);
      const key = { customerId: await ownerOf(caller, named), slug, kind, scope };
      if (!(await store.hasToken(key))) throw new Problem('not_found');
      await otp.gate(caller, confirmation, `integration.delete:${slug}:${kind}:${scope}`, async () => {
        if (!(await store.deleteToken(key))) throw new Problem('not_found');
      });
    },

    /** @throws Problem not_found, bad_request, and what the gate throws */
    async setSecret(
      caller: Caller,
      confirmation: Confirmation,
      { slug, dotted }: { slug: string; dotted: string },
      value: string,
    ) {
      const slot = checkSecret(slug, dotted);
      const flaw = flawOf(slot, value) ?? (slot.format === 'address' ? egress.isForbiddenUrl(value) : undefined);
      if (flaw) throw new Problem('bad_request', `value: ${flaw}`);
      const key = { customerId: caller.customerId, slug, dotted };
      const secret = { ...key, sealed: secretBox.seal(value, secretOwner(key)) };
      await checkReceivers(key, value);
      const toCheck = await otp.gate(caller, confirmation, `integration.secret.set:${slug}:${dotted}`, () =>
        store.writeAlone(key.customerId, slug, async () => {
          await checkReceivers(key, value);
          await store.putSecret(secret);
          return recheck(key);
        }),
      );
      await requestChecks(key.customerId, toCheck);
      return { slug, dotted, is_set: true as const };
    },

    /** @throws Problem not_found, bad_request, and what the gate throws */
    async deleteSecret(
      caller: Caller,
      confirmation: Confirmation,
      { slug, dotted }: { slug: string; dotted: string },
    ): Promise<void> {
      checkSecret(slug, dotted);
      const key = { customerId: caller.customerId, slug, dotted };
      if (!(await store.hasSecret(key))) throw new Problem('not_found');
      await checkReceivers(key, undefined);
      const scope = `integration.secret.delete:${slug}:${dotted}`;
      const toCheck = await otp.gate(caller, confirmation, scope, () =>
        store.writeAlone(key.customerId, slug, async () => {
          await checkReceivers(key, undefined);
          if (!(await store.deleteSecret(key))) throw new Problem('not_found');
          return recheck(key);
        }),
      );
      await requestChecks(key.customerId, toCheck);
    },
  };

  /** Checks the tokens again, because their health depends on the server that is asked. */
  async function recheck({ customerId, slug, dotted }: { customerId: string; slug: string; dotted: string }) {
    return dotted.startsWith('server.') ? store.recheck(customerId, slug) : [];
  }
};

/** @throws Problem not_found for an unknown slot, bad_request for one that is not set here */
function checkToken(slug: string, kind: string): void {
  const integration = found(integrations.get(slug));
  if (findSlot(integration, 'oauth_files', kind)) {
    throw new Problem('bad_request', `${kind}: accounts are signed in elsewhere, not set here`);
  }
  found(findSlot(integration, 'customer_token', kind));
}

/** @throws Problem not_found, bad_request */
const checkSecret = (slug: string, dotted: string): Slot =>
  found(findSlot(found(integrations.get(slug)), 'secrets', dotted));

const givenTo = ({ slug }: Pick<Integration, 'slug'>, { tokens, secrets }: Everything) => ({
  tokens: tokens.filter((token) => token.slug === slug),
  secrets: secrets.filter((secret) => secret.slug === slug).map(({ dotted }) => dotted),
});

function wireSlot(slot: Slot, given: Given) {
  const { key, label, required, where } = slot;
  const common = { label, required, is_set: isSet(slot, given) };
  if (where === 'secrets') return { ...common, where, dotted: key };
  if (where === 'oauth_files') return { ...common, where, kind: key, account_count: 0 };
  const tokens = given.tokens.filter(({ kind }) => kind === key);
  const token = tokens.find(({ scope }) => scope === SHARED) ?? tokens[0];
  return {
    ...common,
    where,
    kind: key,
    health_status: worstOf(tokens.map(({ health }) => health)) ?? null,
    token_id: token?.tokenId ?? null,
  };
}
