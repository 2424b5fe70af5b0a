/** Queries about runs. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import { asQuery, type RunFilters } from './filters.ts';
import type { Agent, FoundRun, RunContext, RunEvent, RunStatus, ShownRun, Spoken } from './types.ts';

export interface RunPage {
  data: FoundRun[];
  meta: { next: string | null };
}

export const PAGE = 50;
const path = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}`;

export const runsQuery = (filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      get<RunPage>('/v1/runs/search', { ...asQuery(filters), limit: PAGE, before: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next ?? undefined,
    // The list on screen is changed row by row (see `use-runs.ts`), so it is never loaded again as a whole.
    staleTime: Infinity,
    gcTime: 60_000,
  });

/** Loads the newest runs again. */
export const newestRuns = (filters: RunFilters, signal?: AbortSignal): Promise<RunPage> =>
  get<RunPage>('/v1/runs/search', { ...asQuery(filters), limit: PAGE }, signal);

export const runCountsQuery = (agent?: string) =>
  queryOptions({
    queryKey: ['runs', 'counts', agent ?? null],
    queryFn: ({ signal }) => get<Record<RunStatus, number>>('/v1/runs/counts', { agent }, signal),
    staleTime: 3_000,
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['runs', 'one', runId],
    queryFn: ({ signal }) => get<ShownRun>(`${path(runId)}/summary`, undefined, signal),
    staleTime: 2_000,
  });

export interface Timeline {
  events: RunEvent[];
  last: number;
}

const EVENTS_PAGE = 2_000;

/** Loads the events after the known ones, page by page. */
export async function readEvents(runId: string, known: Timeline, signal?: AbortSignal): Promise<Timeline> {
  let { events, last } = known;
  for (;;) {
    const page = await get<{ data: RunEvent[]; meta: { next: number | null; last: number } }>(
      `${path(runId)}/timeline`,
      { after: last, limit: EVENTS_PAGE },
      signal,
    );
    if (page.data.length > 0) events = [...events, ...page.data];
    last = page.meta.last;
    if (page.meta.next === null) return { events, last };
  }
}

/** A run begins with how its model was chosen and what the model was offered, long before its timeline ends. */
const BEGINNING_EVENTS = 10;

export const beginningQuery = (runId: string) =>
  queryOptions({
    queryKey: ['runs', 'beginning', runId],
    queryFn: ({ signal }) =>
      get<{ data: RunEvent[] }>(`${path(runId)}/timeline`, { after: 0, limit: BEGINNING_EVENTS }, signal),
    staleTime: 2_000,
  });

export const transcriptQuery = (runId: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'transcript', runId],
    queryFn: ({ pageParam, signal }) =>
      get<{ data: Spoken[]; meta: { next_turn: number | null } }>(
        `${path(runId)}/transcript`,
        { from_turn: pageParam },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: ({ meta }) => meta.next_turn ?? undefined,
    staleTime: 2_000,
  });

export const contextQuery = (runId: string) =>
  queryOptions({
    queryKey: ['runs', 'context', runId],
    queryFn: ({ signal }) => get<RunContext>(`${path(runId)}/context`, undefined, signal),
    staleTime: 2_000,
  });

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async ({ signal }) => (await get<{ data: Agent[] }>('/v1/agents', undefined, signal)).data,
  staleTime: 60_000,
});
