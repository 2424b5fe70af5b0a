/** What a caller can do with heartbeats. As with scheduled jobs, the row comes first and its schedule follows. */
import { validate as isUuid } from 'uuid';
import { SCHEDULED_JOB, type ScheduledJobInput } from '../../../workflows/scheduled-job/messages.ts';
import type { Config } from '../../platform/core/config.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { areQueuesSplit, queueName } from '../../platform/temporal/task-queues.ts';
import type { FollowedRows, FollowRow, Trigger } from '../../platform/temporal/triggers.ts';
import type { References } from '../references/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { HeartbeatChange, NewHeartbeat } from './contract.ts';
import { nextBeat } from './model.ts';
import type { HeartbeatRow, HeartbeatStore } from './store.ts';

type Settings = Pick<Config, 'RUN_MAX_TURNS' | 'RUN_MAX_TOKENS' | 'TASK_QUEUE_PREFIX' | 'WORKER_QUEUES'>;
export type HeartbeatService = ReturnType<typeof createHeartbeatService>;

/** The ids of the schedules of this deployment begin so. */
export const heartbeatPrefix = ({ TASK_QUEUE_PREFIX }: Pick<Config, 'TASK_QUEUE_PREFIX'>): string =>
  `${TASK_QUEUE_PREFIX}heartbeat/`;

export const triggersOfHeartbeats =
  (config: Settings) =>
  (row: HeartbeatRow, workspaceId: string): Trigger => {
    const { customerId, id, agentSlug, name, revision, enabled, intervalS } = row;
    const input: ScheduledJobInput = {
      customerId,
      workspaceId,
      source: { kind: 'heartbeat', id },
      split: areQueuesSplit(config),
      limits: { maxTurns: config.RUN_MAX_TURNS, maxTokens: config.RUN_MAX_TOKENS },
    };
    return {
      scheduleId: `${heartbeatPrefix(config)}${id}`,
      revision,
      enabled,
      when: { everyMs: intervalS * 1_000 },
      workflowType: SCHEDULED_JOB,
      taskQueue: queueName(config, 'orchestration'),
      args: [input],
      workspaceId,
      agent: agentSlug,
      note: name,
    };
  };

/** What the schedules of this deployment's heartbeats are held against. */
export const followedHeartbeats = (config: Settings, store: Pick<HeartbeatStore, 'listFollowed'>): FollowedRows => {
  const triggerOf = triggersOfHeartbeats(config);
  return {
    prefix: heartbeatPrefix(config),
    wanted: async (customerId) =>
      (await store.listFollowed(customerId)).map(({ row, workspaceId }) => triggerOf(row, workspaceId)),
  };
};

export interface HeartbeatServiceDependencies {
  store: HeartbeatStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  triggerOf: ReturnType<typeof triggersOfHeartbeats>;
  follow: FollowRow;
  references: Pick<References, 'warningsFor'>;
}

export const createHeartbeatService = (dependencies: HeartbeatServiceDependencies) => {
  const { store, workspaces, triggerOf, follow, references } = dependencies;
  const find = async (customerId: string, id: string): Promise<HeartbeatRow> =>
    found(isUuid(id) ? await store.find(customerId, id) : undefined);

  /** What was saved, and what of it does not work as it is. */
  async function saved(row: HeartbeatRow) {
    const named = [{ kind: 'agent' as const, slug: row.agentSlug, path: 'agent_slug' }];
    return { ...wire(row), ...(await references.warningsFor(row.customerId, named)) };
  }

  return {
    triggerOf,

    async list({ customerId }: Caller) {
      const rows = await store.list(customerId);
      return { data: rows.map(wire), meta: { total: rows.length } };
    },

    get: async ({ customerId }: Caller, id: string) => wire(await find(customerId, id)),

    async create({ customerId, workspaceId }: Caller, body: NewHeartbeat) {
      const heartbeat = {
        name: body.name,
        agentSlug: body.agent_slug,
        prompt: body.prompt,
        intervalS: body.interval_s,
        enabled: body.enabled,
      };
      const row = await workspaces.underCap(
        customerId,
        'heartbeats',
        async () => (await store.counts(customerId)).total,
        () => store.insert(customerId, heartbeat),
      );
      await follow.change(triggerOf(row, workspaceId), () => store.delete(customerId, row.id));
      return saved(row);
    },

    async update({ customerId, workspaceId }: Caller, id: string, change: HeartbeatChange) {
      await find(customerId, id);
      if (Object.keys(change).length === 0) {
        throw new Problem('bad_request', 'provide at least one of name, agent_slug, prompt, interval_s, enabled');
      }
      const { agent_slug: agentSlug, interval_s: intervalS, ...rest } = change;
      const { before, after } = await store.change(customerId, id, {
        ...rest,
        ...(agentSlug !== undefined && { agentSlug }),
        ...(intervalS !== undefined && { intervalS }),
      });
      await follow.change(triggerOf(after, workspaceId), () => store.change(customerId, id, valuesOf(before)));
      return saved(after);
    },

    async delete({ customerId, workspaceId }: Caller, id: string): Promise<void> {
      const row = await find(customerId, id);
      await follow.remove(triggerOf(row, workspaceId).scheduleId);
      await store.delete(customerId, id);
    },
  };
};

const valuesOf = ({ name, agentSlug, prompt, intervalS, enabled }: HeartbeatRow) => ({
  name,
  agentSlug,
  prompt,
  intervalS,
  enabled,
});

const wire = (row: HeartbeatRow) => ({
  id: row.id,
  name: row.name,
  agent_slug: row.agentSlug,
  prompt: row.prompt,
  interval_s: row.intervalS,
  enabled: row.enabled,
  next_run_at: row.enabled ? nextBeat(row.intervalS) : null,
  created_at: row.createdAt,
});
