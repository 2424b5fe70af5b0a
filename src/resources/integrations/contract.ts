/** The HTTP contract of integrations. No reply contains a value that was given, only that it is set. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { EXTRAS, HEALTH_STATUSES, INTEGRATION_STATUSES, SHARED } from './model.ts';

const Health = z.enum(HEALTH_STATUSES);

const Summary = z
  .object({
    slug: z.string(),
    name: z.string(),
    category: z.string(),
    description: z.string(),
    is_configured: z.boolean().describe('Every required slot is set; where none is required, any'),
    status: z.enum(INTEGRATION_STATUSES).describe('The worst of its tokens'),
    credentials_required: z.int(),
    credentials_set: z.int(),
    credentials_total: z.int(),
    config_count: z.int(),
    extras: z.array(z.enum(EXTRAS)).describe('What it brings beside a credential for tools'),
  })
  .meta({ id: 'Integration' });

const slot = { label: z.string(), required: z.boolean(), is_set: z.boolean() };
const Slot = z
  .discriminatedUnion('where', [
    z
      .object({
        where: z.literal('customer_token'),
        kind: z.string(),
        ...slot,
        health_status: Health.nullable().describe('The worst over its scopes'),
        token_id: z.uuid().nullable().describe('Of the shared scope, else of the first'),
      })
      .meta({ id: 'IntegrationTokenSlot' }),
    z
      .object({ where: z.literal('secrets'), dotted: z.string().describe('`section.key`'), ...slot })
      .meta({ id: 'IntegrationSecretSlot' }),
    z
      .object({ where: z.literal('oauth_files'), kind: z.string(), ...slot, account_count: z.int() })
      .meta({ id: 'IntegrationOauthFilesSlot' }),
  ])
  .meta({ id: 'IntegrationSlot' });

const Token = z.object({
  token_id: z.uuid().describe('New with every value'),
  kind: z.string(),
  scope: z.string(),
  health_status: Health,
  checked_at: Timestamp.nullable().describe('When the provider last answered'),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const Detail = Summary.extend({
  credentials: z.array(Slot),
  config: z.array(
    z.object({
      key: z.string(),
      value: z.string().nullable().describe('Null where the operator chose it'),
      source: z.enum(['default', 'operator']),
    }),
  ),
  tokens: z.array(Token),
}).meta({ id: 'IntegrationDetail' });

const MAX_VALUE_LENGTH = 16_384;
const NAME = /^[\w][\w.:@-]*$/;

// Spaces around a value are trimmed, as they come along with what is copied; a control character inside would break a
// header.
const value = z
  .string('value required')
  .trim()
  .min(1, 'value required')
  .max(MAX_VALUE_LENGTH, `value too long (max ${MAX_VALUE_LENGTH})`)
  // It is a range, because every reader of the OpenAPI document knows those.
  .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'value must not contain control characters');
const scope = z.string().max(64).regex(NAME, 'must be letters, digits and . : @ - _').default(SHARED);
const customerId = z
  .string()
  .max(200)
  .optional()
  .describe('Another workspace; only for callers of the internal one, ignored of all others');

const Credential = z.object({ slug: z.string(), kind: z.string() });
const Secret = z.object({ slug: z.string(), dotted: z.string() });
const Target = z.object({ scope, customer_id: customerId });
export type IntegrationScope = z.output<typeof Target>;
const NewToken = Target.extend({ value }).meta({ id: 'NewIntegrationCredential' });
export type NewToken = z.output<typeof NewToken>;

export const listIntegrations = endpoint({
  id: 'integrations.list',
  path: '/v1/integrations',
  summary: 'Every integration there is, with what the workspace made of it',
  reply: listReply(Summary),
});

export const getIntegration = endpoint({
  id: 'integrations.get',
  path: '/v1/integrations/{slug}',
  summary: 'One integration with its slots, its settings and its tokens',
  params: z.object({ slug: z.string() }),
  badInput: 400,
  reply: Detail,
  problems: ['not_found'],
});

export const setCredential = endpoint({
  id: 'integrations.setCredential',
  method: 'put',
  path: '/v1/integrations/{slug}/credentials/{kind}',
  summary: 'Set a token; the provider is asked about it in the background',
  params: Credential,
  body: NewToken,
  otp: true,
  badInput: 400,
  reply: z.object({
    slug: z.string(),
    kind: z.string(),
    scope: z.string(),
    is_set: z.literal(true),
    health_status: Health,
    token_id: z.uuid(),
  }),
  problems: ['not_found'],
});

export const deleteCredential = endpoint({
  id: 'integrations.deleteCredential',
  method: 'delete',
  path: '/v1/integrations/{slug}/credentials/{kind}',
  summary: 'Delete a token',
  params: Credential,
  query: Target,
  otp: true,
  badInput: 400,
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const setSecret = endpoint({
  id: 'integrations.setSecret',
  method: 'put',
  path: '/v1/integrations/{slug}/secrets/{dotted}',
  summary: 'Set a secret by its `section.key`',
  params: Secret,
  body: z.object({ value }).meta({ id: 'NewIntegrationSecret' }),
  otp: true,
  badInput: 400,
  reply: z.object({ slug: z.string(), dotted: z.string(), is_set: z.literal(true) }),
  problems: ['not_found'],
});

export const deleteSecret = endpoint({
  id: 'integrations.deleteSecret',
  method: 'delete',
  path: '/v1/integrations/{slug}/secrets/{dotted}',
  summary: 'Delete a secret',
  params: Secret,
  otp: true,
  badInput: 400,
  reply: NO_CONTENT,
  problems: ['not_found'],
});
