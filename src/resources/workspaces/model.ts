/** What a plan allows. Pure. */
export const PLANS = ['internal', 'free', 'starter_byo', 'starter_hosted', 'pro_byo', 'pro_hosted', 'scale'] as const;
export type Plan = (typeof PLANS)[number];

export const WORKSPACE_STATUSES = ['pending', 'provisioning', 'ready', 'failed', 'archived'] as const;

export type Tier = 'internal' | 'free' | 'starter' | 'pro' | 'scale';
export type CappedResource =
  'runs_per_day' | 'api_keys' | 'agents' | 'custom_tools' | 'custom_skills' | 'cold_memory_entries';

export const tierOf = (plan: Plan): Tier => plan.replace(/_(byo|hosted)$/, '') as Tier;

const UNLIMITED = null;
const CAPS: Record<Tier, Record<CappedResource, number | null>> = {
  internal: caps(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED),
  free: caps(100, 2, 3, 5, 10, 1_000),
  starter: caps(5_000, 10, 25, 50, 100, 25_000),
  pro: caps(UNLIMITED, 50, 200, 500, 1_000, 250_000),
  scale: caps(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED),
};

function caps(
  runs_per_day: number | null,
  api_keys: number | null,
  agents: number | null,
  custom_tools: number | null,
  custom_skills: number | null,
  cold_memory_entries: number | null,
): Record<CappedResource, number | null> {
  return { runs_per_day, api_keys, agents, custom_tools, custom_skills, cold_memory_entries };
}

/** How many of a resource a plan allows; null means without end. */
export const capOf = (plan: Plan, resource: CappedResource): number | null => CAPS[tierOf(plan)][resource];
