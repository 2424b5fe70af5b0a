/** The page `/projects/{id}`, which shows one project live: what waits, its phases, and the phase that is chosen. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { mayChange, useSession } from '../api/session.ts';
import { ProjectWaits, useProjectWaits } from '../features/inbox/project-waits.tsx';
import { Budget } from '../features/projects/budget.tsx';
import { EditSessions } from '../features/projects/edit-sessions.tsx';
import { Files } from '../features/attachments/files.tsx';
import { PhaseGraph } from '../features/projects/phase-graph.tsx';
import { PhaseView } from '../features/projects/phase-view.tsx';
import { ProjectActions } from '../features/projects/project-actions.tsx';
import {
  artifactsQuery,
  criticalPathQuery,
  phasesQuery,
  projectQuery,
  useProjectLive,
} from '../features/projects/queries.ts';
import { Times } from '../features/projects/times.tsx';
import { isEnded, type Artifact, type Phase, type Project } from '../features/projects/types.ts';
import { Problem, Skeleton } from '../ui/empty.tsx';
import { Folded } from '../ui/folded.tsx';
import { Money } from '../ui/money.tsx';
import { Page } from '../ui/page.tsx';
import { SampleMark } from '../ui/sample-mark.tsx';
import { Status, statusWord } from '../ui/status.tsx';
import { Time, Took } from '../ui/time.tsx';

const CRUMBS = [{ label: 'Projects', to: '/projects' }];

export function ProjectPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const { phase: slug, v, vs } = useSearch({ from: '/projects/$projectId' });
  useProjectLive(projectId);
  const project = useQuery(projectQuery(projectId));
  const [phases, artifacts, critical] = useQueries({
    queries: [phasesQuery(projectId), artifactsQuery(projectId), criticalPathQuery(projectId)],
  });
  const waits = useProjectWaits(projectId);
  const error = project.error ?? phases.error;
  if (!project.data || !phases.data || !waits) {
    return (
      <Page title="Project" heading={projectId} crumbs={CRUMBS}>
        {error ? (
          <Problem error={error} onRetry={() => void Promise.all([project.refetch(), phases.refetch()])} />
        ) : (
          <Skeleton />
        )}
      </Page>
    );
  }
  const regular = phases.data.data.filter(({ task_kind: kind }) => kind === 'regular');
  const sessions = phases.data.data.filter(({ task_kind: kind }) => kind === 'edit_session');
  const selected =
    phases.data.data.find(({ phase_slug: each }) => each === slug) ??
    regular.find(({ status }) => ['blocked', 'running', 'review', 'failed'].includes(status)) ??
    regular.findLast(({ status }) => status === 'succeeded') ??
    regular[0];
  const isAtWork = phases.data.data.some(({ status }) => ['running', 'review', 'queued'].includes(status));
  const status = project.data.status === 'active' && waits.length > 0 && !isAtWork ? 'blocked' : project.data.status;
  return (
    <Page
      title={`${statusWord(status)} ${project.data.title}`}
      heading={
        <span className="flex min-w-0 items-center gap-2">
          <Status status={status} />
          <span className="min-w-0 sm:truncate">{project.data.title}</span>
          {project.data.sample && <SampleMark />}
        </span>
      }
      crumbs={CRUMBS}
      actions={<ProjectActions project={project.data} />}
    >
      <Head project={project.data} />
      <ProjectWaits waits={waits} />
      <PhaseGraph phases={regular} selected={selected?.phase_slug} critical={critical.data?.path ?? []} />
      <Times projectId={projectId} />
      <Files
        of="the project"
        path={`/v1/projects/${project.data.id}/attachments`}
        isOpen={!isEnded(project.data)}
        hint="Steps that begin from now on can read them."
      />
      <EditSessions project={project.data} sessions={sessions} />
      {selected && (
        <PhaseView
          key={selected.id}
          project={project.data}
          phase={selected}
          artifacts={(artifacts.data?.data ?? []).filter(({ phase_slug: each }) => each === selected.phase_slug)}
          newer={newerThan(selected, artifacts.data?.data ?? [])}
          version={v}
          against={vs}
        />
      )}
    </Page>
  );
}

/** @returns what stale means: the current artifacts that a phase depends on and that came after its own */
function newerThan({ phase_slug: slug, depends_on: before }: Phase, all: readonly Artifact[]): Artifact[] {
  const current = all.filter(({ superseded }) => !superseded);
  const own = current.find(({ phase_slug: each }) => each === slug);
  return current.filter(
    ({ phase_slug: each, created_at: at }) =>
      own && before.includes(each) && Date.parse(at) > Date.parse(own.created_at),
  );
}

function Head({ project }: { project: Project }) {
  const session = useSession();
  const { cost_total_usd: spent, cost_budget_usd: budget } = project;
  const share = budget ? Math.min(1, Number(spent) / Number(budget)) : 0;
  return (
    <div className="grid gap-x-6 gap-y-2 border-b px-4 py-3 md:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0">
        {project.pause_reason && <p className="pb-1 text-warn">Paused: {project.pause_reason.replaceAll('_', ' ')}</p>}
        <h2 className="sr-only">Brief</h2>
        <div tabIndex={0} role="group" aria-label="Brief" className="max-h-48 overflow-y-auto">
          <Folded text={project.brief} />
        </div>
      </div>
      <dl className="tabular grid grid-cols-[auto_auto] content-start gap-x-4 gap-y-0.5 text-sm">
        <dt className="text-soft">Spent</dt>
        <dd>
          <Money usd={spent} isPriced={project.is_priced} />
          {budget && (
            <>
              {' of '}
              <Money usd={budget} />
              <meter
                aria-label="Share of the budget that is spent"
                min={0}
                max={1}
                value={share}
                className="ml-2 h-2 w-16 align-middle"
              />
            </>
          )}
        </dd>
        <dt className="text-soft">Workflow</dt>
        <dd>
          {project.workflow_slug} v{project.workflow_version}
        </dd>
        <dt className="text-soft">Started</dt>
        <dd>
          <Time at={project.created_at} isAbsolute />
        </dd>
        <dt className="text-soft">Took</dt>
        <dd>
          <Took from={project.started_at} to={project.completed_at ?? project.abandoned_at} />
        </dd>
        {mayChange(session) && !isEnded(project) && (
          <dd className="col-span-2 -ml-3">
            <Budget key={project.cost_budget_usd} project={project} />
          </dd>
        )}
      </dl>
    </div>
  );
}
