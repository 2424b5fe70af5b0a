/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { addMember, changeMember, listMembers, removeMember } from './contract.ts';
import type { MemberService } from './service.ts';

const named = ({ params }: { params: { id: string } }) => [{ workspaceId: params.id }];

export const memberRoutes = ({ members }: { members: MemberService }): readonly Route[] => [
  handle(listMembers, ({ caller, params }) => members.list(caller, params.id)),
  handle(addMember, ({ caller, params, body }) => members.add(caller, params.id, body), named),
  handle(
    changeMember,
    ({ caller, params, body }) => members.setRole(caller, params.id, params.member_id, body.role),
    named,
  ),
  handle(removeMember, ({ caller, params }) => members.remove(caller, params.id, params.member_id), named),
];
