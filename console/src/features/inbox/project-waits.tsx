/** Shows what a project waits for above everything else on its page, because that is why people come. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { InboxListResponse, WaitDetail } from '../../api/types.ts';
import { useInboxLive, waitQuery } from './queries.ts';
import { WaitView } from './wait-view.tsx';

/** @returns undefined until the waits are known, so that nothing on the page moves when they arrive */
export function useProjectWaits(projectId: string): WaitDetail[] | undefined {
  useInboxLive();
  const list = useQuery({
    queryKey: ['inbox', 'of project', projectId],
    queryFn: ({ signal }) => get<InboxListResponse>('/v1/inbox', { project_id: projectId }, signal),
    staleTime: 1_000,
  });
  const details = useQueries({ queries: (list.data?.data ?? []).map(({ id }) => waitQuery(id)) });
  if (list.isPending || details.some(({ isPending }) => isPending)) return undefined;
  return details.flatMap(({ data }) => (data?.status === 'open' ? [data] : []));
}

export function ProjectWaits({ waits }: { waits: readonly WaitDetail[] }) {
  if (waits.length === 0) return null;
  return (
    <div className="@container space-y-6 border-b border-l-2 border-l-warn p-4">
      {waits.map((wait) => (
        <WaitView key={wait.id} wait={wait} isInPlace />
      ))}
    </div>
  );
}
