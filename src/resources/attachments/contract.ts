/** The HTTP contract of reference files, and the one way to download any file by its id. */
import { z } from 'zod';
import { DOCUMENT_KINDS, DOCUMENT_PROBLEMS, DOCUMENT_UNITS } from '../../platform/documents/model.ts';
import { BINARY, endpoint } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { MAX_NEW_FILES } from '../projects/model.ts';
import { MAX_FILES, MAX_UPLOAD_BYTES } from './model.ts';

const ProjectPath = z.object({ project_id: z.string() });

const Reading = z
  .object({
    kind: z.enum(DOCUMENT_KINDS).nullable().describe('Null where it cannot be read'),
    readable: z.boolean(),
    unit: z.enum(DOCUMENT_UNITS).nullable().describe('What it is counted in; null for a text that is read as one'),
    count: z.int().nullable().describe('How many of that there are'),
    problem: z.enum(DOCUMENT_PROBLEMS).nullable().describe('Why it cannot be read'),
    summary: z.string().describe('All of it in words, such as `20 pages of text`, or why it cannot be read'),
  })
  .meta({ id: 'Reading' });

const Attachment = z
  .object({
    id: z.uuid(),
    filename: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    sha256: z.string(),
    reading: Reading.nullable().describe('What an agent reads it as; null where nobody has looked yet'),
    created_at: Timestamp,
  })
  .meta({ id: 'Attachment' });

export const AttachmentList = listReply(Attachment);

export const listAttachments = endpoint({
  id: 'attachments.list',
  path: '/v1/projects/{project_id}/attachments',
  summary: 'List the reference files of a project, oldest first',
  params: ProjectPath,
  badInput: 400,
  reply: AttachmentList,
  problems: ['not_found'],
});

export const uploadAttachments = endpoint({
  id: 'attachments.upload',
  method: 'post',
  path: '/v1/projects/{project_id}/attachments',
  audited: false,
  summary: 'Put reference files beside a project, all of them or none',
  description:
    'Its agents can read them with the tool `read_attachment`. The answer lists those of this upload, and says what each ' +
    'is read as (`reading`), or why it cannot be; it is kept all the same.',
  params: ProjectPath,
  uploads: { field: 'files', maxFiles: MAX_FILES, maxBytes: MAX_UPLOAD_BYTES },
  badInput: 400,
  status: 201,
  reply: AttachmentList,
  problems: ['not_found', 'project_ended'],
});

export const prepareAttachments = endpoint({
  id: 'attachments.prepare',
  method: 'post',
  path: '/v1/files/upload',
  audited: false,
  summary: 'Upload reference files for a project that is about to be started',
  description:
    'Give their ids as `attachment_ids` where the project is made: they are beside it before its first step begins. ' +
    'What no project has taken within a day is not taken any more, and deleted with a later upload.',
  uploads: { field: 'files', maxFiles: MAX_NEW_FILES, maxBytes: MAX_UPLOAD_BYTES },
  badInput: 400,
  status: 201,
  reply: AttachmentList,
});

export const downloadFile = endpoint({
  id: 'files.download',
  path: '/v1/files/download',
  summary: 'The bytes of an attachment or of a file that a run saved',
  // The id is a plain string, so that an ill-formed one is an unknown file and no other kind of mistake.
  query: z.object({ id: z.string().describe('Id of the attachment or of the run artifact') }),
  reply: BINARY,
  problems: ['not_found'],
});
