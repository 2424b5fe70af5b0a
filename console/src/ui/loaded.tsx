/** Loads the whole of a thing of which a list has only a part, when its pane is opened. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get } from '../api/client.ts';
import { Problem, Skeleton } from './empty.tsx';
import { resourceKey } from './resource.tsx';

export function Loaded<T>({ path, children }: { path: string; children: (whole: T) => ReactNode }) {
  const { data, error, refetch } = useQuery({
    queryKey: resourceKey(path),
    queryFn: ({ signal }) => get<T>(path, undefined, signal),
    staleTime: 1_000,
  });
  if (data !== undefined) return <>{children(data)}</>;
  return error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton rows={4} />;
}
