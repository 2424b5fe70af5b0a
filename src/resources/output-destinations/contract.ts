/** The HTTP contract of output destinations: where finished artifacts are also sent, and the log of what came of it. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { limit, listReply, notBlank, offset, pageReply, Slug, Timestamp } from '../../platform/http/schemas.ts';
import { DESTINATION_KINDS, MASK, NOTICE_KINDS, OUTPUT_DELIVERY_STATUSES, RECIPIENT_STATES } from './model.ts';

const Path = z.object({ id: z.string() });
const Address = z.string().min(1).max(2_048);
const Line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // It is a range, because every reader of the OpenAPI document knows those.
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must be a single line');
/** The mask that stands for a secret in answers is refused as a secret. */
const Secret = (min: number, max: number) =>
  Line(max)
    .min(min)
    .refine((text) => text !== MASK, 'must not be the mask');

/** The configuration of each kind. */
export const CONFIGS = {
  webhook: z.strictObject({
    url: Address.describe('https'),
    secret: Secret(16, 200).optional().describe('Signs each request, as it does for webhooks: X-Service-Signature'),
  }),
  slack: z.strictObject({ webhook_url: Address.describe('Of an incoming webhook; it is a secret itself') }),
  email: z.strictObject({
    to: z.array(z.email().max(254)).min(1).max(20),
    approvers: z
      .boolean()
      .optional()
      .describe('With `waits`: members whose answer counts are told too, each by a mail of their own'),
    subject: Line(200).optional().describe('In the place of the title of the project'),
  }),
  s3: z.strictObject({
    endpoint: Address.optional().describe('Of S3-compatible storage; without one AWS'),
    // Region and bucket become parts of a host name.
    region: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region'),
    bucket: z.string().regex(/^[a-z0-9](?!.*\.\.)[a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket'),
    prefix: z
      .string()
      .max(200)
      .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/, 'must be segments of letters, digits, ".", "_" and "-"')
      .optional()
      .describe('Keys are `<prefix>/<project_id>/<phase>/v<version>.<extension>`'),
    access_key_id: Secret(1, 200),
    secret_access_key: Secret(1, 200),
  }),
} as const;

const Definition = z.strictObject({
  name: notBlank(Line(120)),
  workflow_slugs: z
    .array(Slug)
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .describe('Only artifacts of projects of these workflows; null for all'),
  enabled: z.boolean().default(true),
  artifacts: z.boolean().default(true).describe('It is sent the artifacts of completed projects'),
  waits: z
    .boolean()
    .default(false)
    .describe('It is told of what waits for an answer: opened, reminder, escalated, settled. Not of kind s3'),
  spending: z
    .boolean()
    .default(false)
    .describe('It is told how much of a cap is spent, and of calls without a known price. Not of kind s3'),
});
export const NewDestination = z
  .discriminatedUnion('kind', [
    Definition.extend({ kind: z.literal('webhook'), config: CONFIGS.webhook }).meta({ id: 'NewWebhookDestination' }),
    Definition.extend({ kind: z.literal('slack'), config: CONFIGS.slack }).meta({ id: 'NewSlackDestination' }),
    Definition.extend({ kind: z.literal('email'), config: CONFIGS.email }).meta({ id: 'NewEmailDestination' }),
    Definition.extend({
      kind: z.literal('s3'),
      config: CONFIGS.s3,
      waits: z.literal(false).default(false),
      spending: z.literal(false).default(false),
    }).meta({ id: 'NewS3Destination' }),
  ])
  .meta({ id: 'NewOutputDestination' });
export type NewDestination = z.output<typeof NewDestination>;
/** A sender is given this. */
export type DestinationTarget = {
  [Kind in NewDestination['kind']]: Pick<Extract<NewDestination, { kind: Kind }>, 'kind' | 'config'>;
}[NewDestination['kind']];

const DestinationChange = z
  .strictObject({
    name: Definition.shape.name.optional(),
    config: z
      .record(z.string().max(40), z.unknown())
      .optional()
      .describe(`Fields of its kind; absent ones and \`${MASK}\` stay as they are, null takes an optional one away`),
    workflow_slugs: z.array(Slug).min(1).max(100).nullable().optional(),
    enabled: z.boolean().optional(),
    artifacts: z.boolean().optional(),
    waits: z.boolean().optional(),
    spending: z.boolean().optional(),
  })
  .meta({ id: 'OutputDestinationChange' });
export type DestinationChange = z.output<typeof DestinationChange>;

const Destination = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.enum(DESTINATION_KINDS),
    config: z.record(z.string(), z.unknown()).describe(`Secrets are \`${MASK}\``),
    workflow_slugs: z.array(z.string()).nullable(),
    enabled: z.boolean(),
    artifacts: z.boolean(),
    waits: z.boolean(),
    spending: z.boolean(),
    recipients: z
      .array(z.object({ email: z.string(), state: z.enum(RECIPIENT_STATES) }))
      .describe(
        'Of kind email: who is sent artifacts. Members are; others are mailed a link by which they confirm or refuse, and nothing else while they are waiting',
      ),
    failing_since: Timestamp.nullable().describe('The first failed attempt since it last took something'),
    paused_at: Timestamp.nullable().describe('Set where it is not enabled because it took nothing for days'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'OutputDestination' });

