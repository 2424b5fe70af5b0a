/** How hard a model thinks before it answers. Each provider has words of its own for it. Imports nothing: contracts use it. */
export const EFFORTS = ['none', 'low', 'medium', 'high', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];
