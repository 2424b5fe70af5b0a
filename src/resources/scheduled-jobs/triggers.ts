/** The schedule that a job's row asks for. */
import { SCHEDULED_JOB, type ScheduledJobInput } from '../../../workflows/scheduled-job/messages.ts';
import type { Config } from '../../platform/core/config.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import type { Trigger } from '../../platform/temporal/triggers.ts';
import type { JobRow } from './store.ts';
import { customJobId } from './model.ts';

type Settings = Pick<Config, 'RUN_MAX_TURNS' | 'RUN_MAX_TOKENS' | 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
export type TriggerOfJob = ReturnType<typeof triggersOfJobs>;

/** Ids of the schedules of this deployment begin so. */
export const jobPrefix = ({ TASK_QUEUE_PREFIX }: Pick<Config, 'TASK_QUEUE_PREFIX'>): string =>
  `${TASK_QUEUE_PREFIX}job/`;

export const triggersOfJobs =
  (config: Settings) =>
  (row: JobRow, workspaceId: string): Trigger => {
    const { customerId, n, agentSlug, name } = row;
    const input: ScheduledJobInput = {
      ...{ customerId, workspaceId, source: { kind: 'job', n }, split: areQueuesSplit(config) },
      limits: { maxTurns: config.RUN_MAX_TURNS, maxTokens: config.RUN_MAX_TOKENS },
    };
    return {
      scheduleId: `${jobPrefix(config)}${customerId}/${customJobId(n)}`,
      revision: row.revision,
      enabled: row.enabled,
      when: { cron: row.cron },
      workflowType: SCHEDULED_JOB,
      taskQueue: queueName(config, 'orchestration'),
      args: [input],
      ...{ workspaceId, agent: agentSlug, note: name },
    };
  };
