/** The HTTP contract of the files that runs saved. Their bytes come from the one way to download any file. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, offset, pageReply, Timestamp } from '../../platform/http/schemas.ts';

const RunArtifact = z
  .object({
    id: z.uuid(),
    run_id: z.string(),
    agent: z.string().nullable(),
    filename: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    sha256: z.string(),
    download_path: z.string().describe('Where its bytes are, on the same surface'),
    created_at: Timestamp,
  })
  .meta({ id: 'RunArtifact' });

export const listRunArtifacts = endpoint({
  id: 'run-artifacts.list',
  path: '/v1/run-artifacts',
  summary: 'Files that runs saved, newest first: of one run, of one agent or of the workspace',
  query: z.object({
    run_id: z.string().max(64).optional(),
    agent: z.string().max(64).optional(),
    limit: limit(500, 50),
    offset,
  }),
  reply: pageReply(RunArtifact),
  problems: ['not_found'],
});

export const getRunArtifact = endpoint({
  id: 'run-artifacts.get',
  path: '/v1/run-artifacts/{id}',
  summary: 'One file that a run saved, without its bytes',
  // The id is a plain string, so that an ill-formed one is an unknown file and no other kind of mistake.
  params: z.object({ id: z.string() }),
  reply: RunArtifact,
  problems: ['not_found'],
});
