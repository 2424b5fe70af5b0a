/**
 * What a caller can do with scheduled jobs. The row is written first, and Temporal's schedule follows it; housekeeping
 * mends schedules that did not follow.
 */
import { cronProblem, nextRun } from '../../platform/core/cron.ts';
import { inSlices } from '../../platform/core/in-slices.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { findSchemaProblem } from '../../platform/core/schema-checks.ts';
import { found } from '../../platform/db/client.ts';
import type { Caller, ReceiveFiles } from '../../platform/http/endpoint.ts';
import type { FollowRow } from '../../platform/temporal/triggers.ts';
import type { AttachmentService } from '../attachments/service.ts';
import type { References } from '../references/service.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { JobChange, NewJob } from './contract.ts';
import { builtinJobs } from './builtin/index.ts';
import type { BuiltinJob } from './builtin/define.ts';
import { customJobId, MAX_DESCRIPTION, numberIn, readableCron } from './model.ts';
import type { OverrideRow, OverrideStore } from './overrides.ts';
import type { JobRow, JobStore } from './store.ts';
import type { TriggerOfJob, TriggerOfOverride } from './triggers.ts';

export type JobService = ReturnType<typeof createJobService>;

export interface JobServiceDependencies {
  store: JobStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  triggerOf: TriggerOfJob;
  overrides: Pick<OverrideStore, 'list' | 'change' | 'restore'>;
  triggerOfOverride: TriggerOfOverride;
  follow: FollowRow;
  attachments: Pick<AttachmentService, 'listOfJob' | 'uploadToJob' | 'deleteOfJob'>;
  references: Pick<References, 'warningsFor'>;
  heartbeatCounts: (customerId: string) => Promise<{ total: number; enabled: number }>;
}

/** These fields belong to any job; the others to a custom one alone. */
const TIMING = ['enabled', 'cron'] as const;
const FIELDS = [...TIMING, 'name', 'brief', 'model', 'reasoning', 'output_schema'] as const;

export const createJobService = (deps: JobServiceDependencies) => {
  const { store, workspaces, triggerOf, overrides, triggerOfOverride, follow, attachments, references } = deps;

  const findCustom = async (customerId: string, jobId: string): Promise<JobRow> => {
    if (builtinJobs.has(jobId))
      throw builtin('a job that ships cannot be deleted and has no files; disable it instead');
    const n = numberIn(jobId);
    return found(n === undefined ? undefined : await store.find(customerId, n));
  };

  async function changeBuiltin({ customerId, workspaceId }: Caller, job: BuiltinJob, change: JobChange) {
    const { cron, enabled, ...others } = change;
    if (Object.keys(others).length > 0)
      throw builtin(`of a job that ships only ${TIMING.join(' and ')} can be changed`);
    requireChange(change, TIMING);
    if (cron !== undefined) requireCron(cron);
    const { before, after } = await overrides.change(customerId, job.id, { cron, enabled });
    await follow.change(present(triggerOfOverride(after, workspaceId)), () => overrides.restore(after, before));
    return wireBuiltin(job, after);
  }

  /** What of a job does not work as it is. */
  const warningsFor = ({ customerId, agentSlug, model, reasoning }: JobRow) =>
    references.warningsFor(customerId, [{ kind: 'agent', slug: agentSlug, path: 'agent_slug' }], {
      path: 'model',
      request: { model: 'auto', override: model, reasoning },
    });

  return {
    triggerOf,
    /** Deletes the files of a job that is gone. */
    dropFiles: (customerId: string, n: number) => attachments.deleteOfJob(customerId, n),

    async list({ customerId }: Caller) {
      const changed = new Map((await overrides.list(customerId)).map((row) => [row.jobId, row]));
      const shipped = [...builtinJobs.values()].map((job) => wireBuiltin(job, changed.get(job.id)));
      const jobs = await store.list(customerId);
      const { total, enabled } = await deps.heartbeatCounts(customerId);
      return {
        data: [...shipped, ...(await inSlices(jobs, wireJob))],
        meta: { total: shipped.length + jobs.length, heartbeat_total: total, heartbeat_enabled: enabled },
      };
    },

    async create(caller: Caller, body: NewJob) {
      requireCron(body.cron);
      const { name, cron, agent_slug: agentSlug, brief, enabled } = body;
      const outputSchema = body.output_schema ?? null;
      await requireSchema(outputSchema);
      const model = body.model ?? 'auto';
      const job = { name, cron, agentSlug, brief, enabled, model, reasoning: body.reasoning ?? null, outputSchema };
      const row = await workspaces.underCap(
        caller.customerId,
        'scheduled_jobs',
        () => store.count(caller.customerId),
        () => store.insert(caller.customerId, job),
      );
      await follow.change(triggerOf(row, caller.workspaceId), () => store.delete(caller.customerId, row.n));
      return { ...wireSaved(row), ...(await warningsFor(row)) };
    },

    async update(caller: Caller, jobId: string, change: JobChange) {
      const { customerId, workspaceId } = caller;
      const shipped = builtinJobs.get(jobId);
      if (shipped) return changeBuiltin(caller, shipped, change);
      const { n } = await findCustom(customerId, jobId);
      requireChange(change, FIELDS);
      if (change.cron !== undefined) requireCron(change.cron);
      const { model, output_schema: outputSchema, ...rest } = change;
      await requireSchema(outputSchema);
      const { before, after } = await store.change(customerId, n, {
        ...rest,
        ...(model !== undefined && { model: model ?? 'auto' }),
        ...(outputSchema !== undefined && { outputSchema }),
      });
      await follow.change(triggerOf(after, workspaceId), () => store.change(customerId, n, valuesOf(before)));
      return { ...wireJob(after), ...(await warningsFor(after)) };
    },

    async delete({ customerId, workspaceId }: Caller, jobId: string): Promise<void> {
      const row = await findCustom(customerId, jobId);
      // The schedule goes first, as one without a row would go on; housekeeping makes one that is missing.
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

const builtin = (why: string) => new Problem('builtin_immutable', why);

/** @throws Problem bad_request */
function requireChange(change: JobChange, fields: readonly string[]): void {
  if (Object.keys(change).length > 0) return;
  throw new Problem('bad_request', `provide at least one of ${fields.join(', ')}`);
}

/** @throws Problem bad_request */
function requireCron(cron: string): void {
  const problem = cronProblem(cron);
  if (problem) throw new Problem('bad_request', `cron: ${problem}`);
}

/** @throws Problem bad_request */
async function requireSchema(schema: JobRow['outputSchema'] | undefined): Promise<void> {
  const problem = schema && (await findSchemaProblem(schema));
  if (problem) throw new Problem('bad_request', `output_schema: ${problem}`);
}

const valuesOf = ({ name, cron, agentSlug, brief, enabled, model, reasoning, outputSchema }: JobRow) => ({
  name,
  cron,
  agentSlug,
  brief,
  enabled,
  model,
  reasoning,
  outputSchema,
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
  output_schema: row.outputSchema,
});

const wireBuiltin = (job: BuiltinJob, override: OverrideRow | undefined) => {
  const enabled = override?.enabled ?? job.enabled;
  return {
    id: job.id,
    kind: job.kind,
    agent: job.agent,
    description: job.description,
    enabled,
    schedule: override?.cron ?? readableCron(job.cron),
    next_run_at: enabled ? nextRun(override?.cron ?? job.cron) : null,
  };
};

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
  output_schema: row.outputSchema,
  requires_scheduler_restart: false,
});
