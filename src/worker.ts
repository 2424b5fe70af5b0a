/** Is the composition root of the worker process: `node src/worker.ts`. */
import { Worker, type ActivityInterceptorsFactory, type WorkerOptions } from '@temporalio/worker';
import { sql } from 'drizzle-orm';
import { existsSync } from 'node:fs';
import { outlastingDatabase } from '../activities/database-away.ts';
import type { Activities } from '../activities/index.ts';
import { isModelCall } from '../activities/slots.ts';
import { checkRecord } from './checked-record.ts';
import { composeActivities } from './compose/activities.ts';
import { withServices } from './compose/process.ts';
import type { Services } from './compose/services.ts';
import { withoutParameters } from './platform/core/log.ts';
import { observeActivities } from './platform/temporal/observe.ts';
import { orAfter } from './platform/temporal/problems.ts';
import { ensureSchedule } from './platform/temporal/schedules.ts';
import { areQueuesSplit, queueName, QUEUES, type TaskQueue } from './platform/temporal/task-queues.ts';
import { versionOf } from './platform/temporal/deployments.ts';
import { createWorkerSlots, type WorkerSlots } from './platform/temporal/worker-slots.ts';
import { activityForWorkspace } from './platform/temporal/workspace-of-activity.ts';
import { bundleWorkflows, sealedBundle } from './platform/temporal/workflow-bundle.ts';
import { keepHousekeeper } from './housekeeper.ts';
import { systemJobSchedules } from './resources/scheduled-jobs/triggers.ts';
import { runUntilSignalled, type Runtime } from './runtime.ts';

/**
 * How long Temporal has to answer open polls when a worker ends. The SDK asks for that answer once, and if the request
 * is lost, the polls wait for their own deadline of 70 s.
 */
const UNANSWERED_MS = 5_000;

export interface RunningWorker {
  /** @throws Error where a part of the worker has ended by itself */
  check?(): void;
  /** Stops polling, finishes short work, and gives long work back. */
  close(): Promise<void>;
}

export async function startWorker(runtime: Runtime, services: Services): Promise<RunningWorker> {
  const { config, log } = runtime;
  await checkRecord(runtime, services);
  const served: TaskQueue[] = areQueuesSplit(config)
    ? QUEUES.filter((queue) => config.WORKER_QUEUES.includes(queue))
    : ['orchestration'];
  if (served.some((queue) => queue !== 'webhooks')) services.mcp.connect();
  const activities = composeActivities(runtime, services);
  const slots = new Map(served.map((queue) => [queue, createWorkerSlots(queue, config, isModelCall)]));
  const workers = await Promise.all(
    [...slots].map(async ([queue, own]) =>
      Worker.create({
        ...optionsOf(runtime, services, { queue, slots: own, activities }),
        ...(queue === 'orchestration' && { workflowBundle: await workflowsOf(config) }),
      }),
    ),
  );
  for (const [queue, { use }] of slots) services.meters.workerSlots.follow(queue, use);
  const running = workers.map((worker) => worker.run());
  for (const run of running) run.catch((err: unknown) => log.fatal({ err }, 'a worker ended'));
  const end = async (): Promise<void> => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await orAfter(
      config.SHUTDOWN_GRACE + UNANSWERED_MS,
      Promise.all([...running, ...[...slots.values()].map((own) => own.leave())]).then(() => {}),
      () =>
        log.warn('a worker could not finish its polls, because Temporal does not answer; they end with the process'),
    );
  };

  let leave = () => {};
  if (served.includes('orchestration')) {
    leave = await keepDeployment(runtime, services).catch(async (error: unknown) => {
      // These workers would poll for ever and keep a process alive that could not be started.
      await end();
      throw error;
    });
  }
  const stopSweeping = services.sandboxes.container.startSweeping(log);
  log.info(
    { queues: served.map((queue) => queueName(config, queue)), version: config.WORKER_BUILD_ID },
    'worker started',
  );
  return {
    check() {
      if (workers.some((worker) => worker.getState() === 'FAILED')) throw new Error('a worker ended');
    },
    async close() {
      leave();
      stopSweeping();
      await end();
    },
  };
}

/** Starts what works for the whole deployment. @returns what stops seeing to it */
async function keepDeployment(runtime: Runtime, { metering }: Services): Promise<() => void> {
  const { config, temporal } = runtime;
  for (const schedule of systemJobSchedules(config)) await ensureSchedule(temporal, schedule);
  if (config.BILLING_MODE !== 'live') await metering.forget();
  return keepHousekeeper(runtime);
}

async function workflowsOf({ WORKER_BUNDLE, TEMPORAL_CODEC_KEYS }: Runtime['config']) {
  const isSealed = TEMPORAL_CODEC_KEYS !== undefined;
  const codePath = WORKER_BUNDLE && (isSealed ? sealedBundle(WORKER_BUNDLE) : WORKER_BUNDLE);
  if (codePath && (!isSealed || existsSync(codePath))) return { codePath };
  return bundleWorkflows({ isSealed });
}

function optionsOf(
  { config, db, temporal }: Runtime,
  services: Services,
  { queue, slots, activities }: { queue: TaskQueue; slots: WorkerSlots; activities: Activities },
): WorkerOptions {
  return {
    connection: temporal.connection,
    namespace: temporal.namespace,
    dataConverter: temporal.dataConverter,
    ...versionOf(config),
    taskQueue: queueName(config, queue),
    activities,
    maxConcurrentActivityTaskExecutions: slots.total,
    interceptors: {
      activity: [
        observeActivities(services, config.TASK_QUEUE_PREFIX),
        activityForWorkspace(slots.of),
        rethrowingSafely,
        outlastingDatabase({ ping: () => db.rows(sql`select 1`) }),
      ],
    },
    maxCachedWorkflows: config.WORKER_MAX_CACHED_WORKFLOWS,
    // Without a cache there is room for one workflow only. A second workflow's task would push the first one out while
    // it waits for a local activity, and the first one's task would be lost until it times out.
    maxConcurrentWorkflowTaskExecutions: config.WORKER_MAX_CACHED_WORKFLOWS ? config.WORKER_MAX_WORKFLOW_TASKS : 1,
    shutdownGraceTime: config.SHUTDOWN_GRACE,
    // A cancelled model call has to stop within a second, and it learns of the cancellation with a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  };
}

/** A failure becomes part of a history, so it must not carry the values of a query. */
const rethrowingSafely: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute: (input, next) =>
      next(input).catch((error: unknown) => {
        throw withoutParameters(error);
      }),
  },
});

if (import.meta.main) await runUntilSignalled(withServices(startWorker));
