/**
 * What a caller can do with scheduled jobs. The row is written first, then Temporal's schedule follows it; housekeeping
 * sees to those whose turn was lost.
 */
import { cronProblem, nextRun } from '../../platform/core/cron.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller, ReceiveFiles } from '../../platform/http/endpoint.ts';
import type { FollowRow } from '../../platform/temporal/triggers.ts';
import type { AttachmentService } from '../attachments/service.ts';
import type { WorkspaceStore } from '../workspaces/store.ts';
import type { JobChange, NewJob } from './contract.ts';
import { customJobId, MAX_DESCRIPTION, numberIn } from './model.ts';
import type { JobRow, JobStore } from './store.ts';
import type { TriggerOfJob } from './triggers.ts';

export type JobService = ReturnType<typeof createJobService>;

export interface JobServiceDependencies {
  store: JobStore;
  workspaces: Pick<WorkspaceStore, 'whileOpen'>;
  triggerOf: TriggerOfJob;
  follow: FollowRow;
  attachments: Pick<AttachmentService, 'listOfJob' | 'uploadToJob' | 'deleteOfJob'>;
  heartbeatCounts: (customerId: string) => Promise<{ total: number; enabled: number }>;
}

const FIELDS = ['enabled', 'cron', 'name', 'brief', 'model', 'reasoning'] as const;

export const createJobService = (deps: JobServiceDependencies) => {
  const { store, workspaces, triggerOf, follow, attachments, heartbeatCounts } = deps;

  const findCustom = async (customerId: string, jobId: string): Promise<JobRow> => {
    const n = numberIn(jobId);
    return found(n === undefined ? undefined : await store.find(customerId, n));
  };

  return {
    async list({ customerId }: Caller) {
      const jobs = await store.list(customerId);
      const { total, enabled } = await heartbeatCounts(customerId);
      return {
        data: jobs.map(wireJob),
        meta: { total: jobs.length, heartbeat_total: total, heartbeat_enabled: enabled },
      };
    },

    async create(caller: Caller, body: NewJob) {
      requireCron(body.cron);
      const { name, cron, agent_slug: agentSlug, brief, enabled, model, reasoning } = body;
      const job = { name, cron, agentSlug, brief, enabled, model: model ?? 'auto', reasoning: reasoning ?? null };
      const row = await workspaces.whileOpen(caller.customerId, () => store.insert(caller.customerId, job));
      await follow.change(triggerOf(row, caller.workspaceId), () => store.delete(caller.customerId, row.n));
      return wireSaved(row);
    },

    async update(caller: Caller, jobId: string, change: JobChange) {
      const { customerId, workspaceId } = caller;
      const { n } = await findCustom(customerId, jobId);
      if (Object.keys(change).length === 0) {
        throw new Problem('bad_request', `provide at least one of ${FIELDS.join(', ')}`);
      }
      if (change.cron !== undefined) requireCron(change.cron);
      const { model, ...rest } = change;
      const { before, after } = await store.change(customerId, n, {
        ...rest,
        ...(model !== undefined && { model: model ?? 'auto' }),
      });
      await follow.change(triggerOf(after, workspaceId), () => store.change(customerId, n, valuesOf(before)));
      return wireJob(after);
    },

    async delete({ customerId, workspaceId }: Caller, jobId: string): Promise<void> {
      const row = await findCustom(customerId, jobId);
      // First, as a schedule without a row would go on; one that is missed is made anew by housekeeping.
      await follow.remove(triggerOf(row, workspaceId).scheduleId);
      await store.delete(customerId, row.n);
      await attachments.deleteOfJob(customerId, row.n);
    },

    async listAttachments({ customerId }: Caller, jobId: string) {
      const { n } = await findCustom(customerId, jobId);
      return attachments.listOfJob(customerId, n);
    },

    async uploadAttachments({ customerId }: Caller, jobId: string, receiveFiles: ReceiveFiles) {
      const { n } = await findCustom(customerId, jobId);
      return attachments.uploadToJob(customerId, n, receiveFiles);
    },
  };
};

/** @throws Problem bad_request */
function requireCron(cron: string): void {
  const problem = cronProblem(cron);
  if (problem) throw new Problem('bad_request', `cron: ${problem}`);
}

const valuesOf = ({ name, cron, agentSlug, brief, enabled, model, reasoning }: JobRow) => ({
  ...{ name, cron, agentSlug, brief, enabled, model, reasoning },
});

const wireJob = (row: JobRow) => ({
  id: customJobId(row.n),
  kind: 'custom' as const,
  agent: row.agentSlug,
  schedule: row.cron,
  enabled: row.enabled,
  next_run_at: row.enabled ? nextRun(row.cron) : null,
  description: [...row.brief].slice(0, MAX_DESCRIPTION).join(''),
  brief: row.brief,
  name: row.name,
  model: row.model,
  reasoning: row.reasoning,
});

const wireSaved = (row: JobRow) => ({
  ok: true as const,
  id: customJobId(row.n),
  name: row.name,
  cron: row.cron,
  agent_slug: row.agentSlug,
  brief: row.brief,
  enabled: row.enabled,
  model: row.model,
  reasoning: row.reasoning,
  requires_scheduler_restart: false,
});
