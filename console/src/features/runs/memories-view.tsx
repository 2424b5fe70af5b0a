/** Shows what a run was told of earlier runs, and where each of these memories comes from. */
import { useQueries } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Empty, Problem, Skeleton } from '../../ui/empty.tsx';
import { Folded } from '../../ui/folded.tsx';
import { Time } from '../../ui/time.tsx';
import type { ShownRun } from './types.ts';
import { useTimeline } from './use-run.ts';

interface Memory {
  id: number;
  title: string;
  content: string;
  type: string;
  agent: string | null;
  status: string;
  source_attribution: string | null;
  hit_count: number;
  created_at: string;
  last_verified_at: string | null;
}

export function MemoriesView({ run }: { run: ShownRun }) {
  const timeline = useTimeline(run.run_id);
  const loaded = timeline.data?.events.find(({ event_type: type }) => type === 'context_loaded');
  const ids = Array.isArray(loaded?.payload.memories) ? (loaded.payload.memories as number[]) : [];
  const memories = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['memory', 'entry', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Memory>(`/v1/memory/entries/${id}`, undefined, signal),
    })),
  });
  if (timeline.isPending) return <Skeleton />;
  if (ids.length === 0) {
    return (
      <Empty title="No memories">
        {loaded ? 'Nothing that was known came close to its prompt.' : 'It has not begun yet.'}
      </Empty>
    );
  }
  return (
    <ul className="mx-auto w-full max-w-4xl space-y-3 p-4">
      {memories.map(({ data, error }, i) => (
        <li key={ids[i]} className="card p-3">
          {data ? (
            <>
              <h2 className="font-medium">{data.title}</h2>
              <p className="tabular flex flex-wrap gap-x-3 pb-2 text-xs text-soft">
                <span>{data.type}</span>
                <span>{data.agent ?? 'every agent'}</span>
                {data.source_attribution && <span>from {data.source_attribution}</span>}
                <span>
                  kept <Time at={data.created_at} />
                </span>
                <span>recalled {data.hit_count} times</span>
                {data.status !== 'active' && <span className="text-warn">{data.status} since</span>}
              </p>
              <Folded text={data.content} />
            </>
          ) : error ? (
            error instanceof ApiProblem && error.status === 404 ? (
              <p className="text-soft">Memory {ids[i]} has been deleted since.</p>
            ) : (
              <Problem error={error} />
            )
          ) : (
            <Skeleton rows={2} />
          )}
        </li>
      ))}
    </ul>
  );
}