const Delivery = z
  .object({
    id: z.uuid(),
    destination_id: z.uuid(),
    destination: z.string().describe('Its name'),
    kind: z.enum(DESTINATION_KINDS),
    project_id: z.string().nullable(),
    artifact_id: z.uuid().nullable().describe('Null of one that tells of a wait'),
    wait_id: z.uuid().nullable(),
    notice: z.enum(NOTICE_KINDS).nullable().describe('What is told of the wait'),
    recipient: z.string().nullable().describe('Of a wait, by mail: each recipient is mailed by themselves'),
    status: z.enum(OUTPUT_DELIVERY_STATUSES),
    attempts: z.int(),
    redeliveries: z.int(),
    last_error: z.string().nullable(),
    withheld_from: z
      .array(z.string())
      .describe(
        'Addresses that it has not gone to, as they have not confirmed; it goes to each that does within a week',
      ),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'OutputDelivery' });
export type OutputDeliveryRow = z.input<typeof Delivery>;

const DeliveryQuery = z.object({
  limit: limit(500, 50),
  offset,
  status: z.enum(OUTPUT_DELIVERY_STATUSES).optional(),
  destination_id: z.uuid().optional(),
});
export type OutputDeliveryQuery = z.output<typeof DeliveryQuery>;

export const listDestinations = endpoint({
  id: 'output-destinations.list',
  path: '/v1/output-destinations',
  summary: 'Where finished artifacts are also sent, oldest first, without secrets',
  reply: listReply(Destination),
});

export const createDestination = endpoint({
  id: 'output-destinations.create',
  path: '/v1/output-destinations',
  summary: 'Send the artifacts of completed projects to a webhook, to Slack, by e-mail or to S3',
  description:
    'When a project completes, each current artifact goes to each enabled destination, once. Of the addresses of a destination by e-mail, those that are no members are asked by mail first.',
  body: NewDestination,
  status: 201,
  reply: Destination,
  problems: ['invalid_url', 'name_taken', 'plan_limit_exceeded'],
});

export const listDeliveries = endpoint({
  id: 'output-destinations.listDeliveries',
  path: '/v1/output-destinations/deliveries',
  summary: 'What was sent where and what came of it, newest first',
  query: DeliveryQuery,
  reply: pageReply(Delivery),
});

export const redeliver = endpoint({
  id: 'output-destinations.redeliver',
  method: 'post',
  path: '/v1/output-destinations/deliveries/{id}/redeliver',
  audited: false,
  summary: 'Send an ended delivery once more, with eight new attempts',
  params: Path,
  reply: Delivery,
  problems: ['not_found', 'delivery_in_flight'],
});

export const getDestination = endpoint({
  id: 'output-destinations.get',
  path: '/v1/output-destinations/{id}',
  summary: 'One destination, without secrets',
  params: Path,
  reply: Destination,
  problems: ['not_found'],
});

export const updateDestination = endpoint({
  id: 'output-destinations.update',
  method: 'patch',
  path: '/v1/output-destinations/{id}',
  summary: 'Change, enable or disable a destination; its kind stays',
  params: Path,
  body: DestinationChange.default({}),
  reply: Destination,
  problems: ['bad_request', 'invalid_url', 'name_taken', 'not_found'],
});

export const deleteDestination = endpoint({
  id: 'output-destinations.delete',
  method: 'delete',
  path: '/v1/output-destinations/{id}',
  summary: 'Delete a destination with its log, and drop what is queued for it',
  params: Path,
  reply: NO_CONTENT,
  problems: ['not_found'],
});

export const testDestination = endpoint({
  id: 'output-destinations.test',
  method: 'post',
  path: '/v1/output-destinations/{id}/test',
  summary: 'Send it a small sample and say what happened',
  params: Path,
  reply: z.object({ delivered: z.boolean(), error: z.string().nullable(), duration_ms: z.int() }),
  problems: ['not_found'],
});
