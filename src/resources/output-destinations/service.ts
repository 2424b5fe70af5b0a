/**
 * What a caller can do with output destinations and with the log of their deliveries. A delivery is accepted by its
 * row, and its workflow is started after that; where the start is lost, housekeeping repeats it, and the workflow id
 * keeps it from running twice.
 */
import { validate as isUuid } from 'uuid';
import { OUTPUT_DELIVERY } from '../../../workflows/output-delivery/messages.ts';
import type { outputDelivery } from '../../../workflows/output-delivery/workflow.ts';
import type { Config } from '../../platform/core/config.ts';
import type { SecretBox } from '../../platform/core/crypto.ts';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { first } from '../../platform/core/present.ts';
import { priorityOf } from '../../platform/core/priority.ts';
import { Problem } from '../../platform/core/problem.ts';
import { CLOSED } from '../../platform/db/circuit.ts';
import { found } from '../../platform/db/client.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { withinDeadline } from '../../platform/temporal/problems.ts';
import { searchAttributes } from '../../platform/temporal/search-attributes.ts';
import { createDeliveryStarter } from '../../platform/temporal/starting.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import { workflowState } from '../../platform/temporal/workflow-state.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import { changedConfig, configProblem } from './config.ts';
import type { OutputDeliveryQuery, DestinationChange, DestinationTarget, NewDestination } from './contract.ts';
import { destinationOrigin } from './host.ts';
import { outputWorkflowId } from './model.ts';
import type { RecipientStore } from './store/recipients.ts';
import type { Recipients } from './recipients.ts';
import { openConfig, sealConfig } from './secrets.ts';
import type { Deliver } from './send/delivering.ts';
import { OutputError, type DeliveredOutput } from './send/output.ts';
import type { DestinationRow } from './store/destinations.ts';
import type { DestinationStore, StartableOutput } from './store/index.ts';

export type DestinationService = ReturnType<typeof createDestinationService>;

type Settings = Pick<
  Config,
  'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES' | 'OUTPUT_TIMEOUT' | 'WEBHOOK_RETRY_INITIAL' | 'WEBHOOK_ALLOW_HTTP' | 'SMTP_URL'
>;

export interface DestinationServiceDependencies {
  store: DestinationStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  temporal: Temporal;
  secretBox: SecretBox;
  egress: Pick<Egress, 'isForbiddenUrl'>;
  /** Serves tests that a person waits for. */
  deliver: Deliver;
  recipients: Recipients;
  recipientStore: Pick<RecipientStore, 'list'>;
  /** Whoever has waits mailed has to be a member to be sent links that answer. */
  recordOwner: (caller: Caller) => Promise<void>;
  settings: Settings;
  log: Log;
}

