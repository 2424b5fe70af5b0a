/** The HTTP contract of deploy tokens. The token is in one reply only, that of the request which made it. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { IntId, listReply, Timestamp } from '../../platform/http/schemas.ts';
import { MAX_DAYS, MAX_NAME_LENGTH } from './model.ts';

const DeployToken = z
  .object({
    id: z.int(),
    name: z.string(),
    actor: z.string().describe('What the audit log and deployments name it by'),
    created_by: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
    last_used_at: Timestamp.nullable().describe('To the minute; advisory'),
    revoked_at: Timestamp.nullable(),
    state: z.enum(['active', 'expired', 'revoked']),
  })
  .meta({ id: 'DeployToken' });

const NewDeployToken = z
  .object({
    name: z.string().trim().min(1).max(MAX_NAME_LENGTH).describe('Which pipeline has it'),
    expires_in_days: z.int().min(1).max(MAX_DAYS).default(90),
  })
  .meta({ id: 'NewDeployToken' });
export type NewDeployToken = z.output<typeof NewDeployToken>;

const common = { right: 'deploy-tokens.manage' } as const;

export const listDeployTokens = endpoint({
  ...common,
  id: 'deploy-tokens.list',
  path: '/v1/deploy-tokens',
  summary: 'Every deploy token of the workspace: those that can be used first, expired and revoked ones too',
  reply: listReply(DeployToken),
});

export const createDeployToken = endpoint({
  ...common,
  id: 'deploy-tokens.create',
  path: '/v1/deploy-tokens',
  summary: 'Make a token for a pipeline; the reply is the only place that shows it',
  description:
    'It is a session of the role `deployer`, shown as one: it exports, plans and applies manifests, and is refused everywhere else.',
  body: NewDeployToken,
  status: 201,
  reply: DeployToken.extend({ token: z.string().describe('Shown this once; only its hash is kept') }).meta({
    id: 'CreatedDeployToken',
  }),
  problems: ['too_many_tokens'],
});

export const revokeDeployToken = endpoint({
  ...common,
  id: 'deploy-tokens.revoke',
  method: 'delete',
  path: '/v1/deploy-tokens/{id}',
  summary: 'Revoke a deploy token for good; revoking it again changes nothing',
  params: z.object({ id: IntId }),
  reply: NO_CONTENT,
  problems: ['not_found'],
});
