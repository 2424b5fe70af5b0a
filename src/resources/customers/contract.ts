/** The HTTP contract of customers: workspaces with what they use and spend. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, offset, pageReply, Timestamp, Usd } from '../../platform/http/schemas.ts';
import { PLANS, WORKSPACE_STATUSES } from '../workspaces/model.ts';

const Usage = z.object({ current: z.int(), limit: z.int().nullable().describe('Null: unlimited') });

const Customer = z
  .object({
    customer_id: z.string(),
    identity_workspace_id: z.string(),
    plan: z.enum(PLANS),
    plan_in_force: z.enum(PLANS).describe('Whose caps count: a plan that costs counts from its payment'),
    tier: z.string(),
    status: z.enum(WORKSPACE_STATUSES),
    member_count: z.int(),
    usage: z.object({
      runs_today: Usage.describe('Accepted since 00:00 UTC'),
      runs_30d: z.int(),
      api_keys: Usage,
      agents: Usage,
      custom_tools: Usage,
      custom_skills: Usage,
      cold_memory_entries: Usage,
    }),
    spend: z.object({ cost_30d_usd: Usd, wallet_balance_usd_micros: z.int() }),
    last_activity_at: Timestamp.nullable().describe('Last event of its newest run'),
    created_at: Timestamp,
    ready_at: Timestamp.nullable(),
    archived_at: Timestamp.nullable(),
  })
  .meta({ id: 'Customer' });

export const listCustomers = endpoint({
  id: 'customers.list',
  path: '/v1/customers',
  credential: 'admin',
  summary: 'Workspaces with plan, usage and spend, newest first',
  description: 'Admins of the operating workspace see every workspace; those of another one see their own.',
  query: z.object({
    q: z.string().max(200).optional().describe('Part of the id'),
    plan: z.enum(PLANS).optional(),
    limit: limit(500, 50),
    offset,
  }),
  reply: pageReply(Customer),
});
