/** The state of the costs page, as the address holds it. */
import { parseSectionSearch, type SectionSearch } from '../../ui/section-search.ts';

export const GROUPS = ['agent', 'model', 'project', 'day'] as const;
export const WINDOWS = ['24h', '7d', '30d'] as const;

export interface CostSearch extends SectionSearch {
  by?: (typeof GROUPS)[number];
  window?: (typeof WINDOWS)[number];
}

export function parseCostSearch(search: Record<string, unknown>): CostSearch {
  const by = GROUPS.find((each) => each === search.by);
  const window = WINDOWS.find((each) => each === search.window);
  return { ...parseSectionSearch(search), ...(by && { by }), ...(window && { window }) };
}
