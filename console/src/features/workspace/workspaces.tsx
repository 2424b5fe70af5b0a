/**
 * Shows what is known of the workspace itself, and takes it down or makes it again. Who operates the deployment sees
 * every workspace, and makes others.
 */
import { del, post } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { Workspace, WorkspaceDetail } from '../../api/types.ts';
import { Link } from '@tanstack/react-router';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Value } from '../../ui/json.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { exportAct, mayExport } from './exports.tsx';

const PATH = '/v1/workspaces';

export function Workspaces({ id }: { id: string | undefined }) {
  const { workspace_id: own, rights } = useSession();
  const isOperator = rights.includes('workspaces.reach-any');
  return (
    <Resource<Workspace>
      label="Workspaces"
      path={PATH}
      selected={id}
      search={{ tab: 'workspaces' }}
      keep={(row) => isOperator || row.identity_workspace_id === own}
      idOf={(row) => row.identity_workspace_id}
      columns={[
        { name: 'Workspace', cell: (row) => row.identity_workspace_id },
        { name: 'State', cell: (row) => <Status status={row.status} /> },
        { name: 'Plan', cell: (row) => row.plan },
        { name: 'Made', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.identity_workspace_id,
        body: (
          <Loaded<WorkspaceDetail> path={`${PATH}/${row.identity_workspace_id}`}>
            {(workspace) => <View workspace={workspace} />}
          </Loaded>
        ),
      })}
      making={{
        label: 'New workspace',
        schema: 'NewWorkspace',
        without: ['manage_model_vendor'],
        isAllowed: rights.includes('workspaces.create-any'),
      }}
      empty={{ title: 'No workspace', text: 'It was taken down, and can be made again.' }}
      aos="npx aos workspaces"
    />
  );
}

function View({ workspace }: { workspace: WorkspaceDetail }) {
  const { rights, workspace_id: own } = useSession();
  const isOffered = mayExport(rights) && workspace.identity_workspace_id === own && workspace.status === 'ready';
  const path = `${PATH}/${workspace.identity_workspace_id}`;
  return (
    <>
      <Facts
        facts={[
          ['State', workspace.status],
          ['Plan', workspace.plan],
          workspace.plan_in_force && ['In force', `${workspace.plan_in_force}, until the plan is paid for`],
          ['Made', <Time key="made" at={workspace.created_at} isAbsolute />],
          workspace.ready_at && ['Ready', <Time key="ready" at={workspace.ready_at} isAbsolute />],
          workspace.archived_at && ['Taken down', <Time key="down" at={workspace.archived_at} isAbsolute />],
          workspace.runtime_base_url && ['Address', workspace.runtime_base_url],
          workspace.error_code && ['Failed', `${workspace.error_code}: ${workspace.error_message ?? ''}`],
        ]}
      />
      {workspace.config && Object.keys(workspace.config).length > 0 && (
        <Value value={workspace.config} label="the configuration" />
      )}
      <Acts
        acts={[
          {
            label: 'Provision again',
            isHidden: workspace.status !== 'failed',
            done: 'Provisioning has begun again',
            act: () => post(`${path}/retry`),
          },
          { ...exportAct(workspace.identity_workspace_id), isHidden: !isOffered },
          {
            label: 'Take down',
            isHidden: workspace.status === 'archived' || !rights.includes('workspace.destroy'),
            asks: {
              title: `Take ${workspace.identity_workspace_id} down for good?`,
              text: (
                <>
                  Its runs and projects end, and its schedules, keys, files, archives and infrastructure are removed.
                  The billing subscription stays. {isOffered && <ExportFirst />}
                </>
              ),
            },
            done: 'Taken down',
            act: () => del(path),
          },
        ]}
      />
    </>
  );
}

const ExportFirst = () => (
  <>
    To keep everything that it has,{' '}
    <Link to="/workspace" search={{ tab: 'exports' }} className="text-accent underline">
      download an archive first
    </Link>
    .
  </>
);
