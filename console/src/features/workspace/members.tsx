/** Shows who may sign in, and in which role. */
import { del, patch } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { Member } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { notify } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Time } from '../../ui/time.tsx';

const ROLES: readonly Member['role'][] = ['owner', 'admin', 'member', 'viewer'];

export function Members({ id }: { id: string | undefined }) {
  const { workspace_id: workspace } = useSession();
  const path = `/v1/workspaces/${workspace}/members`;
  return (
    <Resource<Member, Member>
      label="Members"
      path={path}
      selected={id}
      search={{ tab: 'members' }}
      idOf={(row) => row.id}
      columns={[
        { name: 'E-mail', cell: ({ email }) => email },
        { name: 'Role', cell: ({ role }) => role },
        { name: 'Last sign-in', cell: (row) => (row.last_login_at ? <Time at={row.last_login_at} /> : 'never') },
        { name: 'Invited by', cell: (row) => row.invited_by },
      ]}
      pane={(row) => ({
        title: row.email,
        body: (
          <>
            <Facts
              facts={[
                ['Role', row.role],
                ['Invited by', row.invited_by],
                ['Since', <Time key="since" at={row.created_at} isAbsolute />],
              ]}
            />
            <Acts
              acts={[
                ...ROLES.map((role) => ({
                  label: `Make ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}`,
                  isHidden: role === row.role,
                  done: `${row.email} is ${role} now, and signs in again`,
                  act: () => patch(`${path}/${row.id}`, { role }),
                })),
                {
                  label: 'Remove',
                  asks: { title: `Remove ${row.email}?`, text: 'What they are signed in with ends at once.' },
                  done: 'Removed',
                  act: () => del(`${path}/${row.id}`),
                },
              ]}
            />
          </>
        ),
      })}
      making={{
        label: 'Invite',
        schema: 'NewMember',
        onMade: ({ email }) => notify(`${email} can sign in now, with a code by mail`),
      }}
      empty={{ title: 'No members', text: 'Whoever is let in here signs in with a code by mail.' }}
      aos={`npx aos members list ${workspace}`}
    />
  );
}
