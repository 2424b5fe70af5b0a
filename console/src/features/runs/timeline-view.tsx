/**
 * Shows what happened in order: a row with a bar for each span, a small picture of all of them, and one span opened.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { useNow } from '../../ui/clock.ts';
import { cx } from '../../ui/cx.ts';
import { Problem, Skeleton } from '../../ui/empty.tsx';
import { duration, money } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { step, useKeys } from '../../ui/keys.ts';
import { SampleNote } from '../../ui/sample-mark.tsx';
import { Inspector } from './inspector.tsx';
import { LANE_WORDS, LANES, spansOf, stretchesOf, type Lane, type Span } from './spans.ts';
import { isInFlight, type ShownRun } from './types.ts';
import { useTimeline } from './use-run.ts';

interface TimelineViewProps {
  run: ShownRun;
  selected: number | undefined;
  onSelect: (id: number | undefined) => void;
}

const ROW = 32;
const FILL: Record<Lane, string> = {
  model: 'var(--color-accent)',
  tool: 'var(--color-busy)',
  run: 'var(--color-quiet)',
  wait: 'var(--color-warn)',
  mark: 'var(--color-strong)',
};

export function TimelineView({ run, selected, onSelect }: TimelineViewProps) {
  const { data, error, refetch } = useTimeline(run.run_id);
  const isOver = !isInFlight(run.status);
  const spans = useMemo(() => spansOf(data?.events ?? [], isOver), [data, isOver]);
  const now = useNow();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: spans.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 15,
  });
  const keys = useMemo(
    () => ({
      j: () => step(scroller.current, 1),
      k: () => step(scroller.current, -1),
      Escape: () => onSelect(undefined),
    }),
    [onSelect],
  );
  useKeys(keys);
  if (!data) return error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton rows={12} />;

  const from = Math.min(...spans.slice(0, 50).map(({ start }) => start));
  const last = spans.reduce((latest, { start, end }) => Math.max(latest, end ?? start), from);
  const to = isOver ? last : Math.max(last, now);
  const open = spans.find(({ events }) => events.some(({ id }) => id === selected));
  return (
    <div className="flex min-h-0 flex-1">
      <div className={cx('flex min-w-0 flex-1 flex-col', open && 'max-md:hidden')}>
        {run.sample && <SampleNote />}
        <Minimap spans={spans} from={from} to={to} onPick={(i) => virtual.scrollToIndex(i, { align: 'start' })} />
        <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
          <ol aria-label="Timeline" className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => (
              <li
                key={spans[index]!.id}
                aria-posinset={index + 1}
                aria-setsize={spans.length}
                className="absolute inset-x-0 top-0"
                style={{ height: ROW, transform: `translateY(${start}px)` }}
              >
                <Row
                  span={spans[index]!}
                  from={from}
                  to={to}
                  isOpen={spans[index] === open}
                  onSelect={() => onSelect(spans[index] === open ? undefined : spans[index]!.id)}
                />
              </li>
            ))}
          </ol>
        </div>
      </div>
      {open && <Inspector span={open} from={from} onClose={() => onSelect(undefined)} />}
    </div>
  );
}

interface RowProps {
  span: Span;
  from: number;
  to: number;
  isOpen: boolean;
  onSelect: () => void;
}

function Row({ span, from, to, isOpen, onSelect }: RowProps) {
  const { icon, title, detail, start, end, isBad, costUsd, lane } = span;
  const left = ((start - from) / Math.max(1, to - from)) * 100;
  const width = (((end ?? to) - start) / Math.max(1, to - from)) * 100;
  return (
    <button
      type="button"
      data-row
      aria-expanded={isOpen}
      onClick={onSelect}
      className={cx(
        'grid h-full w-full grid-cols-[4.5rem_minmax(0,1fr)_auto] items-center gap-x-3 border-b px-4 text-left text-sm -outline-offset-2 hover:bg-raised lg:grid-cols-[4.5rem_minmax(0,1fr)_9rem_minmax(0,18rem)]',
        isOpen && 'bg-raised',
      )}
    >
      <span className="tabular text-right text-soft">+{duration(start - from)}</span>
      <span className="flex min-w-0 items-center gap-2">
        <Icon name={end === null && lane !== 'wait' ? 'spinner' : icon} className={isBad ? 'text-bad' : 'text-soft'} />
        <span className={cx('shrink-0 font-medium', isBad && 'text-bad')}>{title}</span>
        <span className="truncate text-soft">{detail}</span>
      </span>
      <span className="tabular flex justify-end gap-3 whitespace-nowrap text-soft">
        {costUsd !== null && Number(costUsd) > 0 && <span className="max-sm:hidden">{money(costUsd)}</span>}
        {(end ?? to) - start > 0 && <span>{duration((end ?? to) - start)}</span>}
      </span>
      <span aria-hidden="true" className="relative hidden h-2 rounded-sm bg-raised lg:block">
        <span
          className="absolute h-2 min-w-0.5 rounded-sm"
          style={{
            left: `${left}%`,
            width: `${Math.min(width, 100 - left)}%`,
            background: isBad ? 'var(--color-bad)' : FILL[lane],
          }}
        />
      </span>
    </button>
  );
}

interface MinimapProps {
  spans: readonly Span[];
  from: number;
  to: number;
  onPick: (index: number) => void;
}

function Minimap({ spans, from, to, onPick }: MinimapProps) {
  const stretches = useMemo(() => stretchesOf(spans, from, to), [spans, from, to]);
  const used = LANES.filter((lane) => lane !== 'mark' && stretches.some((stretch) => stretch.lane === lane));
  if (used.length === 0) return null;
  const pick = (event: React.MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = from + ((event.clientX - box.left) / box.width) * (to - from);
    const index = spans.findIndex(({ start, end }) => (end ?? to) >= at && start <= to);
    if (index !== -1) onPick(index);
  };
  return (
    <div
      aria-hidden="true"
      className="flex shrink-0 gap-3 border-b bg-surface px-4 py-2 text-xs text-soft max-sm:hidden"
    >
      <div className="w-14">
        {used.map((lane) => (
          <div key={lane} className="h-3.5 leading-3.5">
            {LANE_WORDS[lane]}
          </div>
        ))}
      </div>
      <div className="min-w-0 flex-1">
        <svg
          viewBox={`0 0 1000 ${used.length * 14}`}
          preserveAspectRatio="none"
          className="w-full cursor-pointer"
          style={{ height: used.length * 14 }}
          onClick={pick}
        >
          {stretches
            .filter(({ lane }) => lane !== 'mark')
            .map(({ lane, from: left, to: right, isBad }) => (
              <rect
                key={`${lane} ${left} ${right}`}
                x={left * 1000}
                width={Math.max(1.5, (right - left) * 1000)}
                y={used.indexOf(lane) * 14 + 3}
                height={8}
                fill={isBad ? 'var(--color-bad)' : FILL[lane]}
              />
            ))}
        </svg>
        <div className="tabular flex justify-between">
          <span>0</span>
          <span>{duration(to - from)}</span>
        </div>
      </div>
    </div>
  );
}
