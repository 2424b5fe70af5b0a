/** The pages `/inbox` and `/inbox/{id}`, which show everything that waits for somebody and take the answers. */
import { ForWriters } from '../ui/for-writers.tsx';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { addressOf } from '../api/client.ts';
import type { Wait } from '../api/types.ts';
import { asQuery, useInboxLive, waitCountsQuery, waitQuery, waitsQuery } from '../features/inbox/queries.ts';
import { WAIT_KINDS, type InboxFilters } from '../features/inbox/view.ts';
import { Spending } from '../features/inbox/spending.tsx';
import { WaitList } from '../features/inbox/wait-list.tsx';
import { WaitView } from '../features/inbox/wait-view.tsx';
import { KIND_WORDS } from '../features/inbox/words.ts';
import { step, useKeys } from '../ui/keys.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { controlPlaneCurl } from '../ui/commands.ts';
import { Command, CopyAs } from '../ui/copy.tsx';
import { cx } from '../ui/cx.ts';
import { Empty, Problem, Skeleton } from '../ui/empty.tsx';
import { Filters } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';

export function InboxPage() {
  const filters = useSearch({ strict: false }) as InboxFilters;
  const { waitId } = useParams({ strict: false }) as { waitId?: string };
  const navigate = useNavigate();
  useInboxLive();
  const query = useInfiniteQuery(waitsQuery(filters));
  const list = useRef<HTMLDivElement>(null);
  useKeys(useMemo(() => ({ j: () => step(list.current, 1), k: () => step(list.current, -1) }), []));
  const waits = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const opened = useQuery({ ...waitQuery(waitId ?? ''), enabled: waitId !== undefined }).data;
  const shown = waitId === undefined ? undefined : opened;
  const change = (search: InboxFilters) => void navigate({ to: '/inbox', search });

  const body = () => {
    if (query.isPending) return <Skeleton rows={10} />;
    if (query.isError && waits.length === 0)
      return <Problem error={query.error} onRetry={() => void query.refetch()} />;
    if (waits.length === 0) return <Nothing filters={filters} onClear={() => change({})} />;
    return <WaitList waits={waits} filters={filters} selected={waitId} isNarrow={waitId !== undefined} />;
  };
  return (
    <Page
      title={shown ? KIND_WORDS[shown.kind].one : 'Inbox'}
      isFilling
      {...(shown && { crumbs: [{ label: 'Inbox', to: '/inbox' }] })}
      actions={
        <CopyAs
          curl={controlPlaneCurl({ path: waitId ? `/v1/inbox/${waitId}` : addressOf('/v1/inbox', asQuery(filters)) })}
          aos={waitId ? `npx aos inbox show ${waitId}` : `npx aos inbox${filters.status ? ' --settled' : ''}`}
        />
      }
    >
      <div className={cx(waitId !== undefined && 'max-lg:hidden')}>
        <Spending notices={query.data?.pages[0]?.meta.spending ?? []} />
        <FilterBar filters={filters} onChange={change} />
      </div>
      <div className="flex min-h-0 flex-1">
        <div
          ref={list}
          className={cx(
            'min-h-0 overflow-y-auto',
            waitId === undefined ? 'flex-1' : 'w-90 shrink-0 border-r max-lg:hidden',
          )}
        >
          {body()}
          {query.hasNextPage && (
            <div className="p-4 text-center">
              <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                Older ones
              </Button>
            </div>
          )}
        </div>
        {waitId !== undefined && <Detail key={waitId} waitId={waitId} waits={waits} filters={filters} />}
      </div>
    </Page>
  );
}

interface DetailProps {
  waitId: string;
  waits: readonly Wait[];
  filters: InboxFilters;
}

