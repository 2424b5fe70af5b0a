/** Lists runs. Only rows in sight are in the document, and each is one link as wide as the list. */
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useSyncExternalStore, type RefObject } from 'react';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { count, shortId } from '../../ui/figures.ts';
import { Money } from '../../ui/money.tsx';
import { SampleMark } from '../../ui/sample-mark.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, Took } from '../../ui/time.tsx';
import { useKeys } from '../../ui/keys.ts';
import type { FoundRun } from './types.ts';

interface RunListProps {
  query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage' | 'isFetchNextPageError'>;
  rows: readonly FoundRun[];
  scroller: RefObject<HTMLDivElement | null>;
  /** Is given while runs are chosen, which each row then has a box for. */
  chosen?: ReadonlySet<string> | undefined;
  onChoose: (runId: string) => void;
}

const ROW = 33;
const CARD = 69;
const NARROW = window.matchMedia('(width < 640px)');
const watchNarrow = (onChange: () => void) => {
  NARROW.addEventListener('change', onChange);
  return () => NARROW.removeEventListener('change', onChange);
};
/** So many rows before the end, the next page is loaded. */
const AHEAD = 20;

export function RunList({ query, rows, scroller, chosen, onChoose }: RunListProps) {
  const list = useRef<HTMLUListElement>(null);
  const isNarrow = useSyncExternalStore(watchNarrow, () => NARROW.matches);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? CARD : ROW),
    getItemKey: (i) => rows[i]!.run_id,
    overscan: 12,
  });
  // A phone that is turned has rows of the other height.
  useEffect(() => void virtual.measure(), [virtual, isNarrow]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  useEffect(() => {
    const isNear = last >= rows.length - AHEAD;
    if (isNear && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  const keys = useMemo(() => {
    const go = (by: 1 | -1) => () => {
      const focused = (document.activeElement as HTMLElement | null)?.dataset.row;
      const at = rows.findIndex(({ run_id: id }) => id === focused);
      const next = at === -1 ? (items[0]?.index ?? 0) : Math.min(Math.max(at + by, 0), rows.length - 1);
      virtual.scrollToIndex(next);
      requestAnimationFrame(() =>
        list.current?.querySelector<HTMLElement>(`[data-row="${rows[next]?.run_id}"]`)?.focus(),
      );
    };
    return { j: go(1), k: go(-1) };
  }, [items, rows, virtual]);
  useKeys(keys);

  return (
    <>
      <div
        aria-hidden="true"
        className={cx(
          `${COLUMNS} hidden h-8 shrink-0 items-center border-b bg-surface px-4 text-xs text-soft sm:grid`,
          chosen && 'pl-15',
        )}
      >
        <span>Status</span>
        <span>Agent</span>
        <span>Prompt</span>
        <span className="hidden lg:block">Model</span>
        <span className="text-right">Cost</span>
        <span className="hidden text-right md:block">Took</span>
        <span className="text-right">Started</span>
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
        <ul ref={list} aria-label="Runs" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start, size }) => (
            <li
              key={key}
              aria-posinset={index + 1}
              aria-setsize={hasNextPage ? -1 : rows.length}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <Choosable run={rows[index]!} chosen={chosen} onChoose={onChoose} />
            </li>
          ))}
        </ul>
      </div>
      {/* It stands below the list, not in it: each page that comes would move it. */}
      <p className="flex min-h-8 shrink-0 items-center justify-center gap-2 border-t bg-surface text-xs text-soft">
        {isFetchNextPageError ? (
          <Button onClick={() => void fetchNextPage()}>Load older runs</Button>
        ) : hasNextPage ? (
          `${count(rows.length)} found so far; looking further`
        ) : (
          `That is all: ${count(rows.length)}`
        )}
      </p>
    </>
  );
}

const COLUMNS =
  'grid-cols-[7rem_8rem_minmax(0,1fr)_5.5rem_5.5rem] md:grid-cols-[7rem_9rem_minmax(0,1fr)_5.5rem_6rem_5.5rem] lg:grid-cols-[7rem_9rem_minmax(0,1fr)_10rem_5.5rem_6rem_5.5rem] gap-x-3';

type ChoosableProps = Pick<RunListProps, 'chosen' | 'onChoose'> & { run: FoundRun };

function Choosable({ run, chosen, onChoose }: ChoosableProps) {
  if (!chosen) return <Row run={run} />;
  return (
    <div className="flex h-full">
      <label className="flex w-11 shrink-0 items-center justify-center border-b hover:bg-raised">
        <input
          type="checkbox"
          className="size-4"
          aria-label={`Choose ${run.agent ?? 'the run'} ${shortId(run.run_id)}`}
          checked={chosen.has(run.run_id)}
          onChange={() => onChoose(run.run_id)}
        />
      </label>
      <div className="min-w-0 flex-1">
        <Row run={run} />
      </div>
    </div>
  );
}

function Row({ run }: { run: FoundRun }) {
  const cost = <Money usd={run.cost_usd} isPriced={run.is_priced} />;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run.run_id }}
      data-row={run.run_id}
      preload={false}
      className="block h-full border-b px-4 text-sm -outline-offset-2 hover:bg-raised"
    >
      <span className={`${COLUMNS} hidden h-full items-center sm:grid`}>
        <Status status={run.status} />
        <span className="truncate font-medium">{run.agent ?? <span className="text-soft">picking one</span>}</span>
        <span className="truncate text-soft" title={run.error ?? undefined}>
          <span className="pr-2 font-mono text-xs">{shortId(run.run_id)}</span>
          {run.sample && (
            <span className="pr-2">
              <SampleMark />
            </span>
          )}
          {run.error ? <span className="text-bad">{run.error}</span> : run.prompt}
        </span>
        <span className="hidden truncate text-soft lg:block">{run.model ?? ''}</span>
        <span className="tabular text-right">{cost}</span>
        <span className="tabular hidden text-right text-soft md:block">
          <Took from={run.started_at} to={run.completed_at} />
        </span>
        <span className="tabular truncate text-right text-soft">
          <Time at={run.created_at} />
        </span>
      </span>
      <span className="flex h-full flex-col justify-center gap-0.5 sm:hidden">
        <span className="flex items-center gap-2">
          <Status status={run.status} isIconOnly />
          <span className="truncate font-medium">{run.agent ?? 'picking an agent'}</span>
          {run.sample && <SampleMark />}
          <span className="tabular ml-auto text-soft">{cost}</span>
        </span>
        <span className="truncate text-soft">{run.error ?? run.prompt}</span>
        <span className="tabular flex gap-2 text-xs text-soft">
          <Time at={run.created_at} />
          <Took from={run.started_at} to={run.completed_at} />
        </span>
      </span>
    </Link>
  );
}
