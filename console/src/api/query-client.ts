/** The one cache that lists and details are drawn from, so that they never disagree. */
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
      // The service may be there although the browser believes to be offline: it is on this machine, perhaps.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
