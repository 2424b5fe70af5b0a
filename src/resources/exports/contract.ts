/** The HTTP contract of exports: everything of a workspace as one archive. */
import { z } from 'zod';
import { BINARY, endpoint } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { EXPORT_FAILURES, EXPORT_PHASES, EXPORT_STATUSES } from './model.ts';

const Export = z
  .object({
    id: z.uuid(),
    status: z.enum(EXPORT_STATUSES),
    requested_by: z.string(),
    progress: z
      .object({
        phase: z.enum(EXPORT_PHASES),
        percent: z.int().min(0).max(100).describe('Of the tables; files come after them'),
        rows: z.int(),
        files: z.int(),
      })
      .nullable()
      .describe('Null where it is not under way'),
    size_bytes: z.int().nullable(),
    sha256: z.string().nullable().describe('Of the archive'),
    summary: z
      .object({
        tables: z.record(z.string(), z.int()),
        rows: z.int(),
        files: z.int(),
        file_bytes: z.int(),
        missing: z.int().describe('Files whose bytes were gone'),
        secrets: z.int().describe('Secrets that are not in it; the manifest says where each is to be set again'),
      })
      .nullable(),
    filename: z.string().nullable(),
    error_code: z.enum(EXPORT_FAILURES).nullable(),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().describe('The archive is there until then'),
  })
  .meta({ id: 'WorkspaceExport' });
export type ExportReply = z.input<typeof Export>;

const All = {
  path: '/v1/workspaces/{identity_workspace_id}/exports',
  right: 'workspace.export',
} as const;
const One = { ...All, path: `${All.path}/{export_id}` } as const;
const ofWorkspace = z.object({ identity_workspace_id: z.string() });
const ofExport = ofWorkspace.extend({ export_id: z.uuid() });

export const createExport = endpoint({
  ...All,
  id: 'exports.create',
  method: 'post',
  summary: 'Begin to make an archive of everything that the workspace has',
  description:
    'For owners, with a confirmation code. Rows as JSON lines and files, with a manifest; no secrets. It is as of one moment, and made in the background: ask `exports.get` how far it is.',
  params: ofWorkspace,
  otp: true,
  status: 201,
  reply: Export,
  problems: ['not_found', 'owner_required', 'export_under_way'],
});

export const listExports = endpoint({
  ...All,
  id: 'exports.list',
  summary: 'Archives of the workspace, the newest first',
  params: ofWorkspace,
  reply: listReply(Export),
  problems: ['not_found', 'owner_required'],
});

export const getExport = endpoint({
  ...One,
  id: 'exports.get',
  summary: 'One archive, and how far it is',
  params: ofExport,
  reply: Export,
  problems: ['not_found', 'owner_required'],
});

export const downloadExport = endpoint({
  ...One,
  path: `${One.path}/archive`,
  id: 'exports.download',
  audited: true,
  summary: 'The archive: a tar.gz',
  description: 'A download that broke off goes on with `Range`.',
  params: ofExport,
  ranged: true,
  reply: BINARY,
  problems: ['not_found', 'owner_required', 'export_not_ready'],
});

export const removeExport = endpoint({
  ...One,
  id: 'exports.remove',
  method: 'delete',
  whileArchived: true,
  summary: 'Take an archive back, or stop making it',
  params: ofExport,
  reply: Export,
  problems: ['not_found', 'owner_required'],
});
