/**
 * What a caller can do with webhook endpoints and with the log of their deliveries. A delivery is accepted by its row,
 * and its workflow is started after that; where the start is lost, housekeeping repeats it, and the workflow id keeps
 * it from running twice.
 */
import { WEBHOOK_DELIVERY } from '../../../workflows/webhook-delivery/messages.ts';
import type { webhookDelivery } from '../../../workflows/webhook-delivery/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import type { SecretBox } from '../../platform/core/crypto.ts';
import { newSecret } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import { addressProblem, type Egress } from '../../platform/egress/egress.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createDeliveryStarter } from '../../platform/temporal/starting.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import { workflowState } from '../../platform/temporal/workflow-state.ts';
import type { WebhookDeliveryQuery, NewWebhook } from './contract.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import { deliveryWorkflowId, isSubscribable, PREVIOUS_SECRET_TTL_MS } from './model.ts';
import { secretOwner, type SealedSecrets } from './store/endpoints.ts';
import type { StartableDelivery, WebhookStore } from './store/index.ts';

export type WebhookService = ReturnType<typeof createWebhookService>;

type DeliverySettings = Pick<
  Config,
  'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES' | 'WEBHOOK_TIMEOUT' | 'WEBHOOK_RETRY_INITIAL'
>;

export interface WebhookServiceOptions {
  store: WebhookStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  temporal: Temporal;
  secretBox: SecretBox;
  egress: Pick<Egress, 'isForbiddenUrl'>;
  settings: DeliverySettings & Pick<Config, 'WEBHOOK_ALLOW_HTTP'>;
  log: Log;
}

interface SignedWebhook extends NewWebhook {
  /** Without one it is made, or stays. */
  secret?: string | undefined;
}

const newSigningSecret = (): string => `whsec_${newSecret()}`;

