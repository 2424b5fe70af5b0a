/** What admins can learn of customers. */
import { can } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { capOf, tierOf, type CappedResource } from '../workspaces/model.ts';
import type { CustomerFilter, CustomerRow, CustomerStore } from './store.ts';

export type CustomerService = ReturnType<typeof createCustomerService>;

export const createCustomerService = ({ store }: { store: CustomerStore }) => ({
  /** An admin of a tenant sees that tenant alone, whatever was asked for. */
  async list(caller: Caller, { limit, offset, ...filter }: CustomerFilter & { limit: number; offset: number }) {
    const only = can(caller, 'customers.list-all') ? undefined : caller.customerId;
    const { rows, total } = await store.list(only, filter, { limit, offset });
    return { data: rows.map(wire), meta: { total, limit, offset } };
  },
});

function wire(row: CustomerRow) {
  const usage = (current: number, resource: CappedResource) => ({ current, limit: capOf(row.planInForce, resource) });
  const runsToday = usage(row.cappedRunsToday, 'runs_per_day');
  // Runs of a plan without a cap are not counted as they are accepted, so they are counted here.
  if (runsToday.limit === null) runsToday.current = row.runsToday;
  return {
    customer_id: row.customerId,
    identity_workspace_id: row.identityWorkspaceId,
    plan: row.plan,
    plan_in_force: row.planInForce,
    tier: tierOf(row.planInForce),
    status: row.status,
    member_count: row.members,
    usage: {
      runs_today: runsToday,
      runs_30d: row.runs30d,
      api_keys: usage(row.apiKeys, 'api_keys'),
      agents: usage(row.agents, 'agents'),
      custom_tools: usage(row.tools, 'custom_tools'),
      custom_skills: usage(row.skills, 'custom_skills'),
      cold_memory_entries: usage(row.memories, 'cold_memory_entries'),
    },
    spend: { cost_30d_usd: row.cost30d, wallet_balance_usd_micros: row.balance },
    last_activity_at: row.lastActivityAt,
    created_at: row.createdAt,
    ready_at: row.readyAt,
    archived_at: row.archivedAt,
  };
}
