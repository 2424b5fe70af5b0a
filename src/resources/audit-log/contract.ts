/** The HTTP contract of the audit log. It is written by every endpoint that changes configuration, and read here. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, offset, pageReply, Timestamp } from '../../platform/http/schemas.ts';

const AuditQuery = z.object({
  limit: limit(500, 100),
  offset,
  action: z.string().max(200).optional().describe('Id of an endpoint, such as `api-keys.create`'),
  actor: z.string().max(320).optional(),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional(),
});
export type AuditQuery = z.output<typeof AuditQuery>;

const AuditEntry = z
  .object({
    id: z.int(),
    at: Timestamp,
    actor: z
      .string()
      .describe(
        'An e-mail address, `api-key:<id>`, or `operator` and `operator:<address>` for who operates the deployment',
      ),
    action: z.string(),
    target: z.record(z.string(), z.unknown()).describe('Which one: parameters of the address, id of what was made'),
    change: z.record(z.string(), z.unknown()).describe('Fields of the body; secrets and contents are `***`'),
    status: z.int().nullable().describe('Of the answer; null where the outcome is unknown'),
  })
  .meta({ id: 'AuditEntry' });

export const listAuditLog = endpoint({
  id: 'audit-log.list',
  path: '/v1/audit-log',
  credential: 'admin',
  summary: 'Who changed what about the configuration of the workspace, newest first',
  query: AuditQuery,
  reply: pageReply(AuditEntry),
});
