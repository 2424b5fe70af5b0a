/** The page `/projects`, which lists all projects, newest first. */
import { ForWriters } from '../ui/for-writers.tsx';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import type { Wait } from '../api/types.ts';
import { useInboxLive, waitsByProjectQuery } from '../features/inbox/queries.ts';
import { KIND_WORDS } from '../features/inbox/words.ts';
import { asProjectQuery, projectsQuery } from '../features/projects/queries.ts';
import { PROJECT_STATUSES, type Project } from '../features/projects/types.ts';
import { parseProjectFilter, type ProjectFilters } from '../features/projects/view.ts';
import { FIRST_WORKFLOW, projectBodyOf, samplesQuery } from '../features/samples/queries.ts';
import { addressOf } from '../api/client.ts';
import { AGES } from '../ui/ages.ts';
import { Choice } from '../ui/choice.tsx';
import { step, useKeys } from '../ui/keys.ts';
import { SearchBox } from '../ui/search-box.tsx';
import { useRefresh } from '../live/live.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { controlPlaneCurl, publicCurl, quoted } from '../ui/commands.ts';
import { Command, CopyAs } from '../ui/copy.tsx';
import { cx } from '../ui/cx.ts';
import { Empty, Problem, Skeleton } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Money } from '../ui/money.tsx';
import { Page } from '../ui/page.tsx';
import { SampleMark } from '../ui/sample-mark.tsx';
import { Status, statusWord } from '../ui/status.tsx';
import { Time, Took } from '../ui/time.tsx';

export function ProjectsPage() {
  const filters = useSearch({ from: '/projects' });
  const { status, q, hours } = filters;
  const navigate = useNavigate({ from: '/projects' });
  const client = useQueryClient();
  const query = useInfiniteQuery(projectsQuery(filters));
  useRefresh(() => void client.invalidateQueries({ queryKey: ['projects', 'list'] }), { kinds: ['project'] });
  useInboxLive();
  const waits = useQuery(waitsByProjectQuery).data;
  const change = (part: Partial<Record<keyof ProjectFilters, unknown>>) =>
    void navigate({ search: parseProjectFilter({ ...filters, ...part }), replace: 'q' in part });
  const list = useRef<HTMLUListElement>(null);
  useKeys(useMemo(() => ({ j: () => step(list.current, 1), k: () => step(list.current, -1) }), []));
  const projects = query.data?.pages.flatMap(({ data }) => data) ?? [];

  const body = () => {
    if (query.isPending) return <Skeleton rows={10} />;
    if (query.isError && projects.length === 0)
      return <Problem error={query.error} onRetry={() => void query.refetch()} />;
    if (projects.length === 0 && Object.keys(filters).length > 0) {
      return (
        <Empty
          title={
            status && !q && !hours ? `No project is ${statusWord(status).toLowerCase()}` : 'No project is like this'
          }
          action={<Button onClick={() => void navigate({ search: {} })}>Show all</Button>}
        />
      );
    }
    if (projects.length === 0) return <NoProjects />;
    return (
      <>
        <div
          aria-hidden="true"
          className={`${COLUMNS} hidden h-8 items-center gap-x-3 border-b bg-surface px-4 text-xs text-soft sm:grid`}
        >
          <span>Status</span>
          <span>Project</span>
          <span>Workflow</span>
          <span className="text-right">Spent</span>
          <span className="text-right">Took</span>
          <span className="text-right">Started</span>
        </div>
        <ul ref={list} aria-label="Projects">
          {projects.map((project) => (
            <li key={project.id}>
              <Row project={project} wait={waits?.get(project.id)} />
            </li>
          ))}
        </ul>
      </>
    );
  };
  return (
    <Page
      title="Projects"
      actions={
        <>
          <CopyAs
            curl={controlPlaneCurl({ path: addressOf('/v1/projects', asProjectQuery(filters)) })}
            aos={aosList(filters)}
          />
          <ForWriters>
            <Link to="/projects/new" className={buttonClass('primary')}>
              <Icon name="plus" /> New project
            </Link>
          </ForWriters>
        </>
      }
    >
      <div className="flex flex-wrap gap-2 bg-surface px-4 pt-2">
        <SearchBox
          label="Search projects by id or words"
          placeholder="Id, or words of the title or the brief"
          text={q ?? ''}
          onChange={(text) => change({ q: text })}
        />
        <Choice
          label="Age"
          value={String(hours ?? '')}
          options={AGES}
          onChange={(age) => change({ hours: age === '' ? undefined : Number(age) })}
        />
      </div>
      <div
        role="group"
        aria-label="Status"
        className="flex gap-0.5 overflow-x-auto border-b bg-surface px-3 py-2 text-sm"
      >
        {[undefined, ...PROJECT_STATUSES].map((value) => (
          <button
            key={value ?? 'all'}
            type="button"
            aria-pressed={status === value}
            onClick={() => change({ status: value })}
            className={cx(
              'flex min-h-7 items-center rounded-md border px-2 pointer-coarse:min-h-11',
              status === value ? 'border-strong bg-raised' : 'border-transparent hover:bg-raised',
            )}
          >
            {value ? <Status status={value} isStill /> : 'All'}
          </button>
        ))}
      </div>
      {body()}
      {query.hasNextPage && (
        <div className="p-4 text-center">
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older projects
          </Button>
        </div>
      )}
    </Page>
  );
}

