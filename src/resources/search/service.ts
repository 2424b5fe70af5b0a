/** Finds what a caller's workspace has by words and ids. */
import { Problem } from '../../platform/core/problem.ts';
import { customJobId } from '../scheduled-jobs/model.ts';
import type { SearchQuery } from './contract.ts';
import { BEGINNING, cursorOf, placeOf, SEARCH_KINDS, type SearchStatus } from './model.ts';
import type { SearchStore } from './store/index.ts';
import { markHits, markQuery, parseWords } from './words.ts';

/** The end of a word of which an excerpt does not have the beginning. */
const CUT_WORD = /^[\p{L}\p{N}]{1,30}(?=[^\p{L}\p{N}])/u;

export type SearchService = ReturnType<typeof createSearchService>;

export const createSearchService = ({ store }: { store: SearchStore }) => ({
  /** @throws Problem cursor_unknown */
  async find(customerId: string, { q, kind, status, agent, from, to, after, limit }: SearchQuery) {
    const place = after === undefined ? BEGINNING : placeOf(after);
    if (!place) throw new Problem('cursor_unknown', 'cursor_unknown: `after` is the `next` of a page of this search');
    const { tsquery, words } = parseWords(q);
    // Signs alone are in no document.
    if (tsquery === null) return { data: [], meta: { limit, next: null } };
    const marks = markQuery({ customerId, kinds: kind ? [kind] : SEARCH_KINDS, status, agent });
    const asked = { customerId, words: tsquery, marks, shown: words, status, from, to };
    const { hits, next } = await store.search(asked, place, limit);
    return {
      data: hits.map(({ at, excerpts, job_n, ...hit }) => ({
        ...hit,
        job_id: job_n === null ? null : customJobId(job_n),
        created_at: at,
        highlights: excerpts.map(({ field, text, isCut }) => ({
          field,
          parts: markHits(isCut ? `… ${text.replace(CUT_WORD, '')}` : text, words),
        })),
      })),
      meta: { limit, next: next && cursorOf(next) },
    };
  },

  /** @returns the ids of the newest projects with these words, at most so many, newest first */
  async projectsWith(
    customerId: string,
    { q, status, workflowSlug, from, to }: ProjectsAsked,
    most: number,
  ): Promise<string[]> {
    const { tsquery } = parseWords(workflowSlug === undefined ? q : `${q} "${workflowSlug}"`);
    if (tsquery === null) return [];
    const marks = markQuery({ customerId, kinds: ['project'], status });
    return store.newest({ customerId, words: tsquery, marks, shown: [], status, from, to }, most);
  },
});

export interface ProjectsAsked {
  q: string;
  status?: SearchStatus | undefined;
  workflowSlug?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}
