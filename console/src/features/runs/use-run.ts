/** Loads one run and keeps it fresh for as long as it goes on. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRefresh } from '../../live/live.ts';
import { readEvents, type Timeline } from './queries.ts';
import { isInFlight, type RunStatus } from './types.ts';

export function useRunLive(runId: string, status: RunStatus | undefined): void {
  const client = useQueryClient();
  useRefresh(
    () => {
      for (const part of ['one', 'events', 'beginning', 'transcript', 'context']) {
        void client.invalidateQueries({ queryKey: ['runs', part, runId] });
      }
    },
    { kinds: ['run'], runId, isOn: status !== undefined && isInFlight(status) },
  );
}

const eventsKey = (runId: string) => ['runs', 'events', runId];

/** Loads all events, and later only those that are not known yet. */
export function useTimeline(runId: string) {
  const client = useQueryClient();
  return useQuery({
    queryKey: eventsKey(runId),
    queryFn: ({ signal }) =>
      readEvents(runId, client.getQueryData<Timeline>(eventsKey(runId)) ?? { events: [], last: 0 }, signal),
    staleTime: 1_000,
    structuralSharing: false,
  });
}
