/** The HTTP contract of imports: what an archive has is brought into a workspace. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { PART_BYTES } from '../exports/model.ts';
import { IMPORT_FAILURES, IMPORT_PHASES, IMPORT_STATUSES, MAX_ARCHIVE_BYTES, MAX_PARTS } from './model.ts';

const Counts = z.record(z.string(), z.int());

const Import = z
  .object({
    id: z.uuid(),
    status: z.enum(IMPORT_STATUSES),
    requested_by: z.string(),
    size_bytes: z.int(),
    sha256: z.string(),
    part_bytes: z.int().describe('Each part has so many bytes, but the last one'),
    parts: z.int().describe('How many of its parts are there; the next one to be sent has this number'),
    of_parts: z.int(),
    progress: z
      .object({ phase: z.enum(IMPORT_PHASES), percent: z.int().min(0).max(100) })
      .nullable()
      .describe('Null where it is not under way'),
    source: z.string().nullable().describe('The workspace that the archive is of'),
    as_of: Timestamp.nullable(),
    new_ids: z
      .boolean()
      .nullable()
      .describe(
        'True where another workspace of this deployment has the ids of the archive: runs, projects and so on have others here',
      ),
    result: z
      .object({
        brought: Counts.describe('By table, and `manifests` and `files` beside them'),
        there: Counts.describe('Were there already'),
        refused: z
          .array(z.object({ what: z.string(), why: z.string() }))
          .describe('The first 200 of what could not be brought'),
        refused_count: z.int(),
        ended: z.int().describe('Runs and projects that were under way, and are brought as ended'),
      })
      .nullable(),
    not_brought: z.record(z.string(), z.string()).describe('Tables of an archive that are not brought, and why'),
    error_code: z.enum(IMPORT_FAILURES).nullable(),
    error_message: z.string().nullable(),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'WorkspaceImport' });
export type ImportReply = z.input<typeof Import>;

const NewImport = z
  .object({
    size_bytes: z.int().min(1).max(MAX_ARCHIVE_BYTES),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits')
      .describe('Of the archive'),
  })
  .meta({ id: 'NewWorkspaceImport' });
export type NewImport = z.output<typeof NewImport>;

const All = {
  path: '/v1/workspaces/{identity_workspace_id}/imports',
  surface: 'control-plane',
  credential: 'session',
  right: 'workspace.import',
} as const;
const One = { ...All, path: `${All.path}/{import_id}` } as const;
const ofWorkspace = z.object({ identity_workspace_id: z.string() });
const ofImport = ofWorkspace.extend({ import_id: z.uuid() });

export const createImport = endpoint({
  ...All,
  id: 'imports.create',
  method: 'post',
  summary: 'Announce an archive that is to be brought into the workspace',
  description:
    'For owners, with a confirmation code. Then its parts are sent in their order (`imports.sendPart`), and it is begun (`imports.start`). What is there already stays as it is.',
  params: ofWorkspace,
  body: NewImport,
  otp: true,
  status: 201,
  reply: Import,
  problems: ['not_found', 'owner_required', 'import_under_way'],
});

export const listImports = endpoint({
  ...All,
  id: 'imports.list',
  method: 'get',
  summary: 'Imports into the workspace, the newest first',
  params: ofWorkspace,
  status: 200,
  reply: listReply(Import),
  problems: ['not_found', 'owner_required'],
});

export const getImport = endpoint({
  ...One,
  id: 'imports.get',
  method: 'get',
  summary: 'One import: how far it is, and what came of it',
  params: ofImport,
  status: 200,
  reply: Import,
  problems: ['not_found', 'owner_required'],
});

export const sendImportPart = endpoint({
  ...One,
  path: `${One.path}/parts/{part}`,
  id: 'imports.sendPart',
  method: 'put',
  audited: false,
  summary: 'Send a part of the archive',
  description: 'In their order, from 0. A part that is there already may be sent again and is not looked at.',
  params: ofImport.extend({ part: z.coerce.number().int().min(0).max(MAX_PARTS) }),
  upload: { maxBytes: PART_BYTES },
  status: 204,
  reply: NO_CONTENT,
  problems: ['not_found', 'owner_required', 'import_not_open', 'invalid_upload', 'payload_too_large'],
});

export const startImport = endpoint({
  ...One,
  path: `${One.path}/start`,
  id: 'imports.start',
  method: 'post',
  summary: 'All parts are there: look through the archive, and bring what it has',
  params: ofImport,
  status: 200,
  reply: Import,
  problems: ['not_found', 'owner_required', 'import_not_open'],
});

export const removeImport = endpoint({
  ...One,
  id: 'imports.remove',
  method: 'delete',
  summary: 'Stop an import; what was brought until then stays',
  params: ofImport,
  status: 200,
  reply: Import,
  problems: ['not_found', 'owner_required'],
});
