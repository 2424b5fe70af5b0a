/** Shows what a project waits for above everything else on its page, because that is why people come. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/client.ts';
import type { InboxListResponse, WaitDetail } from '../../api/types.ts';
import { useInboxLive, waitQuery } from './queries.ts';
import { WaitView } from './wait-view.tsx';

/**
 * @returns undefined until the first waits are known, so that nothing on the page moves when they arrive; one that is
 * opened later is among them once it is known
 */
export function useProjectWaits(projectId: string): WaitDetail[] | undefined {
  useInboxLive();
  const list = useQuery({
    queryKey: ['inbox', 'of project', projectId],
    queryFn: ({ signal }) => get<InboxListResponse>('/v1/inbox', { project_id: projectId }, signal),
    staleTime: 1_000,
  });
  const details = useQueries({ queries: (list.data?.data ?? []).map(({ id }) => waitQuery(id)) });
  const [isShown, setShown] = useState(false);
  const isKnown = !list.isPending && details.every(({ isPending }) => !isPending);
  if (isKnown && !isShown) setShown(true);
  // A page that is shown stays: a wait that arrives must not take away what somebody opens or writes on it.
  if (!isKnown && !isShown) return undefined;
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