export const createDestinationService = (deps: DestinationServiceDependencies) => {
  const {
    store,
    workspaces,
    temporal,
    secretBox,
    egress,
    deliver,
    recipients,
    recipientStore,
    recordOwner,
    settings,
    log,
  } = deps;

  const idOr404 = (id: string): string => found(isUuid(id) ? id : undefined);
  const find = async (customerId: string, id: string): Promise<DestinationRow> =>
    found(await store.find(customerId, idOr404(id)));

  /** @throws Problem invalid_url */
  function checkAddress(target: DestinationTarget): void {
    const problem = configProblem(target, egress, settings);
    if (problem) throw new Problem('invalid_url', problem);
  }

  const { startRecorded, startDue } = createDeliveryStarter({
    ...store,
    log,
    start: (delivery) => startDelivery(temporal, settings, delivery),
    hasEnded: async (delivery) => (await workflowState(temporal, outputWorkflowId(delivery))) !== 'running',
  });

  async function shown(customerId: string, rows: readonly DestinationRow[]) {
    const byMail = rows.filter(({ kind }) => kind === 'email').map(({ id }) => id);
    const known = byMail.length === 0 ? [] : await recipientStore.list(customerId, byMail);
    return rows.map((row) => ({
      ...wire(row),
      recipients: known
        .filter(({ destinationId }) => destinationId === row.id)
        .map(({ email, state }) => ({ email, state })),
    }));
  }

  /**
   * Is called after a destination was written. Recipients who are new are asked without being waited for, as mail
   * servers take their time.
   */
  async function written(caller: Caller, row: DestinationRow) {
    if (row.kind === 'email' && row.waits) await recordOwner(caller);
    const destination = first(await shown(row.customerId, [row]));
    if (row.kind === 'email') void recipients.ask(row);
    return destination;
  }

  return {
    /** Why the address of a destination can never be used, as far as that can be told without DNS. */
    addressFault: (target: DestinationTarget): string | undefined => configProblem(target, egress, settings),
    /** The configuration of a row, with its secrets. */
    open: (row: DestinationRow): DestinationTarget => openConfig(secretBox, row),
    seal: (row: Pick<DestinationRow, 'id' | 'customerId' | 'kind' | 'config'>) => sealConfig(secretBox, row),
    /** The origin that the secrets of a configuration are for. */
    originOf: destinationOrigin,
    /** Asks recipients who are new; of other kinds of destinations there are none. */
    async askRecipients(row: DestinationRow): Promise<void> {
      if (row.kind === 'email') await recipients.ask(row);
    },

    async list({ customerId }: Caller) {
      const rows = await store.list(customerId);
      return { data: await shown(customerId, rows), meta: { total: rows.length } };
    },

    async get({ customerId }: Caller, id: string) {
      return first(await shown(customerId, [await find(customerId, id)]));
    },

    /** @throws Problem invalid_url, name_taken, workspace_archived, plan_limit_exceeded */
    async create(caller: Caller, body: NewDestination) {
      const { customerId } = caller;
      checkAddress(body);
      const { name, kind, workflow_slugs: workflowSlugs, enabled, artifacts, waits, spending } = body;
      const id = newUuid();
      const config = sealConfig(secretBox, { id, customerId, kind, config: body.config });
      const row = { id, customerId, name, kind, ...config, workflowSlugs, enabled, artifacts, waits, spending };
      const inserted = await workspaces.underCap(
        ...([customerId, 'output_destinations'] as const),
        () => store.count(customerId),
        () => store.insert(row),
      );
      return written(caller, inserted);
    },

    /** @throws Problem bad_request, validation, invalid_url, name_taken, not_found */
    async update(caller: Caller, id: string, change: DestinationChange) {
      const { customerId } = caller;
      const { config, workflow_slugs: workflowSlugs, ...rest } = change;
      await find(customerId, id);
      if (Object.keys(change).length === 0) {
        throw new Problem(
          'bad_request',
          'provide at least one of name, config, workflow_slugs, enabled, artifacts, waits, spending',
        );
      }
      const after = await store.change(customerId, id, (row) => {
        if (row.kind === 's3' && (rest.waits || rest.spending)) {
          throw new Problem('bad_request', `${rest.waits ? 'waits' : 'spending'}: storage is told of nothing`);
        }
        const own = {
          ...rest,
          ...(workflowSlugs !== undefined && { workflowSlugs }),
          // A person decided the state, so the circuit begins anew.
          ...(rest.enabled !== undefined && CLOSED),
        };
        if (config === undefined) return own;
        const target = changedConfig(openConfig(secretBox, row), config);
        checkAddress(target);
        return { ...own, ...sealConfig(secretBox, { ...row, config: target.config }) };
      });
      return written(caller, after);
    },

    /** @throws Problem not_found */
    async remove({ customerId }: Caller, id: string): Promise<void> {
      const dropped = await store.delete(customerId, idOr404(id));
      // This only tidies up: an attempt finds its delivery gone and sends nothing.
      const cancel = (ref: (typeof dropped)[number]) =>
        temporal.client.workflow.getHandle(outputWorkflowId(ref)).cancel();
      await withinDeadline(temporal, () => Promise.allSettled(dropped.map(cancel))).catch(() => {});
    },

    /** Tries the destination. Whatever happened is the answer. */
    async test({ customerId }: Caller, id: string) {
      const destination = await find(customerId, id);
      const startedAt = performance.now();
      const error = await deliver(destination, testOutput()).then(
        () => null,
        (reason: unknown) => {
          if (reason instanceof OutputError) return reason.message;
          throw reason;
        },
      );
      return { delivered: error === null, error, duration_ms: Math.round(performance.now() - startedAt) };
    },

    async listDeliveries({ customerId }: Caller, query: OutputDeliveryQuery) {
      const { data, total } = await store.listDeliveries(customerId, query);
      return { data, meta: { limit: query.limit, offset: query.offset, total } };
    },

    /** @throws Problem not_found, delivery_in_flight */
    async redeliver({ customerId }: Caller, id: string) {
      await store.redeliver(customerId, idOr404(id));
      await startRecorded([id]).catch((err: unknown) =>
        log.warn({ err, delivery_id: id }, 'a redelivery could not be started; housekeeping will start it'),
      );
      return store.getDelivery(customerId, id);
    },

    /** Reads what the link of a recipient leads to. */
    readQuestion: recipients.read,

    /** @returns false where the link can no longer be used */
    async answerQuestion(token: string, answer: 'confirmed' | 'refused'): Promise<boolean> {
      const released = await recipients.answer(token, answer);
      if (released === undefined) return false;
      await startRecorded(released).catch((err: unknown) =>
        log.warn({ err }, 'deliveries that waited for a recipient could not be started; housekeeping will start them'),
      );
      return true;
    },

    /** Asks the recipients whom nobody asked yet, for example because there was no mail server. */
    askNeverAsked: recipients.askNeverAsked,

    /** Starts the deliveries that the completion of a project recorded. */
    startRecorded,

    startDue,
  };
};

