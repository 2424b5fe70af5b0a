/** Words and rules of the graph memory: entries, skills (entries that agents can load) and the edges between them. */
export const ENTRY_STATUSES = ['active', 'superseded', 'archived'] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

export const EDGE_TYPES = ['links_to', 'supersedes', 'uses_tool', 'depends_on'] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

/** Wikilinks make these edges. A superseding entry is linked by what happened, not by what it says. */
export type WikilinkType = Exclude<EdgeType, 'supersedes'>;

/** Entries of this type can be loaded by agents. Everything else is a plain memory. */
export const SKILL = 'skill';

export const SHARED = 'shared';
/** A personal entry is for the agent whose it is, and for no other. */
export const PERSONAL = 'personal';

/** A list shows so many characters of the content. */
export const PREVIEW_LENGTH = 240;

/** So many different links of one entry become edges; those after them stay text. */
export const MAX_LINKS = 500;

/** This field of its `meta` says that an entry is one of the workspace's files (`manifests`). */
export const IN_FILES = 'in_files';

export const MAX_SLUG_LENGTH = 128;
/** Wikilinks can name slugs of this form. */
export const NODE_SLUG = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._:/-]*$/u;

const WIKILINK = /\[\[([^[\]|\n]{1,200})(?:\|[^[\]\n]{0,500})?\]\]/g;

/** @returns the slugs of `[[slug]]` and `[[slug|label]]`, in order, each once */
export function wikilinks(content: string): string[] {
  const slugs = new Set<string>();
  for (const [, target] of content.matchAll(WIKILINK)) {
    const slug = target!.trim();
    if (slug.length <= MAX_SLUG_LENGTH && NODE_SLUG.test(slug)) slugs.add(slug);
    if (slugs.size === MAX_LINKS) break;
  }
  return [...slugs];
}
