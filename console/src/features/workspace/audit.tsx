/** Shows who changed the configuration and how, and which feature flags are on for this person. */
import type { AuditEntry, FeatureFlag } from '../../api/types.ts';
import { del, put } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Value } from '../../ui/json.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

export const AuditLog = ({ id }: { id: string | undefined }) => (
  <Resource<AuditEntry>
    label="Audit log"
    path="/v1/audit-log?limit=200"
    selected={id}
    search={{ tab: 'audit' }}
    idOf={(row) => String(row.id)}
    columns={[
      { name: 'What', cell: ({ action }) => action },
      { name: 'Who', cell: ({ actor }) => actor },
      { name: 'Answer', cell: ({ status }) => status ?? 'unknown', isRight: true },
      { name: 'When', cell: ({ at }) => <Time at={at} />, isRight: true },
    ]}
    pane={(row) => ({
      title: row.action,
      body: (
        <>
          <Facts
            facts={[
              ['Who', row.actor],
              ['When', <Time key="at" at={row.at} isAbsolute />],
              ['Answer', row.status],
            ]}
          />
          <Value value={{ target: row.target, change: row.change }} label="what was changed" />
        </>
      ),
    })}
    empty={{
      title: 'Nothing was changed yet',
      text: 'Every change of the configuration is noted here, with who made it.',
    }}
  />
);

export function Flags({ id }: { id: string | undefined }) {
  const isOperator = useSession().workspace_id === 'acc_internal';
  return (
    <Resource<FeatureFlag>
      label="Feature flags"
      path="/v1/feature-flags"
      selected={id}
      search={{ tab: 'flags' }}
      idOf={(row) => row.name}
      columns={[
        { name: 'Flag', cell: ({ name }) => name },
        { name: 'Here', cell: ({ enabled }) => <Status status={enabled ? 'ok' : 'disabled'} /> },
        { name: 'For', cell: ({ description }) => description ?? '' },
        { name: 'Changed', cell: (row) => <Time at={row.updated_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.name,
        body: (
          <>
            <p>{row.description}</p>
            {row.workspaces && <Value value={row.workspaces} label="the exceptions" />}
            {isOperator && (
              <Acts
                acts={[
                  {
                    label: row.default_enabled ? 'Switch off for all' : 'Switch on for all',
                    done: 'Switched',
                    act: () => put(`/v1/feature-flags/${row.name}`, { enabled: !row.default_enabled }),
                  },
                  {
                    label: 'Delete',
                    asks: { title: `Delete ${row.name}?`, text: 'What asks for it finds it off.' },
                    done: 'Deleted',
                    act: () => del(`/v1/feature-flags/${row.name}`),
                  },
                ]}
              />
            )}
          </>
        ),
      })}
      empty={{ title: 'No flags', text: 'The operator switches features here.', aos: 'npx aos flags set name on' }}
      aos="npx aos flags"
    />
  );
}
