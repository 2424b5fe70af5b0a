/** The page `/runs`, which lists all runs, newest first. */
import { ForWriters } from '../ui/for-writers.tsx';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useRef, useState } from 'react';
import { Bulk } from '../features/runs/bulk.tsx';
import { Failures } from '../features/runs/failures.tsx';
import { FilterBar } from '../features/runs/filter-bar.tsx';
import { asQuery, isFiltered } from '../features/runs/filters.ts';
import { FirstRun } from '../features/runs/first-run.tsx';
import { RunList } from '../features/runs/run-list.tsx';
import { useRuns } from '../features/runs/use-runs.ts';
import { addressOf } from '../api/client.ts';
import { mayChange, useSession } from '../api/session.ts';
import { usePointerInside } from '../live/live.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { controlPlaneCurl } from '../ui/commands.ts';
import { CopyAs } from '../ui/copy.tsx';
import { Empty, Problem, Skeleton } from '../ui/empty.tsx';
import { plural } from '../ui/figures.ts';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page.tsx';

export function RunsPage() {
  const filters = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const scroller = useRef<HTMLDivElement>(null);
  const [isPointerInside, pointer] = usePointerInside();
  const isHeld = useCallback(() => isPointerInside || (scroller.current?.scrollTop ?? 0) > 0, [isPointerInside]);
  const { query, rows, waiting, show } = useRuns(filters, { isHeld });
  const may = mayChange(useSession());
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const choose = (id: string) =>
    setChosen((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  const clear = () => void navigate({ search: {} });

  const body = () => {
    if (query.isPending) return <Skeleton rows={14} />;
    if (query.isError && rows.length === 0) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
    if (rows.length > 0 || query.hasNextPage)
      return <RunList query={query} rows={rows} scroller={scroller} chosen={chosen} onChoose={choose} />;
    if (isFiltered(filters)) {
      return (
        <Empty title="No run is like this" action={<Button onClick={clear}>Clear the filters</Button>}>
          Looked for{' '}
          {Object.entries(filters)
            .map(([name, value]) => `${name} ${value}`)
            .join(', ')}
          .
        </Empty>
      );
    }
    return <FirstRun />;
  };

  return (
    <Page
      title="Runs"
      isFilling
      actions={
        <>
          <CopyAs
            curl={controlPlaneCurl({ path: addressOf('/v1/runs/search', asQuery(filters)) })}
            aos={filters.agent ? `npx aos runs --agent ${filters.agent}` : 'npx aos runs'}
          />
          {may && (
            <Button
              icon="check"
              title="Choose several"
              className="max-sm:px-2"
              disabled={rows.length === 0 || chosen !== undefined}
              onClick={() => setChosen(new Set())}
            >
              <span className="max-sm:sr-only">Choose several</span>
            </Button>
          )}
          <ForWriters>
            <Link to="/runs/new" className={buttonClass('primary')}>
              <Icon name="plus" /> New run
            </Link>
          </ForWriters>
        </>
      }
    >
      <FilterBar filters={filters} onChange={(search) => void navigate({ search, replace: true })} />
      {chosen && (
        <Bulk
          runs={rows.filter(({ run_id: id }) => chosen.has(id))}
          shown={rows}
          onChoose={(ids) => setChosen(new Set(ids))}
          onEnd={() => setChosen(undefined)}
        />
      )}
      {filters.status === 'failed' && <Failures agent={filters.agent} hours={filters.hours} />}
      <div className="relative flex min-h-0 flex-1 flex-col" {...pointer}>
        {waiting > 0 && (
          <div className="absolute inset-x-0 top-2 z-10 flex justify-center">
            <Button
              look="primary"
              className="rounded-full shadow-md"
              onClick={() => {
                show();
                scroller.current?.scrollTo({ top: 0 });
              }}
            >
              {plural(waiting, 'new run')}
            </Button>
          </div>
        )}
        {body()}
      </div>
    </Page>
  );
}
