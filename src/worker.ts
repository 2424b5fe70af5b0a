/** Root of the worker process, and the only place where activities meet what they need. `node src/worker.ts` */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities, type Activities } from '../activities/index.ts';
import { INTEGRATION_HEALTH } from '../workflows/integration-health/messages.ts';
import { withoutParameters } from './platform/core/log.ts';
import { ensureSchedule } from './platform/temporal/schedules.ts';
import { areQueuesSplit, queueName, QUEUES, type Queue } from './platform/temporal/task-queues.ts';
import { bundleWorkflows } from './platform/temporal/workflow-bundle.ts';
import { requireVectorsOf } from './resources/memory/re-embed.ts';
import { runUntilSignalled, type Runtime } from './runtime.ts';
import { withServices, type Services } from './services.ts';

/** How soon a check is made good whose start was lost. */
const HEALTH_TICK_MS = 60_000;

export interface RunningWorker {
  /** Stops polling, finishes short work, gives long work back. */
  close(): Promise<void>;
}

export async function startWorker(runtime: Runtime, services: Services): Promise<RunningWorker> {
  const { config, log, temporal } = runtime;
  await requireVectorsOf(runtime.db, services.models.embedding);
  await services.templates.seed();
  const served: Queue[] = areQueuesSplit(config)
    ? QUEUES.filter((queue) => config.WORKER_QUEUES.includes(queue))
    : ['orchestration'];
  if (served.some((queue) => queue !== 'webhooks')) services.mcp.connect();
  const activities = activitiesOf(runtime, services);
  const workers = await Promise.all(
    served.map(async (queue) =>
      Worker.create({
        ...optionsOf(runtime, queue, activities),
        ...(queue === 'orchestration' && { workflowBundle: await workflowsOf(config) }),
      }),
    ),
  );
  const running = workers.map((worker) => worker.run());
  for (const run of running) run.catch((err: unknown) => log.fatal({ err }, 'a worker ended'));

  if (served.includes('orchestration')) {
    await ensureSchedule(temporal, {
      scheduleId: `${config.TASK_QUEUE_PREFIX}housekeeping`,
      workflowType: 'housekeeping',
      taskQueue: queueName(config, 'orchestration'),
      everyMs: config.HOUSEKEEPING_INTERVAL,
    });
    await ensureSchedule(temporal, {
      scheduleId: `${config.TASK_QUEUE_PREFIX}integration-health`,
      workflowType: INTEGRATION_HEALTH,
      taskQueue: queueName(config, 'orchestration'),
      // Which credentials are due is in their rows; a tick without any costs next to nothing.
      everyMs: Math.min(config.INTEGRATION_HEALTH_INTERVAL, HEALTH_TICK_MS),
    });
  }
  const stopSweeping = services.sandboxes.container.startSweeping(log);
  log.info({ queues: served.map((queue) => queueName(config, queue)) }, 'worker started');
  return {
    async close() {
      stopSweeping();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
    },
  };
}

function activitiesOf({ config, log }: Runtime, services: Services): Activities {
  const { stores, engine, tools, models, egress, files, secretBox, runs, projects, webhooks } = services;
  return createActivities({
    ...{ runs: stores.runs, agents: stores.agents, tools, models, log, files, settings: config, fetch: egress.fetch },
    async startFollowing({ deliveries, nextRunId }) {
      if (deliveries.length > 0) await webhooks.startRecorded(deliveries);
      if (nextRunId) await runs.goAhead(nextRunId);
    },
    modelCredentials: services.modelCredentials,
    credential: services.integrationCredential,
    checkCredentials: services.checkCredentials,
    boot: services.boot,
    projects: engine,
    jobs: stores.jobs,
    heartbeats: stores.heartbeats,
    followedRows: services.followedRows,
    noteTurn: engine.noteTurn,
    startDeliveries: webhooks.startRecorded,
    startRun: runs.start,
    startProject: projects.start,
    listUnstartedProjects: stores.projects.listUnstarted,
    startPendingDeliveries: webhooks.startPending,
    deleteExpiredChallenges: stores.otp.deleteExpired,
    pages: stores.miniapps,
    tellSubmissions: services.miniapps.tellUntold,
    webhooks: { store: stores.webhooks, secretBox, fetch: egress.fetch, timeoutMs: config.WEBHOOK_TIMEOUT },
  });
}

const workflowsOf = async ({ WORKER_BUNDLE }: Runtime['config']) =>
  WORKER_BUNDLE ? { codePath: WORKER_BUNDLE } : bundleWorkflows();

function optionsOf({ config, temporal }: Runtime, queue: Queue, activities: Activities): WorkerOptions {
  return {
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: queueName(config, queue),
    activities,
    maxConcurrentActivityTaskExecutions: config.WORKER_MAX_CONCURRENT,
    interceptors: { activity: [() => ({ inbound: { execute: (input, next) => next(input).catch(rethrowSafe) } })] },
    maxCachedWorkflows: 1_000,
    maxConcurrentWorkflowTaskExecutions: config.WORKER_MAX_WORKFLOW_TASKS,
    shutdownGraceTime: config.SHUTDOWN_GRACE,
    // A cancelled model call is to stop within a second, and it learns of that with a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  };
}

/** A failure is history: it must not carry what a query was about. */
const rethrowSafe = (error: unknown): never => {
  throw withoutParameters(error);
};

if (import.meta.main) await runUntilSignalled(withServices(startWorker));
