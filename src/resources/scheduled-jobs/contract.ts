/** The HTTP contract of scheduled jobs. Bad input is 400 here, never 422. */
import { z } from 'zod';
import { NO_CONTENT, endpoint } from '../../platform/http/endpoint.ts';
import { listReply, notBlank, Timestamp } from '../../platform/http/schemas.ts';
import { AttachmentList } from '../attachments/contract.ts';
import { MAX_FILES, MAX_UPLOAD_BYTES } from '../attachments/model.ts';
import { warned } from '../references/contract.ts';
import { OutputSchema } from '../runs/contract.ts';
import { JOB_KINDS } from './model.ts';

const JobPath = z.object({ job_id: z.string() });

const required = (field: string, max: number) =>
  notBlank(z.string(`${field} required`).max(max, `${field} too long (max ${max})`), `${field} required`);
const Model = z.string().min(1).max(200).regex(/^\S+$/, 'must be a model id or auto');

export const NewJob = z
  .object({
    name: required('name', 120).transform((text) => text.trim()),
    cron: required('cron', 100),
    agent_slug: required('agent_slug', 64),
    brief: required('brief', 100_000),
    enabled: z.boolean().default(true),
    model: Model.nullish(),
    reasoning: z.boolean().nullish().describe('Omitted or null: automatic'),
    output_schema: OutputSchema.nullish(),
  })
  .meta({ id: 'NewScheduledJob' });
export type NewJob = z.output<typeof NewJob>;

const JobChange = z
  .object({
    enabled: z.boolean().optional(),
    cron: required('cron', 100).optional(),
    name: required('name', 120)
      .transform((text) => text.trim())
      .optional(),
    brief: required('brief', 100_000).optional(),
    model: Model.nullable().optional().describe('Null: back to auto'),
    reasoning: z.boolean().nullable().optional().describe('Null: back to automatic'),
    output_schema: OutputSchema.nullable().optional(),
  })
  .meta({ id: 'ScheduledJobChange' });
export type JobChange = z.output<typeof JobChange>;

const Job = z
  .object({
    id: z.string(),
    kind: z.enum(JOB_KINDS),
    agent: z.string().nullable(),
    schedule: z.string(),
    enabled: z.boolean(),
    next_run_at: Timestamp.nullable(),
    description: z.string(),
    brief: z.string().optional().describe('Custom jobs'),
    name: z.string().optional().describe('Custom jobs'),
    model: z.string().optional().describe('Custom jobs'),
    reasoning: z.boolean().nullable().optional().describe('Custom jobs; null: automatic'),
    output_schema: OutputSchema.nullable().optional().describe('Custom jobs'),
  })
  .meta({ id: 'ScheduledJob' });

const ChangedJob = Job.extend(warned).meta({ id: 'ChangedScheduledJob' });

const SavedJob = z
  .object({
    ok: z.literal(true),
    id: z.string(),
    name: z.string(),
    cron: z.string(),
    agent_slug: z.string(),
    brief: z.string(),
    enabled: z.boolean(),
    model: z.string(),
    reasoning: z.boolean().nullable(),
    output_schema: OutputSchema.nullable(),
    requires_scheduler_restart: z.boolean(),
    ...warned,
  })
  .meta({ id: 'SavedScheduledJob' });

export const listJobs = endpoint({
  id: 'scheduled-jobs.list',
  path: '/v1/scheduled-jobs',
  summary: 'System, agent and custom jobs, with when each runs next',
  badInput: 400,
  reply: listReply(Job, { heartbeat_total: z.int(), heartbeat_enabled: z.int() }),
});

export const createJob = endpoint({
  id: 'scheduled-jobs.create',
  path: '/v1/scheduled-jobs',
  summary: 'Run an agent with a brief at the times of a cron expression, UTC',
  body: NewJob,
  badInput: 400,
  status: 201,
  reply: SavedJob,
  problems: ['name_taken', 'plan_limit_exceeded', 'runtime_unreachable'],
});

export const updateJob = endpoint({
  id: 'scheduled-jobs.update',
  method: 'patch',
  path: '/v1/scheduled-jobs/{job_id}',
  summary: 'Enable, disable or change a job; of one that ships only whether and when it runs',
  params: JobPath,
  body: JobChange.default({}),
  badInput: 400,
  reply: ChangedJob,
  problems: ['builtin_immutable', 'not_found', 'name_taken', 'runtime_unreachable'],
});

export const deleteJob = endpoint({
  id: 'scheduled-jobs.delete',
  method: 'delete',
  path: '/v1/scheduled-jobs/{job_id}',
  summary: 'Delete a custom job; its runs stay',
  params: JobPath,
  badInput: 400,
  reply: NO_CONTENT,
  problems: ['builtin_immutable', 'not_found', 'runtime_unreachable'],
});

export const listJobAttachments = endpoint({
  id: 'scheduled-jobs.listAttachments',
  path: '/v1/scheduled-jobs/{job_id}/attachments',
  summary: 'The files of a custom job, oldest first',
  params: JobPath,
  badInput: 400,
  reply: AttachmentList,
  problems: ['builtin_immutable', 'not_found'],
});

export const uploadJobAttachments = endpoint({
  id: 'scheduled-jobs.uploadAttachments',
  method: 'post',
  path: '/v1/scheduled-jobs/{job_id}/attachments',
  summary: 'Put files beside a custom job, all of them or none',
  description: 'Its runs can read them with the tool `read_attachment`. The answer lists those of this upload.',
  params: JobPath,
  uploads: { field: 'files', maxFiles: MAX_FILES, maxBytes: MAX_UPLOAD_BYTES },
  badInput: 400,
  status: 201,
  reply: AttachmentList,
  problems: ['builtin_immutable', 'not_found'],
});
