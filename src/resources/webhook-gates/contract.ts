/** The HTTP contract of webhook gates: steps that block until an external system answers. They are only listed here. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, Timestamp } from '../../platform/http/schemas.ts';
import { TASK_STATUSES } from '../projects/model.ts';

const WebhookGate = z
  .object({
    subtask_id: z.uuid(),
    project_id: z.string(),
    project_title: z.string(),
    workflow_slug: z.string(),
    phase_slug: z.string(),
    step_slug: z.string(),
    task_id: z.uuid(),
    status: z.enum(TASK_STATUSES).describe('A waiting gate is blocked'),
    gate_config: z.record(z.string(), z.unknown()),
    consumes_artifacts: z
      .array(z.object({ phase_slug: z.string(), artifact_id: z.uuid(), version: z.int() }))
      .describe('Current artifacts of the phases that its phase depends on'),
    consumes_subtasks: z.array(z.uuid()).describe('The steps it depends on'),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'WebhookGate' });
export type WebhookGateRow = z.input<typeof WebhookGate>;

const GateQuery = z.object({ status: z.enum(TASK_STATUSES).optional(), limit: limit(1_000, 200) });
export type GateQuery = z.output<typeof GateQuery>;

export const listWebhookGates = endpoint({
  id: 'webhook-gates.list',
  path: '/v1/webhooks',
  summary: 'List webhook gates, waiting first, then by latest activity',
  query: GateQuery,
  reply: z.object({
    data: z.array(WebhookGate),
    meta: z.object({
      total: z.int().describe('All that match'),
      by_status: z.array(z.object({ status: z.enum(TASK_STATUSES), count: z.int() })).describe('Of all webhook gates'),
    }),
  }),
});
