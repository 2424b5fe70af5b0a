/** The page `/runs/{id}`, which shows one run live. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ContextView } from '../features/runs/context-view.tsx';
import { FilesView } from '../features/runs/files-view.tsx';
import { MemoriesView } from '../features/runs/memories-view.tsx';
import { runQuery } from '../features/runs/queries.ts';
import { RunActions } from '../features/runs/run-actions.tsx';
import { Summary } from '../features/runs/summary.tsx';
import { TimelineView } from '../features/runs/timeline-view.tsx';
import { TranscriptView } from '../features/runs/transcript-view.tsx';
import { useRunLive } from '../features/runs/use-run.ts';
import { RUN_TABS, type RunTab } from '../features/runs/view.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Problem, Skeleton } from '../ui/empty.tsx';
import { shortId } from '../ui/figures.ts';
import { Page } from '../ui/page.tsx';
import { SampleMark } from '../ui/sample-mark.tsx';
import { Status, statusWord } from '../ui/status.tsx';
import { TabPanel, Tabs } from '../ui/tabs.tsx';

const WORDS: Record<RunTab, string> = {
  summary: 'Summary',
  timeline: 'Timeline',
  transcript: 'Transcript',
  context: 'Context window',
  memories: 'Memories',
  files: 'Files',
};
const CRUMBS = [{ label: 'Runs', to: '/runs' }];

export function RunPage() {
  const { runId } = useParams({ from: '/runs/$runId' });
  const { tab = 'summary', event } = useSearch({ from: '/runs/$runId' });
  const navigate = useNavigate({ from: '/runs/$runId' });
  const { data: run, error, refetch } = useQuery(runQuery(runId));
  useRunLive(runId, run?.status);

  if (!run) {
    return (
      <Page title="Run" heading={<Id runId={runId} />} crumbs={CRUMBS}>
        {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const views: Record<RunTab, () => React.ReactNode> = {
    summary: () => <Summary run={run} />,
    timeline: () => (
      <TimelineView
        run={run}
        selected={event}
        onSelect={(id) =>
          void navigate({ search: { tab: 'timeline', ...(id !== undefined && { event: id }) }, replace: true })
        }
      />
    ),
    transcript: () => <TranscriptView run={run} />,
    context: () => <ContextView run={run} />,
    memories: () => <MemoriesView run={run} />,
    files: () => <FilesView run={run} />,
  };
  return (
    <Page
      title={`${statusWord(run.status)} ${run.agent ?? 'run'} ${shortId(runId)}`}
      heading={
        <span className="flex min-w-0 items-center gap-2">
          <Status status={run.status} />
          <span className="truncate">{run.agent ?? 'picking an agent'}</span>
          {run.sample && <SampleMark />}
          <Id runId={runId} />
        </span>
      }
      crumbs={CRUMBS}
      actions={<RunActions run={run} />}
      isFilling
    >
      <Tabs
        label="Views of the run"
        tabs={RUN_TABS.map((value) => ({ value, label: WORDS[value] }))}
        value={tab}
        onChange={(value) => void navigate({ search: value === 'summary' ? {} : { tab: value } })}
      />
      <TabPanel value={tab}>{views[tab]()}</TabPanel>
    </Page>
  );
}

const Id = ({ runId }: { runId: string }) => (
  <span className="hidden items-center font-mono text-xs font-normal text-soft sm:flex">
    {runId}
    <CopyButton text={runId} label="Copy the id" />
  </span>
);
