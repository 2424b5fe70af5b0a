/** Shows who may sign in, and in which role. */
import { useState } from 'react';
import { del, patch } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { Member } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Time } from '../../ui/time.tsx';

const ROLES: readonly Member['role'][] = ['owner', 'admin', 'member', 'viewer'];

export function Members({ id }: { id: string | undefined }) {
  const { workspace_id: workspace } = useSession();
  const path = `/v1/workspaces/${workspace}/members`;
  const [invited, setInvited] = useState<Member>();
  return (
    <>
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
          onMade: setInvited,
        }}
        empty={{ title: 'No members', text: 'Whoever is let in here signs in with a code by mail.' }}
        aos={`npx aos members list ${workspace}`}
      />
      {invited && <Invited member={invited} onClose={() => setInvited(undefined)} />}
    </>
  );
}

/** Says what is left to do: nobody is told of it by the service. */
function Invited({ member: { email, role }, onClose }: { member: Member; onClose: () => void }) {
  const { mail } = useSession();
  return (
    <Dialog title={`${email} may sign in now`} isOpen onClose={onClose}>
      <div className="space-y-3 p-4">
        <p>
          As {/^[ao]/.test(role) ? 'an' : 'a'} {role}. Send them this address, where they type theirs in:
        </p>
        <Command label="address to sign in at" text={`${location.origin}/console`} />
        <p className="text-sm text-soft">
          {mail.is_logged
            ? 'No mail server is set here, so their code is a line of the log of the service: set SMTP_URL to have it mailed.'
            : 'A code is mailed to them each time.'}
        </p>
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
