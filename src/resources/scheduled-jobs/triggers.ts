/** Makes the schedules that rows ask for: those of jobs, and of what a workspace changed about one that ships. */
import { SCHEDULED_JOB, type ScheduledJobInput } from '../../../workflows/scheduled-job/messages.ts';
import { SYSTEM_JOB, type SystemJobInput } from '../../../workflows/system-job/messages.ts';
import type { Config } from '../../platform/core/config.ts';
import type { SystemSchedule } from '../../platform/temporal/schedules.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import type { FollowedRows, Trigger } from '../../platform/temporal/triggers.ts';
import { builtinJobs } from './builtin/index.ts';
import type { OverrideRow, OverrideStore } from './overrides.ts';
import type { JobRow, JobStore } from './store.ts';
import { customJobId } from './model.ts';

type Settings = Pick<Config, 'RUN_MAX_TURNS' | 'RUN_MAX_TOKENS' | 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
export type TriggerOfJob = ReturnType<typeof triggersOfJobs>;
export type TriggerOfOverride = ReturnType<typeof triggersOfOverrides>;

/** The ids of the schedules of this deployment begin so. */
export const jobPrefix = ({ TASK_QUEUE_PREFIX }: Pick<Config, 'TASK_QUEUE_PREFIX'>): string =>
  `${TASK_QUEUE_PREFIX}job/`;

type Source = ScheduledJobInput['source'];

const inputOf = (config: Settings, customerId: string, workspaceId: string, source: Source): ScheduledJobInput => ({
  customerId,
  workspaceId,
  source,
  split: areQueuesSplit(config),
  limits: { maxTurns: config.RUN_MAX_TURNS, maxTokens: config.RUN_MAX_TOKENS },
});

export const triggersOfJobs =
  (config: Settings) =>
  (row: JobRow, workspaceId: string): Trigger => {
    const { customerId, n, agentSlug, name } = row;
    return {
      scheduleId: `${jobPrefix(config)}${customerId}/${customJobId(n)}`,
      revision: row.revision,
      enabled: row.enabled,
      when: { cron: row.cron },
      workflowType: SCHEDULED_JOB,
      taskQueue: queueName(config, 'orchestration'),
      args: [inputOf(config, customerId, workspaceId, { kind: 'job', n })],
      workspaceId,
      agent: agentSlug,
      note: name,
    };
  };

export const triggersOfOverrides =
  (config: Settings) =>
  (row: OverrideRow, workspaceId: string): Trigger | undefined => {
    const { customerId, jobId } = row;
    const job = builtinJobs.get(jobId);
    if (!job) return undefined; // An earlier release shipped this job.
    const system: SystemJobInput = { jobId, customerId };
    const isSystem = job.kind === 'system';
    return {
      scheduleId: `${jobPrefix(config)}${customerId}/${jobId}`,
      revision: row.revision,
      enabled: row.enabled ?? job.enabled,
      when: { cron: row.cron ?? job.cron },
      workflowType: isSystem ? SYSTEM_JOB : SCHEDULED_JOB,
      taskQueue: queueName(config, 'orchestration'),
      args: [isSystem ? system : inputOf(config, customerId, workspaceId, { kind: 'builtin', id: jobId })],
      workspaceId,
      agent: job.agent ?? '',
      note: job.description,
    };
  };

/** One schedule serves all the workspaces that have not changed the job. */
export const systemJobSchedules = (config: Settings): SystemSchedule[] =>
  [...builtinJobs.values()]
    .filter(({ kind }) => kind === 'system')
    .map(({ id: jobId, cron }) => ({
      scheduleId: `${config.TASK_QUEUE_PREFIX}system-job/${jobId}`,
      workflowType: SYSTEM_JOB,
      taskQueue: queueName(config, 'orchestration'),
      when: { cron },
      args: [{ jobId } satisfies SystemJobInput],
    }));

/** Tells housekeeping which schedules of jobs this deployment should have. */
export const followedJobs = (
  config: Settings,
  { jobs, overrides }: { jobs: Pick<JobStore, 'listFollowed'>; overrides: Pick<OverrideStore, 'listFollowed'> },
): FollowedRows => {
  const [ofJob, ofOverride] = [triggersOfJobs(config), triggersOfOverrides(config)];
  return {
    prefix: jobPrefix(config),
    wanted: async (customerId) => [
      ...(await jobs.listFollowed(customerId)).map(({ row, workspaceId }) => ofJob(row, workspaceId)),
      ...(await overrides.listFollowed(customerId)).flatMap(
        ({ row, workspaceId }) => ofOverride(row, workspaceId) ?? [],
      ),
    ],
  };
};
