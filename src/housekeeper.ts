/**
 * Keeps the housekeeping workflow running: every worker starts it on boot, and checks it every 30 s. Of its past
 * executions it leaves only the latest in Temporal's lists.
 */
import { HOUSEKEEPER, rhythmSignal, type HousekeeperInput, type Rhythm } from '../workflows/housekeeper/messages.ts';
import type { Config } from './platform/core/config.ts';
import { queueName } from './platform/temporal/task-queues.ts';
import type { Runtime } from './runtime.ts';

/** A workflow that was terminated is missed for so long at most. */
const LOOK_MS = 30_000;
/** A credential whose first check was lost is checked within this time. */
const CREDENTIALS_MS = 60_000;

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

  // An execution that is under way is left as it is.
  const look = () => workflow.start(HOUSEKEEPER, { ...options, workflowIdConflictPolicy: 'USE_EXISTING' });
  const timer = setInterval(() => {
    look().catch((err: unknown) => log.warn({ err }, 'could not look whether housekeeping is under way'));
  }, lookMs).unref();
  return () => clearInterval(timer);
}

/** Deletes the execution before the last from Temporal's list. */
export async function tidyWorkflowList({ config, temporal, log }: Needs, runId: string): Promise<void> {
  const { connection, namespace } = temporal;
  const workflowExecution = { workflowId: housekeeperId(config), runId };
  await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }).catch((err: unknown) => {
    // It is gone already, or this deployment may not delete and has a longer list.
    log.debug({ err, run_id: runId }, 'an execution of housekeeping could not be deleted');
  });
}
