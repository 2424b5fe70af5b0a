/** What one thing of a workspace names of others: agents, tools, skills and models, by their slugs. */
import type { SQL } from 'drizzle-orm';

/** A field names something by its slug. */
export interface SlugReference {
  kind: 'agent' | 'tool';
  slug: string;
  /** The field, such as `allowed_tools[0]`. */
  path: string;
}

/** Things that others name, and that can be deleted. */
export type UsedKind = 'agent' | 'tool' | 'skill';

/** What uses them. */
export type UserKind = 'agent' | 'skill' | 'workflow' | 'project' | 'job' | 'heartbeat';

/**
 * How rows of a resource name things: each statement selects `kind` (a `UserKind`) and `name` of those of the workspace that
 * name the slug.
 */
export type Naming = Readonly<Partial<Record<UsedKind, (customerId: string, slug: string) => SQL>>>;

export const WARNING_CODES = ['unknown_agent', 'unknown_tool', 'tool_unavailable', 'model_not_used'] as const;

/** Something was accepted, and will not work as it is. */
export interface Warning {
  path: string;
  code: (typeof WARNING_CODES)[number];
  message: string;
}

/** @returns a reference for each of a list of slugs */
export const listedIn = (field: string, kind: SlugReference['kind'], slugs: readonly string[]): SlugReference[] =>
  slugs.map((slug, at) => ({ kind, slug, path: `${field}[${at}]` }));
