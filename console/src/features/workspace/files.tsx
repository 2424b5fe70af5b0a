/** Shows what came from files, and whether somebody has changed it by hand since; and the tokens that pipelines bring them with. */
import { del } from '../../api/client.ts';
import type { CreatedDeployToken, DeployedManifest, DeployToken } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const idOf = ({ kind, name }: DeployedManifest): string => `${kind}/${name}`;

/** What to do about each state. */
const MEANS: Record<DeployedManifest['state'], string> = {
  as_applied: 'It is as the file said when it was applied.',
  changed:
    'Somebody has changed it by hand since: the next apply puts it back, an export takes the change into the file.',
  gone: 'Somebody has deleted it by hand since: the next apply makes it again.',
};

export const FromFiles = ({ id }: { id: string | undefined }) => (
  <Resource<DeployedManifest>
    label="Things from files"
    path="/v1/manifests/deployed"
    selected={id}
    search={{ tab: 'files' }}
    idOf={idOf}
    columns={[
      { name: 'Name', cell: ({ name }) => name },
      { name: 'State', cell: ({ state }) => <Status status={state} /> },
      { name: 'Kind', cell: ({ kind }) => kind },
      { name: 'File', cell: ({ file }) => file ?? '–' },
      { name: 'By', cell: (row) => row.applied_by },
      { name: 'Applied', cell: (row) => <Time at={row.applied_at} />, isRight: true },
    ]}
    pane={(row) => ({
      title: row.name,
      body: (
        <>
          <p>{MEANS[row.state]}</p>
          <Facts
            facts={[
              ['Kind', row.kind],
              row.file !== null && ['File', row.file],
              row.revision !== null && ['Revision', row.revision],
              ['Applied by', row.applied_by],
              ['Applied', <Time key="applied" at={row.applied_at} isAbsolute />],
              ['Source', row.source],
            ]}
          />
        </>
      ),
    })}
    empty={{
      title: 'Nothing came from files',
      text: 'Agents, workflows and what belongs to them can live in git, and be deployed from it.',
      aos: 'npx aos export config',
    }}
    aos="npx aos deployed"
  />
);

const TOKENS = '/v1/deploy-tokens';

export function DeployTokens({ id }: { id: string | undefined }) {
  return (
    <Resource<DeployToken, CreatedDeployToken>
      label="Deploy tokens"
      path={TOKENS}
      selected={id}
      search={{ tab: 'tokens' }}
      idOf={(row) => String(row.id)}
      columns={[
        { name: 'Name', cell: ({ name }) => name },
        { name: 'State', cell: ({ state }) => <Status status={TOKEN_STATES[state]} /> },
        { name: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
        { name: 'Last used', cell: (row) => (row.last_used_at ? <Time at={row.last_used_at} /> : 'never') },
        { name: 'Made', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.name,
        body: (
          <>
            <Facts
              facts={[
                ['In the audit log', row.actor],
                ['Made by', row.created_by],
                ['Expires', <Time key="expires" at={row.expires_at} isAbsolute />],
                row.revoked_at && ['Revoked', <Time key="revoked" at={row.revoked_at} isAbsolute />],
              ]}
            />
            <Acts
              acts={[
                {
                  label: 'Revoke',
                  isHidden: row.revoked_at !== null,
                  asks: { title: `Revoke ${row.name}?`, text: 'The pipeline that has it is refused from now on.' },
                  done: 'Revoked',
                  act: () => del(`${TOKENS}/${row.id}`),
                },
              ]}
            />
          </>
        ),
      })}
      making={{
        label: 'New token',
        schema: 'NewDeployToken',
        secretOf: ({ name, token }) => ({
          title: `The token ${name}`,
          secret: token,
          children: 'Copy it now: it is shown this once. A pipeline has it as AOS_SESSION, beside AOS_URL.',
        }),
      }}
      empty={{
        title: 'No deploy token yet',
        text: 'A pipeline shows one to plan and apply files; it opens nothing else.',
        aos: 'npx aos tokens create ci',
        sample: { name: 'ci' },
      }}
      aos="npx aos tokens"
    />
  );
}

const TOKEN_STATES: Record<DeployToken['state'], string> = { active: 'ok', expired: 'expired', revoked: 'disabled' };
