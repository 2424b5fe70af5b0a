/** Queries about waits. */
import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { InboxListResponse, WaitDetail } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import type { InboxFilters } from './view.ts';

const PAGE = 50;

export const asQuery = ({ kind, status, overdue, mine, project, run }: InboxFilters) => ({
  kind,
  status,
  overdue: overdue && 'true',
  for: mine && 'me',
  project_id: project,
  run_id: run,
});

export const waitsQuery = (filters: InboxFilters) =>
  infiniteQueryOptions({
    queryKey: ['inbox', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      get<InboxListResponse>('/v1/inbox', { ...asQuery(filters), limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    staleTime: 1_000,
  });

export const waitQuery = (id: string) =>
  queryOptions({
    queryKey: ['inbox', 'one', id],
    queryFn: ({ signal }) => get<WaitDetail>(`/v1/inbox/${encodeURIComponent(id)}`, undefined, signal),
    staleTime: 1_000,
  });

/** Counts all open waits. A page of one row carries the counts. */
export const waitCountsQuery = queryOptions({
  queryKey: ['inbox', 'counts'],
  queryFn: async ({ signal }) => (await get<InboxListResponse>('/v1/inbox', { limit: 1 }, signal)).meta,
  staleTime: 1_000,
});

/** So many open waits are looked at; a project with an older one is shown as active, as the service has it. */
const LOOKED_AT = 200;

/** The oldest open wait of each project, so that a list can say which of them wait, and for what. */
export const waitsByProjectQuery = queryOptions({
  queryKey: ['inbox', 'by project'],
  queryFn: async ({ signal }) => {
    const { data } = await get<InboxListResponse>('/v1/inbox', { limit: LOOKED_AT }, signal);
    // The newest comes first, so what is set last is the oldest.
    return new Map(data.flatMap((wait) => (wait.project_id ? [[wait.project_id, wait] as const] : [])));
  },
  staleTime: 1_000,
});

/** Refreshes everything that is shown of the inbox, whenever a wait is opened, changed or settled. */
export function useInboxLive(): void {
  const client = useQueryClient();
  useRefresh(() => void client.invalidateQueries({ queryKey: ['inbox'] }), { kinds: ['wait'] });
}