/** The same list from the command line. */
const aosList = ({ q, status, hours }: ProjectFilters): string =>
  [
    'npx aos project list',
    ...(q ? [`--q ${quoted(q)}`] : []),
    ...(status ? [`--status ${status}`] : []),
    ...(hours ? [`--from ${hours}h`] : []),
  ].join(' ');

const COLUMNS = 'sm:grid-cols-[7rem_minmax(0,1fr)_9rem_10rem_6rem_5.5rem]';

function Row({ project, wait }: { project: Project; wait: Wait | undefined }) {
  // Nothing of it may go on before somebody has answered, so that is what it is shown as.
  const status = project.status === 'active' && wait ? 'blocked' : project.status;
  return (
    <Link
      to="/projects/$projectId"
      params={{ projectId: project.id }}
      data-row={project.id}
      className={`grid min-h-11 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 border-b px-4 py-1 text-sm -outline-offset-2 hover:bg-raised ${COLUMNS}`}
    >
      <span className="max-sm:hidden">
        <Status status={status} />
      </span>
      <span className="min-w-0">
        <span className="flex items-center gap-2 font-medium">
          <span className="sm:hidden">
            <Status status={status} isIconOnly />
          </span>
          <span className="truncate">{project.title}</span>
          {project.sample && <SampleMark />}
          {project.has_stale_phases && <Status status="stale" className="text-xs" />}
        </span>
        {project.pause_reason && (
          <span className="block truncate text-xs text-warn">{project.pause_reason.replaceAll('_', ' ')}</span>
        )}
        {wait && !project.pause_reason && (
          <span className="block truncate text-xs text-warn">
            {KIND_WORDS[wait.kind].one}: {wait.title}
          </span>
        )}
        <span className="block truncate text-xs text-soft sm:hidden">
          {project.workflow_slug}, <Time at={project.created_at} />
        </span>
      </span>
      <span className="truncate text-soft max-sm:hidden">{project.workflow_slug}</span>
      <span className="tabular text-right">
        <Money usd={project.cost_total_usd} isPriced={project.is_priced} />
        {project.cost_budget_usd && (
          <span className="text-soft">
            {' of '}
            <Money usd={project.cost_budget_usd} />
          </span>
        )}
      </span>
      <span className="tabular text-right text-soft max-sm:hidden">
        <Took from={project.started_at} to={project.completed_at ?? project.abandoned_at} />
      </span>
      <span className="tabular text-right text-soft max-sm:hidden">
        <Time at={project.created_at} />
      </span>
    </Link>
  );
}

function NoProjects() {
  const samples = useQuery(samplesQuery).data?.workflows;
  const body = projectBodyOf(samples?.find(({ workflow }) => workflow === FIRST_WORKFLOW));
  return (
    <Empty
      title="No projects yet"
      action={
        <ForWriters>
          <Link to="/projects/new" search={{ workflow: 'blog-post' }} className={buttonClass('primary')}>
            Start a blog post
          </Link>
        </ForWriters>
      }
      commands={
        <>
          <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/projects', body })} />
          <Command label="aos command" text={`npx aos project start ${FIRST_WORKFLOW} --sample --watch`} />
        </>
      }
    >
      <p>
        A project is one brief going through a workflow: phases that depend on each other, gates where people decide,
        and versioned artifacts.
      </p>
    </Empty>
  );
}
