/**
 * Probes look at each part that the service needs. Every tenant may read what they say, so it contains no address, no
 * credential and none of the parts' own words.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Config } from '../../platform/core/config.ts';
import { newUuid } from '../../platform/core/ids.ts';
import { DISK_RESERVE, DISK_SHORT, type Disk } from '../../platform/files/disk.ts';
import type { FileStore } from '../../platform/files/files.ts';
import type { Temporal } from '../../platform/temporal/client.ts';
import { describeDeployment } from '../../platform/temporal/deployments.ts';
import { areQueuesSplit, queueName, QUEUES, type TaskQueue } from '../../platform/temporal/task-queues.ts';
import type { Health } from './model.ts';
import type { SystemStore } from './store.ts';

export interface ProbeResult {
  status: Health;
  detail?: string;
}

/** It throws where the part does not answer. */
export type Probe = () => Promise<ProbeResult>;

interface ProbeDependencies {
  store: Pick<SystemStore, 'ping'>;
  temporal: Temporal;
  files: FileStore;
  disk: Pick<Disk, 'free'>;
  config: Pick<
    Config,
    | 'TASK_QUEUE_PREFIX'
    | 'WORKER_QUEUES'
    | 'WORKER_DEPLOYMENT'
    | 'SMTP_URL'
    | 'FILES_S3_BUCKET'
    | 'BILLING_MODE'
    | 'STRIPE_SECRET_KEY'
  >;
  /** Providers for which the deployment has a credential. */
  providers: readonly string[];
  /** Those of them that have answered none of the latest calls of this process. */
  providersOut: () => readonly string[];
}

/** One part may take so long. All are asked at once, and the answer is due within five seconds. */
export const PATIENCE_MS = 3_000;

/** A poll lasts a minute; a worker that has not begun one for longer is gone, though the server still remembers it. */
const POLLED_WITHIN_MS = 90_000;

export function createProbes({
  store,
  temporal,
  files,
  disk,
  config,
  providers,
  providersOut,
}: ProbeDependencies): Record<string, Probe> {
  const served: readonly TaskQueue[] = areQueuesSplit(config) ? QUEUES : ['orchestration'];
  return {
    async postgres() {
      await store.ping();
      return { status: 'ok' };
    },

    async temporal() {
      const { connection } = temporal;
      await connection.withDeadline(Date.now() + PATIENCE_MS, () => connection.workflowService.getSystemInfo({}));
      return { status: 'ok' };
    },

    ...Object.fromEntries(served.map((queue) => [`workers.${queue}`, workersOf(temporal, config, queue)])),

    ...(config.WORKER_DEPLOYMENT && { 'workers.version': versionOf(temporal, config.WORKER_DEPLOYMENT) }),

    async files() {
      const key = `health/${newUuid()}`;
      await files.put(key, Buffer.from(key), 'text/plain').catch(async (error: unknown) => {
        await files.discard(key, error);
        throw error;
      });
      const kept = await files.get(key).finally(() => files.discard(key));
      if (kept.toString() !== key) return { status: 'down', detail: 'gives back something else than it was given' };
      return { status: 'ok', detail: config.FILES_S3_BUCKET ? 's3' : 'local' };
    },

    async disk() {
      const free = await disk.free();
      if (free === undefined) return { status: 'ok', detail: 'keeps nothing' };
      // The exact figure would tell every tenant what the others do.
      if (free < DISK_RESERVE) return { status: 'degraded', detail: 'full: nothing new is accepted' };
      return free < DISK_SHORT ? { status: 'degraded', detail: 'less than 1 GB free' } : { status: 'ok' };
    },

    async mail() {
      if (!config.SMTP_URL) return { status: 'ok', detail: 'written to the log' };
      await reach(new URL(config.SMTP_URL));
      return { status: 'ok', detail: 'smtp' };
    },

    // Providers are not asked, because each of their answers is paid for.
    async models() {
      const out = providersOut();
      if (out.length > 0) return { status: 'degraded', detail: `does not answer: ${out.join(', ')}` };
      return { status: 'ok', detail: providers.join(', ') || 'offline' };
    },

    billing: async () =>
      config.BILLING_MODE === 'live' && !config.STRIPE_SECRET_KEY
        ? { status: 'degraded', detail: 'live, without a key of the provider' }
        : { status: 'ok', detail: config.BILLING_MODE },
  };
}

/** Tells whether anybody takes work from the queue. Only the workers of `orchestration` run workflows. */
function workersOf({ connection, namespace }: Temporal, config: ProbeDependencies['config'], queue: TaskQueue): Probe {
  const pollersOf = async (taskQueueType: number): Promise<number> => {
    const { pollers } = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: queueName(config, queue) },
        taskQueueType,
      }),
    );
    const since = Date.now() - POLLED_WITHIN_MS;
    return (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > since).length;
  };
  return async () => {
    const found = await Promise.all(
      (queue === 'orchestration' ? [WORKFLOWS, ACTIVITIES] : [ACTIVITIES]).map(pollersOf),
    );
    return found.every((count) => count > 0) ? { status: 'ok' } : { status: 'down', detail: 'no worker' };
  };
}
/** Workers with a version get nothing while none is current, however many there are. */
const versionOf =
  (temporal: Temporal, deployment: string): Probe =>
  async () => {
    const { current } = await temporal.connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      describeDeployment(temporal, deployment),
    );
    return current === null
      ? { status: 'degraded', detail: 'no version is current: aos deployments set-current <build id>' }
      : { status: 'ok', detail: current };
  };

/** The server's number for this type of task queue. */
const WORKFLOWS = 1;
const ACTIVITIES = 2;

/** Opens a connection and sends nothing. */
async function reach({ protocol, hostname, port }: URL): Promise<void> {
  const defaultPort = protocol === 'smtps:' ? 465 : 587;
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
  } finally {
    socket.destroy();
  }
}
