/** The HTTP contract of feature flags: everybody reads what holds for them, the operator switches. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { FLAG_NAME, MAX_FLAG_NAME } from './model.ts';

const FlagPath = z.object({
  name: z
    .string()
    .max(MAX_FLAG_NAME)
    .regex(FLAG_NAME, 'must be lower-case letters and digits in parts joined by ".", "-" or "_"'),
});

const Exceptions = z.record(z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be a customer id'), z.boolean());

const Flag = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean().describe("For the caller's workspace"),
    updated_at: Timestamp,
    default_enabled: z.boolean().optional().describe('Where there is no exception; shown to the operator'),
    workspaces: Exceptions.optional().describe('Exceptions by customer id; shown to the operator'),
    updated_by: z.string().optional().describe('Shown to the operator'),
  })
  .meta({ id: 'FeatureFlag' });

const FlagChange = z
  .strictObject({
    enabled: z.boolean().describe('For every workspace without an exception'),
    description: z.string().max(500).nullish(),
    workspaces: Exceptions.refine((given) => Object.keys(given).length <= 1_000, 'at most 1000')
      .optional()
      .describe('All exceptions, by customer id; left out, those that there are stay'),
  })
  .meta({ id: 'FeatureFlagChange' });
export type FlagChange = z.output<typeof FlagChange>;

export const listFlags = endpoint({
  id: 'feature-flags.list',
  path: '/v1/feature-flags',
  summary: "Every flag, with what it is for the caller's workspace, by name",
  reply: listReply(Flag),
});

export const putFlag = endpoint({
  id: 'feature-flags.put',
  method: 'put',
  path: '/v1/feature-flags/{name}',
  credential: 'internal',
  summary: 'Make or change a flag; what is left out of it stays',
  params: FlagPath,
  body: FlagChange,
  reply: Flag,
  problems: ['not_found'],
});

export const deleteFlag = endpoint({
  id: 'feature-flags.delete',
  method: 'delete',
  path: '/v1/feature-flags/{name}',
  credential: 'internal',
  summary: 'Remove a flag: what asks for it finds it off',
  params: FlagPath,
  reply: NO_CONTENT,
  problems: ['not_found'],
});
