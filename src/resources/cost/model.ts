/** The spending of a window can be added up by each of these. */
export const COST_GROUPS = ['agent', 'model', 'project', 'day'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];
