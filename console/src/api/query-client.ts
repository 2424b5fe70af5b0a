/** The one cache from which lists and details are drawn, so that they never disagree. */
import { QueryClient } from '@tanstack/react-query';
import { isPassing } from './problem.ts';

const TRIES = 3;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 5 * 60_000,
      retry: (failures, error) => isPassing(error) && failures < TRIES,
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 5_000),
      // The service may be on this machine, and so can be reached while the browser believes that it is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