export const createWebhookService = (options: WebhookServiceOptions) => {
  const { store, workspaces, temporal, secretBox, egress, settings, log } = options;

  /** @throws Problem invalid_url */
  function checkUrl(url: string): void {
    const reason = addressProblem(egress, url, { allowHttp: settings.WEBHOOK_ALLOW_HTTP });
    if (reason) throw new Problem('invalid_url', `url: ${reason}`);
  }

  /**
   * @returns the secret that signs along after a rotation; none where no key opens it, as rotating is the way out of
   * that
   */
  function kept(before: SealedSecrets): string | null {
    try {
      opened(before);
      return before.sealedSecret;
    } catch {
      return null;
    }
  }

  const { startRecorded, startDue } = createDeliveryStarter({
    ...store,
    log,
    start: (delivery) => startDelivery(temporal, settings, delivery),
    hasEnded: async (delivery) =>
      (await workflowState(temporal, deliveryWorkflowId(delivery.deliveryId, delivery.redelivery))) !== 'running',
  });

  /** @returns the secret that signs. @throws Error where no key opens it */
  const opened = ({ customerId, id, sealedSecret }: SealedSecrets): string =>
    secretBox.open(sealedSecret, secretOwner(customerId, id));

  const insert = (customerId: string, { url, events, description, secret = newSigningSecret() }: SignedWebhook) =>
    workspaces.underCap(
      ...([customerId, 'webhook_endpoints'] as const),
      () => store.countSubscriptions(customerId),
      () =>
        store.insertSubscription({ customerId, url, events: [...new Set(events)], description }, (id) =>
          secretBox.seal(secret, secretOwner(customerId, id)),
        ),
    );

  return {
    insert,

    /** Why an address can never be used, as far as that can be told without DNS. */
    addressFault: (url: string): string | undefined =>
      addressProblem(egress, url, { allowHttp: settings.WEBHOOK_ALLOW_HTTP }),

    /** For what compares secrets and shows none. */
    async listWithSecrets(customerId: string) {
      const rows = await store.listSealed(customerId);
      return rows.map(({ url, events, description, ...row }) => {
        return { id: row.id, url, events, description, secret: opened(row) };
      });
    },

    /** Changes what is registered; the secret without the time in which the one before signs along. */
    change: (customerId: string, id: number, { events, description, secret }: SignedWebhook) =>
      store.changeSubscription(customerId, id, {
        events: [...new Set(events)],
        description,
        ...(secret !== undefined && { sealedSecret: secretBox.seal(secret, secretOwner(customerId, id)) }),
      }),

    /** Deletes one; attempts that are under way find their delivery dropped, and send nothing. */
    drop: (customerId: string, id: number) => store.deleteSubscription(customerId, id),

    /** @throws Problem unknown_event, invalid_url, plan_limit_exceeded */
    async create({ customerId }: Caller, { url, events, description }: NewWebhook) {
      const unknown = events.find((name) => !isSubscribable(name));
      if (unknown !== undefined) throw new Problem('unknown_event', `unknown event type: ${unknown}`);
      checkUrl(url);
      const secret = newSigningSecret();
      return { ...(await insert(customerId, { url, events, description, secret })), secret };
    },

    async list({ customerId }: Caller) {
      const data = await store.listSubscriptions(customerId);
      return { data, meta: { total: data.length } };
    },

    /** @throws Problem not_found */
    async remove({ customerId }: Caller, id: number): Promise<void> {
      const dropped = await store.deleteSubscription(customerId, id);
      // This only tidies up: an attempt finds its delivery dropped and sends nothing.
      const cancel = ({ deliveryId, redelivery }: (typeof dropped)[number]) =>
        temporal.client.workflow.getHandle(deliveryWorkflowId(deliveryId, redelivery)).cancel();
      await withinDeadline(temporal, () => Promise.allSettled(dropped.map(cancel))).catch(() => {});
    },

    async listDeliveries({ customerId }: Caller, query: WebhookDeliveryQuery) {
      const { data, total } = await store.listDeliveries(customerId, query);
      return { data, meta: { limit: query.limit, offset: query.offset, total } };
    },

    /** @throws Problem not_found, delivery_in_flight */
    async redeliver({ customerId }: Caller, id: string) {
      await store.redeliver(customerId, id);
      await startRecorded([id]).catch((err: unknown) =>
        log.warn({ err, delivery_id: id }, 'a redelivery could not be started; housekeeping will start it'),
      );
      return store.getDelivery(customerId, id);
    },

    async listEndpoints({ customerId }: Caller) {
      const data = await store.listEndpoints(customerId);
      return { data, meta: { total: data.length } };
    },

    /** Switches an endpoint on that the circuit has paused. @throws Problem not_found */
    resume: ({ customerId }: Caller, id: number) => store.resume(customerId, id),

    /** @throws Problem not_found */
    async rotateSecret({ customerId }: Caller, id: number) {
      const secret = newSigningSecret();
      const sealedSecret = secretBox.seal(secret, secretOwner(customerId, id));
      const change = (before: SealedSecrets) => ({ sealedSecret, sealedPreviousSecret: kept(before) });
      const until = await store.rotateSecret(customerId, id, change, PREVIOUS_SECRET_TTL_MS);
      return { id, secret, previous_secret_expires_at: until };
    },

    /** Starts the deliveries that the end of a run or project recorded. */
    startRecorded,

    startDue,
  };
};

/**
 * Starts a delivery's workflow. Fails where it has started already.
 * @throws Problem runtime_unreachable
 */
function startDelivery(
  temporal: Temporal,
  settings: DeliverySettings,
  { deliveryId, redelivery, eventType, workspaceId, customerId }: StartableDelivery,
): Promise<unknown> {
  return withinDeadline(temporal, () =>
    temporal.client.workflow.start<typeof webhookDelivery>(WEBHOOK_DELIVERY, {
      workflowId: deliveryWorkflowId(deliveryId, redelivery),
      taskQueue: queueName(settings, 'orchestration'),
      args: [
        {
          deliveryId,
          redelivery,
          eventType,
          retry: { initialMs: settings.WEBHOOK_RETRY_INITIAL },
          timeoutMs: settings.WEBHOOK_TIMEOUT,
          split: areQueuesSplit(settings),
        },
      ],
      // It starts on the worker of this process where there is one, which spares a round trip through the server.
      requestEagerStart: true,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: searchAttributes({ workspaceId }),
      staticSummary: eventType,
      staticDetails: `Delivery \`${deliveryId}\`${redelivery > 0 ? `, redelivery ${redelivery}` : ''}`,
      priority: priorityOf(customerId, 'deliveries'),
    }),
  );
}
