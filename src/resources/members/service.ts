/** Who may sign in to a workspace. Its own admins decide, and those of the workspace that operates the deployment. */
import { present } from '../../platform/core/present.ts';
import { can, demand, isOwner, type Role } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { addressIn } from '../../platform/core/addresses.ts';
import type { MemberStore } from './store/index.ts';

export type MemberService = ReturnType<typeof createMemberService>;

const mayTouchOwners = (caller: Caller): boolean => can(caller, 'members.appoint-owners');

export const createMemberService = ({ store }: { store: MemberStore }) => {
  /** @returns the slug of the workspace @throws Problem not_found, also for one that the caller may not see */
  async function workspaceFor(caller: Caller, id: string): Promise<string> {
    if (id !== caller.workspaceId) demand(caller, 'members.reach-any');
    return store.customerOf(id);
  }

  return {
    list: async (caller: Caller, id: string) => store.list(await workspaceFor(caller, id)),

    /** @throws Problem not_found, already_exists, owner_required, workspace_archived */
    async add(caller: Caller, id: string, { email, role }: { email: string; role: Role }) {
      const customerId = await workspaceFor(caller, id);
      if (isOwner(role)) demand(caller, 'members.appoint-owners');
      return store.add(customerId, { email: present(addressIn(email)), role, invitedBy: caller.actor });
    },

    setRole: async (caller: Caller, id: string, memberId: string, role: Role) =>
      store.setRole(await workspaceFor(caller, id), memberId, role, mayTouchOwners(caller)),

    remove: async (caller: Caller, id: string, memberId: string) =>
      store.remove(await workspaceFor(caller, id), memberId, mayTouchOwners(caller)),

    /**
     * Makes a row of an owner who has none: sessions may be signed elsewhere, and workspaces are older than members. Whoever was
     * taken out stays out.
     */
    async recordOwner(caller: Caller): Promise<void> {
      const address = addressIn(caller.actor);
      if (address && mayTouchOwners(caller)) await store.recordOwner(caller.customerId, address);
    },

    /** Makes the maker of a new workspace its owner. An actor that names no inbox cannot sign in and is left out. */
    async seedOwner(customerId: string, email: string): Promise<void> {
      const address = addressIn(email);
      if (address) await store.seedOwner(customerId, address);
    },
  };
};
