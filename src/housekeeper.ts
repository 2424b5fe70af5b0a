/**
 * Keeps the workflow of housekeeping: whoever starts starts it, and every worker looks again and again whether somebody
 * ended it. Of the schedules that did its work in earlier releases, and of its own past, it leaves nothing behind in
 * Temporal's lists.
 */
import { HOUSEKEEPER, rhythmSignal, type HousekeeperInput, type Rhythm } from '../workflows/housekeeper/messages.ts';
import type { Config } from './platform/core/config.ts';
import { ensureSchedule, removeSchedule } from './platform/temporal/schedules.ts';
import { queueName } from './platform/temporal/task-queues.ts';
import type { Runtime } from './runtime.ts';

/** A workflow that was terminated is missed for so long at most. */
const LOOK_MS = 30_000;
/** A credential whose first check was lost is checked within this time. */
const CREDENTIALS_MS = 60_000;
/** Where its task has failed so often, only workers that do not know it get it. */
const STUCK_ATTEMPTS = 3;
/** Of earlier releases. */
const SCHEDULES = ['housekeeping', 'integration-health', 'retention', 'metering'] as const;

type Settings = Pick<Config, 'TASK_QUEUE_PREFIX'>;
export const housekeeperId = ({ TASK_QUEUE_PREFIX }: Settings): string => `${TASK_QUEUE_PREFIX}housekeeping`;

const rhythmOf = (config: Config): Rhythm => ({
  choresMs: config.HOUSEKEEPING_INTERVAL,
  // The rows of credentials say when each is due, and a look that finds none costs next to nothing.
  credentialsMs: Math.min(config.INTEGRATION_HEALTH_INTERVAL, Math.max(config.HOUSEKEEPING_INTERVAL, CREDENTIALS_MS)),
  isMetered: config.BILLING_MODE === 'live',
});

type Needs = Pick<Runtime, 'config' | 'temporal' | 'log'>;

/** @returns what stops seeing to it; the workflow goes on at other workers @throws where Temporal does not take it */
export async function keepHousekeeper({ config, temporal, log }: Needs, lookMs = LOOK_MS): Promise<() => void> {
  const { workflow } = temporal.client;
  const rhythm = rhythmOf(config);
  const args: [HousekeeperInput] = [{ rhythm }];
  const options = {
    workflowId: housekeeperId(config),
    taskQueue: queueName(config, 'orchestration'),
    args,
    staticSummary: 'what nobody waits for',
    staticDetails:
      'Starts what was accepted and not started, settles what is lost, checks credentials, deletes the old.',
  };
  await workflow.signalWithStart(HOUSEKEEPER, { ...options, signal: rhythmSignal, signalArgs: [rhythm] });

  async function look(): Promise<void> {
    // One that is under way is left as it is.
    const handle = await workflow.start(HOUSEKEEPER, { ...options, workflowIdConflictPolicy: 'USE_EXISTING' });
    const { raw } = await handle.describe();
    if ((raw.pendingWorkflowTask?.attempt ?? 0) < STUCK_ATTEMPTS) return;
    log.warn({ workflow_id: options.workflowId }, 'housekeeping is left to workers of an earlier release');
    const { taskQueue } = options;
    const when = { everyMs: config.HOUSEKEEPING_INTERVAL };
    await ensureSchedule(temporal, { scheduleId: options.workflowId, workflowType: 'housekeeping', taskQueue, when });
  }
  const timer = setInterval(() => {
    look().catch((err: unknown) => log.warn({ err }, 'could not look whether housekeeping is under way'));
  }, lookMs).unref();
  return () => clearInterval(timer);
}

/**
 * The schedules go once the workflow is under way, and not before: until then, and after the way back to an earlier release,
 * they are what keeps house. An older worker that starts beside it may make them again, until the next execution.
 * @param runId the execution before the last
 */
export async function tidyWorkflowList({ config, temporal, log }: Needs, runId: string | undefined): Promise<void> {
  for (const name of SCHEDULES) await removeSchedule(temporal, config.TASK_QUEUE_PREFIX + name);
  if (runId === undefined) return;
  const { connection, namespace } = temporal;
  const workflowExecution = { workflowId: housekeeperId(config), runId };
  await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }).catch((err: unknown) => {
    // It is gone already, or this deployment may not delete and has a longer list.
    log.debug({ err, run_id: runId }, 'an execution of housekeeping could not be deleted');
  });
}
