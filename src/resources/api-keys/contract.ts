/** The HTTP contract of API keys. The secret is in one reply only, that of the request which made it. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { IntId, listReply, Timestamp } from '../../platform/http/schemas.ts';
import { MAX_NAME_LENGTH } from './model.ts';

const ApiKey = z
  .object({
    id: z.int(),
    customer_id: z.string(),
    name: z.string(),
    key_prefix: z.string().describe('First 12 characters of the secret'),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().describe('To the minute; advisory'),
    revoked_at: Timestamp.nullable(),
    made_by: z
      .string()
      .nullable()
      .describe('Who made it. It is revoked with the removal of this person; null where it is not known'),
  })
  .meta({ id: 'ApiKey' });

const CreatedApiKey = ApiKey.omit({ last_used_at: true, revoked_at: true, made_by: true })
  .extend({
    key: z.string().describe('The secret. Shown this once; only its hash is kept'),
  })
  .meta({ id: 'CreatedApiKey' });

const NewApiKey = z
  .object(
    {
      name: z
        .string('name required')
        .trim()
        .min(1, 'name required')
        .max(MAX_NAME_LENGTH, `name too long (max ${MAX_NAME_LENGTH})`),
    },
    'name required',
  )
  .meta({ id: 'NewApiKey' });

export const listApiKeys = endpoint({
  id: 'api-keys.list',
  path: '/v1/api-keys',
  summary: 'Every key of the workspace: active first, then newest first, revoked included',
  reply: listReply(ApiKey),
});

export const createApiKey = endpoint({
  id: 'api-keys.create',
  path: '/v1/api-keys',
  summary: 'Make a key; the reply is the only place that shows its secret',
  body: NewApiKey,
  // Every key has full access to its workspace.
  ignored: ['scopes'],
  badInput: 400,
  status: 201,
  reply: CreatedApiKey,
  problems: ['plan_limit_exceeded'],
});

export const revokeApiKey = endpoint({
  id: 'api-keys.revoke',
  method: 'delete',
  path: '/v1/api-keys/{id}',
  summary: 'Revoke a key for good; revoking it again changes nothing',
  params: z.object({ id: IntId }),
  reply: NO_CONTENT,
  problems: ['not_found', 'not_your_key'],
});
