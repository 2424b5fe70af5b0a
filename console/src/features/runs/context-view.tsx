/** Shows what filled the context window: by source now, and turn by turn as it filled up. Each drawing has a table. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Problem, Skeleton } from '../../ui/empty.tsx';
import { bytes, count } from '../../ui/figures.ts';
import { contextQuery } from './queries.ts';
import { Part } from './summary.tsx';
import type { RunContext, RunEvent, ShownRun } from './types.ts';
import { useTimeline } from './use-run.ts';

type Category = RunContext['categories'][number]['category'];
const WORDS: Record<Category, string> = {
  system_prompt: 'System prompt',
  tools: 'Tools',
  skills: 'Skills',
  memory: 'Memory',
  messages: 'Messages',
  tool_results: 'Tool results',
};
/**
 * The shades are of one hue from dark to light, in the order of the pattern. The table says which shade is which
 * source.
 */
const SHADES: Record<Category, string> = {
  system_prompt: 'color-mix(in oklab, var(--color-accent) 100%, var(--color-surface))',
  tools: 'color-mix(in oklab, var(--color-accent) 72%, var(--color-surface))',
  skills: 'color-mix(in oklab, var(--color-accent) 50%, var(--color-surface))',
  memory: 'color-mix(in oklab, var(--color-accent) 34%, var(--color-surface))',
  messages: 'color-mix(in oklab, var(--color-busy) 80%, var(--color-surface))',
  tool_results: 'color-mix(in oklab, var(--color-busy) 45%, var(--color-surface))',
};

export function ContextView({ run }: { run: ShownRun }) {
  const { data, error, refetch } = useQuery(contextQuery(run.run_id));
  if (!data) return error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton />;
  const window = data.context_window ?? data.total_tokens;
  const used = data.categories.filter(({ tokens }) => tokens > 0);
  return (
    <div className="mx-auto w-full max-w-4xl space-y-4 p-4">
      <Part title="Sources">
        <p className="tabular pb-2">
          {count(data.total_tokens)} of {count(window)} tokens ({percent(data.total_tokens, window)}) of{' '}
          {data.model ?? 'the model'}
        </p>
        <div aria-hidden="true" className="flex h-4 overflow-hidden rounded bg-raised">
          {used.map(({ category, tokens }) => (
            <span
              key={category}
              title={WORDS[category]}
              style={{ width: `max(2px, ${(tokens / data.total_tokens) * 100}%)`, background: SHADES[category] }}
            />
          ))}
        </div>
        <table className="tabular mt-3 w-full text-sm">
          <thead className="text-left text-soft">
            <tr>
              <th className="font-normal">Source</th>
              <th className="text-right font-normal">Tokens</th>
              <th className="text-right font-normal">Share</th>
              <th className="text-right font-normal">Size</th>
            </tr>
          </thead>
          <tbody>
            {data.categories.map(({ category, tokens, bytes: size }) => (
              <tr key={category} className="h-8 border-t">
                <td>
                  <span
                    aria-hidden="true"
                    className="mr-2 inline-block size-2.5 rounded-sm"
                    style={{ background: SHADES[category] }}
                  />
                  {WORDS[category]}
                </td>
                <td className="text-right">{count(tokens)}</td>
                <td className="text-right">{percent(tokens, data.total_tokens)}</td>
                <td className="text-right">{bytes(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Part>
      <FilledUp run={run} window={window} />
      <Raw run={run} />
    </div>
  );
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? '0%' : part / whole < 0.001 && part > 0 ? '< 0.1%' : `${((part / whole) * 100).toFixed(1)}%`;

/** Shows the input tokens that each request was billed for, which are what the window held then. */
function FilledUp({ run, window }: { run: ShownRun; window: number }) {
  const events = useTimeline(run.run_id).data?.events;
  const turns = useMemo(() => turnsOf(events ?? []), [events]);
  if (turns.length < 2) return null;
  const most = Math.max(...turns.map(({ input }) => input));
  return (
    <Part title="As it filled up">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${turns.length * 10} 60`}
        preserveAspectRatio="none"
        className="h-16 max-w-full"
        style={{ width: turns.length * 40 }}
      >
        {turns.map(({ turn, input }, i) => (
          <rect
            key={turn}
            x={i * 10 + 1}
            width={8}
            y={60 - (input / most) * 60}
            height={(input / most) * 60}
            fill="var(--color-accent)"
          />
        ))}
      </svg>
      <details className="pt-2 text-sm">
        <summary className="text-soft">The same as a table</summary>
        <table className="tabular w-full">
          <thead className="text-left text-soft">
            <tr>
              <th className="font-normal">Turn</th>
              <th className="text-right font-normal">Tokens in</th>
              <th className="text-right font-normal">Of the window</th>
            </tr>
          </thead>
          <tbody>
            {turns.map(({ turn, input }) => (
              <tr key={turn} className="border-t">
                <td>{turn}</td>
                <td className="text-right">{count(input)}</td>
                <td className="text-right">{percent(input, window)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </Part>
  );
}

const turnsOf = (events: readonly RunEvent[]) =>
  events
    .filter(({ event_type: type }) => type === 'claude_iteration')
    .map(({ payload }) => ({ turn: Number(payload.turn), input: Number(payload.input_tokens ?? 0) }));

/** Loads the raw requests only when they are opened, from the last one backwards. */
function Raw({ run }: { run: ShownRun }) {
  const query = useInfiniteQuery({
    queryKey: ['runs', 'raw-context', run.run_id],
    queryFn: ({ pageParam, signal }) =>
      get<{ content: string; next_before_byte: number | null; total_bytes: number }>(
        `/v1/runs/${run.run_id}/context/content`,
        { before_byte: pageParam },
        signal,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next_before_byte: before }) => before ?? undefined,
    enabled: false,
  });
  const pages = query.data?.pages.toReversed() ?? [];
  return (
    <Part title="As the model read it" copy={pages.map(({ content }) => content).join('') || undefined}>
      {query.error && <Problem error={query.error} />}
      {(pages.length === 0 || query.hasNextPage) && (
        <Button
          isBusy={query.isFetching}
          onClick={() => void (pages.length === 0 ? query.refetch() : query.fetchNextPage())}
        >
          {pages.length === 0 ? 'Show the text' : 'Show what is before'}
        </Button>
      )}
      {pages.length > 0 && (
        <pre
          tabIndex={0}
          className="mt-2 max-h-[60vh] overflow-auto font-mono text-xs leading-5 break-words whitespace-pre-wrap"
        >
          {pages.map(({ content }) => content).join('')}
        </pre>
      )}
    </Part>
  );
}
