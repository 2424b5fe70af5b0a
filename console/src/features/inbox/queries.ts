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

/** Refreshes everything that is shown of the inbox, whenever a wait is opened, changed or settled. */
export function useInboxLive(): void {
  const client = useQueryClient();
  useRefresh(() => void client.invalidateQueries({ queryKey: ['inbox'] }), { kinds: ['wait'] });
}
