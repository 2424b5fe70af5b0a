/**
 * Shows the workflows that projects are started from: their graph, their versions, and the difference between two
 * versions.
 */
import { ForWriters } from '../../ui/for-writers.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { del, get } from '../../api/client.ts';
import type { Workflow, WorkflowDetail, TemplatesVersionsResponse } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Skeleton } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { asText, Value } from '../../ui/json.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Resource, resourceKey } from '../../ui/resource.tsx';
import { Time } from '../../ui/time.tsx';

const Diff = lazy(() => import('../../ui/diff.tsx').then((module) => ({ default: module.Diff })));
const PATH = '/v1/workflows';

export const Workflows = ({ id }: { id: string | undefined }) => (
  <Resource<Workflow>
    label="Workflows"
    path={PATH}
    selected={id}
    search={{ tab: 'workflows' }}
    idOf={(row) => row.slug}
    columns={[
      { name: 'Workflow', cell: ({ name }) => name },
      { name: 'For', cell: ({ description }) => <span className="line-clamp-2">{description}</span> },
      { name: 'Phases', cell: (row) => row.phase_count, isRight: true },
      { name: 'Version', cell: (row) => `v${row.version}`, isRight: true },
      { name: 'Whose', cell: (row) => (row.is_builtin ? 'built-in' : 'custom') },
    ]}
    pane={(row) => ({
      title: row.name,
      body: <Loaded<WorkflowDetail> path={`${PATH}/${row.slug}`}>{(workflow) => <View workflow={workflow} />}</Loaded>,
    })}
    making={{ label: 'New workflow', schema: 'NewWorkflow' }}
    empty={{ title: 'No workflows', text: 'A workflow is the phases that a project goes through.' }}
  />
);

function View({ workflow }: { workflow: WorkflowDetail }) {
  const [version, setVersion] = useState<number>();
  const path = `${PATH}/${workflow.slug}`;
  const versions = useQuery({
    queryKey: resourceKey(`${path}/versions`),
    queryFn: ({ signal }) => get<TemplatesVersionsResponse>(`${path}/versions`, undefined, signal),
  });
  const other = useQuery({
    queryKey: resourceKey(`${path}?version=${version}`),
    queryFn: ({ signal }) => get<WorkflowDetail>(path, { version }, signal),
    enabled: version !== undefined,
  });
  return (
    <>
      <p>{workflow.description}</p>
      <div className="flex flex-wrap gap-2">
        <ForWriters>
          <Link to="/projects/new" search={{ workflow: workflow.slug }} className={buttonClass('primary')}>
            Start a project
          </Link>
        </ForWriters>
        {!workflow.is_builtin && (
          <Change
            label="Make a version"
            title={`The next version of ${workflow.name}`}
            schema="WorkflowChange"
            path={path}
            before={workflow as never}
            done="Made"
          />
        )}
      </div>
      <Acts
        acts={[
          {
            label: 'Archive',
            isHidden: workflow.is_builtin,
            asks: {
              title: `Archive ${workflow.name}?`,
              text: 'No project can be started from it; those that there are go on.',
            },
            done: 'Archived',
            act: () => del(path),
          },
        ]}
      />
      <Facts
        facts={[
          ['Version', `v${workflow.version}`],
          ['Changed', <Time key="at" at={workflow.updated_at} isAbsolute />],
          workflow.tags.length > 0 && ['Tags', workflow.tags.join(', ')],
        ]}
      />
      <ol aria-label="Phases" className="card divide-y text-sm">
        {workflow.spec.phases.map((phase) => (
          <li key={phase.slug} className="px-3 py-1.5">
            <span className="font-medium">{phase.slug}</span>
            <span className="text-soft">
              {phase.depends_on?.length ? ` after ${phase.depends_on.join(', ')}` : ' at once'}
            </span>
          </li>
        ))}
      </ol>
      {(versions.data?.data.length ?? 0) > 1 && (
        <label className="flex items-center gap-2 text-sm">
          Compare with
          <select
            className="field"
            value={version ?? ''}
            onChange={({ target }) => setVersion(Number(target.value) || undefined)}
          >
            <option value="">nothing</option>
            {versions.data?.data
              .filter((each) => each.version !== workflow.version)
              .map((each) => (
                <option key={each.version} value={each.version}>
                  v{each.version}
                </option>
              ))}
          </select>
        </label>
      )}
      {version !== undefined && other.data ? (
        <Suspense fallback={<Skeleton rows={3} />}>
          <Diff
            from={asText(other.data.spec)}
            to={asText(workflow.spec)}
            label={`v${version} to v${workflow.version}`}
          />
        </Suspense>
      ) : (
        <Value value={workflow.spec} label="the spec" />
      )}
    </>
  );
}
