/** Words and limits of plans. */

/** Plans from `free` on stand in the order of what they allow, by which the database compares them. */
export const PLANS = ['internal', 'free', 'starter_byo', 'starter_hosted', 'pro_byo', 'pro_hosted', 'scale'] as const;
export type Plan = (typeof PLANS)[number];

export const WORKSPACE_STATUSES = ['pending', 'provisioning', 'ready', 'failed', 'archived'] as const;

export type Tier = 'internal' | 'free' | 'starter' | 'pro' | 'scale';
export const CAPPED_RESOURCES = [
  'runs_per_day',
  'api_keys',
  'agents',
  'custom_tools',
  'custom_skills',
  'cold_memory_entries',
  'webhook_endpoints',
  'output_destinations',
  'scheduled_jobs',
  'heartbeats',
] as const;
export type CappedResource = (typeof CAPPED_RESOURCES)[number];

export const tierOf = (plan: Plan): Tier => plan.replace(/_(byo|hosted)$/, '') as Tier;

const UNLIMITED = null;
const CAPS: Record<Tier, Record<CappedResource, number | null>> = {
  internal: caps(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED),
  free: caps(100, 2, 3, 5, 10, 1_000, 10, 100),
  starter: caps(5_000, 10, 25, 50, 100, 25_000, 20, 250),
  pro: caps(UNLIMITED, 50, 200, 500, 1_000, 250_000, 50, 1_000),
  // Each event is delivered to every receiver; each job and heartbeat is a schedule that is looked after.
  scale: caps(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, 100, 2_000),
};

function caps(
  runs_per_day: number | null,
  api_keys: number | null,
  agents: number | null,
  custom_tools: number | null,
  custom_skills: number | null,
  cold_memory_entries: number | null,
  receivers: number | null,
  schedules: number | null,
): Record<CappedResource, number | null> {
  return {
    runs_per_day,
    api_keys,
    agents,
    custom_tools,
    custom_skills,
    cold_memory_entries,
    webhook_endpoints: receivers,
    output_destinations: receivers,
    scheduled_jobs: schedules,
    heartbeats: schedules,
  };
}

/** @returns how many of a resource a plan allows; null where there is no limit */
export const capOf = (plan: Plan, resource: CappedResource): number | null => CAPS[tierOf(plan)][resource];

/** @returns whether the infrastructure of the plan is run for the tenant and paid by the minute */
export const isHosted = (plan: Plan): boolean => plan.endsWith('_hosted');

/** Everything that provisioning made, by resource: what is known of each, under names of its own. */
export type Provisioned = Record<string, Record<string, string>>;

/** One provisioning or destruction of a workspace. A write for another generation changes nothing. */
export interface WorkspaceRef {
  customerId: string;
  generation: number;
}

export const provisionWorkflowId = ({ customerId, generation }: WorkspaceRef): string =>
  `workspace-${customerId}/${generation}`;
export const destroyWorkflowId = (ref: WorkspaceRef): string => `${provisionWorkflowId(ref)}-destroy`;

/** A step fails with it where its workspace has moved on, by an operator or by another request. */
export const SUPERSEDED = 'workspace_superseded';

const SECRET_NAME = /key|token|secret|passw|passphrase|credential/i;
const MASK = '***';

/** @returns the same with `***` for every value whose name says that it is a key, a token, a secret or a password */
export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, SECRET_NAME.test(name) ? MASK : masked(part)]),
  );
}
