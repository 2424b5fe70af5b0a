/** The state of a page with several views, as the address holds it. */
/** The search parameters of such a page. */
export interface SectionSearch {
  tab?: string;
  id?: string;
  q?: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 300) || undefined : undefined;

export function parseSectionSearch(search: Record<string, unknown>): SectionSearch {
  const [tab, id, q] = [text(search.tab), text(search.id), text(search.q)];
  return { ...(tab && { tab }), ...(id && { id }), ...(q && { q }) };
}