function Detail({ waitId, waits, filters }: DetailProps) {
  const { data: wait, error, refetch } = useQuery(waitQuery(waitId));
  const navigate = useNavigate();
  const back = () => void navigate({ to: '/inbox', search: filters });
  useKeys(useMemo(() => ({ Escape: back }), [filters]));
  const at = waits.findIndex(({ id }) => id === waitId);
  const next =
    waits.find(({ id, status }, i) => i > at && id !== waitId && status === 'open') ??
    waits.find(({ id, status }) => id !== waitId && status === 'open');
  return (
    <section
      aria-label="The wait"
      className="@container min-h-0 min-w-0 flex-1 space-y-4 overflow-y-auto p-4"
      data-scroll
    >
      {wait ? (
        <>
          <WaitView wait={wait} hasKeys />
          {wait.status === 'settled' && next && (
            <Link
              to="/inbox/$waitId"
              params={{ waitId: next.id }}
              search={filters}
              autoFocus
              className="inline-flex min-h-11 items-center text-accent underline"
            >
              Next: {next.title}
            </Link>
          )}
        </>
      ) : error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </section>
  );
}

function FilterBar({ filters, onChange }: { filters: InboxFilters; onChange: (filters: InboxFilters) => void }) {
  const { data: counts } = useQuery(waitCountsQuery);
  const { kind, status, overdue, mine, project, run } = filters;
  const place = { ...(project && { project }), ...(run && { run }) };
  const countOf = (each: Wait['kind']) => counts?.by_kind.find(({ kind: name }) => name === each)?.open ?? 0;
  const isAll = !kind && !status && !overdue && !mine;
  return (
    <Filters
      label="What waits"
      filters={[
        { key: 'all', label: 'All open', count: counts?.open, isOn: isAll, onPick: () => onChange(place) },
        ...WAIT_KINDS.map((each) => ({
          key: each,
          label: KIND_WORDS[each].one,
          icon: KIND_WORDS[each].icon,
          count: countOf(each),
          isOn: kind === each && !status,
          onPick: () => onChange({ ...place, kind: each }),
        })),
        { key: 'mine', label: 'For me', isOn: mine === true, onPick: () => onChange({ ...place, mine: true }) },
        {
          key: 'overdue',
          label: 'Overdue',
          count: counts?.overdue,
          isOn: overdue === true,
          onPick: () => onChange({ ...place, overdue: true }),
        },
        {
          key: 'settled',
          label: 'Answered',
          isOn: status === 'settled',
          onPick: () => onChange({ ...place, status: 'settled' }),
        },
        ...(project || run
          ? [{ key: 'place', label: `Of ${project ?? run} only: show all`, isOn: true, onPick: () => onChange({}) }]
          : []),
      ]}
    />
  );
}

function Nothing({ filters, onClear }: { filters: InboxFilters; onClear: () => void }) {
  if (Object.keys(filters).length > 0) {
    const { kind, status, overdue, mine, project, run } = filters;
    const words = [
      kind && KIND_WORDS[kind].one,
      status && 'answered',
      overdue && 'overdue',
      mine && 'what you may answer',
      project,
      run,
    ];
    return (
      <Empty title="Nothing is like this" action={<Button onClick={onClear}>Show all that waits</Button>}>
        Looked for {words.filter(Boolean).join(', ')}.
      </Empty>
    );
  }
  return (
    <Empty
      title="Nothing waits for you"
      action={
        <ForWriters>
          <Link to="/projects/new" search={{ workflow: 'blog-post' }} className={buttonClass()}>
            Start a blog post
          </Link>
        </ForWriters>
      }
      commands={
        <>
          <Command
            label="aos command"
            text={'npx aos project start blog-post --brief "Why small teams should write their decisions down"'}
          />
          <Command label="curl command" text={controlPlaneCurl({ path: '/v1/inbox' })} />
        </>
      }
    >
      <p>
        Approvals, plans, questions of agents and projects that have stopped come here, each with what is needed to
        decide. A blog post waits for its approval before it is published:
      </p>
    </Empty>
  );
}
