/** Shows API keys. The secret of a key is shown once, when the key is made. */
import { del } from '../../api/client.ts';
import type { ApiKey, CreatedApiKey } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/v1/api-keys';

export function Keys({ id }: { id: string | undefined }) {
  return (
    <Resource<ApiKey, CreatedApiKey>
      label="API keys"
      path={PATH}
      selected={id}
      search={{ tab: 'keys' }}
      idOf={(row) => String(row.id)}
      columns={[
        { name: 'Name', cell: ({ name }) => name },
        { name: 'Begins with', cell: (row) => <code>{row.key_prefix}…</code> },
        { name: 'Made by', cell: (row) => row.made_by ?? 'unknown' },
        { name: 'State', cell: (row) => <Status status={row.revoked_at ? 'disabled' : 'ok'} /> },
        { name: 'Last used', cell: (row) => (row.last_used_at ? <Time at={row.last_used_at} /> : 'never') },
        { name: 'Made', cell: (row) => <Time at={row.created_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.name,
        body: (
          <>
            <Facts
              facts={[
                ['Begins with', row.key_prefix],
                ['Made by', row.made_by ?? 'unknown'],
                ['Made', <Time key="made" at={row.created_at} isAbsolute />],
                row.revoked_at && ['Revoked', <Time key="revoked" at={row.revoked_at} isAbsolute />],
              ]}
            />
            <Acts
              acts={[
                {
                  label: 'Revoke',
                  isHidden: row.revoked_at !== null,
                  asks: { title: `Revoke ${row.name}?`, text: 'Whoever uses it is refused from now on, for good.' },
                  done: 'Revoked',
                  act: () => del(`${PATH}/${row.id}`),
                },
              ]}
            />
          </>
        ),
      })}
      making={{
        label: 'New key',
        schema: 'NewApiKey',
        secretOf: ({ name, key }) => ({
          title: `The key ${name}`,
          secret: key,
          children: 'Copy it now: it is shown this once, and only its hash is kept.',
        }),
      }}
      empty={{
        title: 'No key yet',
        text: 'Programs call the API with a key.',
        aos: 'npx aos keys create ci',
        sample: { name: 'ci' },
      }}
      aos="npx aos keys"
    />
  );
}