const wire = ({
  id,
  name,
  kind,
  config,
  workflowSlugs,
  enabled,
  artifacts,
  waits,
  spending,
  createdAt,
  updatedAt,
  ...circuit
}: DestinationRow) => ({
  id,
  name,
  kind,
  config,
  workflow_slugs: workflowSlugs,
  enabled,
  artifacts,
  waits,
  spending,
  failing_since: circuit.failingSince,
  paused_at: circuit.pausedAt,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** Makes what a destination is sent when somebody tests it. */
const testOutput = (): DeliveredOutput => ({
  isSample: false,
  deliveryId: newUuid(),
  project: { id: 'test', title: 'Test', workflowSlug: 'test', workflowVersion: 1 },
  artifact: {
    id: newUuid(),
    phaseSlug: 'test',
    version: 1,
    schemaSlug: 'test',
    createdAt: new Date(),
    content: '# It works\n\nThis is a test: somebody tried this output destination.\n',
  },
});

/**
 * Starts a delivery's workflow. Fails where it has started already.
 * @throws Problem runtime_unreachable
 */
function startDelivery(temporal: Temporal, settings: Settings, delivery: StartableOutput): Promise<unknown> {
  const { deliveryId, redelivery, kind, projectId, workspaceId, customerId } = delivery;
  return withinDeadline(temporal, () =>
    temporal.client.workflow.start<typeof outputDelivery>(OUTPUT_DELIVERY, {
      workflowId: outputWorkflowId(delivery),
      taskQueue: queueName(settings, 'orchestration'),
      args: [
        {
          deliveryId,
          redelivery,
          kind,
          retry: { initialMs: settings.WEBHOOK_RETRY_INITIAL },
          timeoutMs: settings.OUTPUT_TIMEOUT,
          split: areQueuesSplit(settings),
        },
      ],
      // It starts on the worker of this process where there is one, which spares a round trip through the server.
      requestEagerStart: true,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: searchAttributes({ workspaceId, ...(projectId !== null && { projectId }) }),
      staticSummary: kind,
      staticDetails: projectId === null ? 'Told of a question' : `Output of project \`${projectId}\``,
      priority: priorityOf(customerId, 'deliveries'),
    }),
  );
}
