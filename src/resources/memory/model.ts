/** Words and rules of the graph memory: entries, skills (entries that agents can load) and the edges between them. Pure. */
export const ENTRY_STATUSES = ['active', 'superseded', 'archived'] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export const EDGE_TYPES = ['links_to', 'supersedes', 'uses_tool', 'depends_on'] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

/** The type of the entries that agents can load. Everything else is a plain memory. */
export const SKILL = 'skill';

export const SHARED = 'shared';
