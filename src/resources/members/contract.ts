/** The HTTP contract of the members of a workspace: who may sign in to it, and as what. */
import { z } from 'zod';
import { ROLES } from '../../platform/core/rights.ts';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { addressIn } from '../../platform/core/addresses.ts';

const Role = z
  .enum(ROLES)
  .describe(
    'A viewer looks and changes nothing; a member works; an admin also sets keys and invites; only an owner makes owners',
  );

const Member = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role: Role,
    invited_by: z.string(),
    last_login_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Member' });

const NO_ADDRESS = 'expects an e-mail address';
const EmailAddress = z
  .string()
  .regex(/.@./, { error: NO_ADDRESS, abort: true })
  .refine((text) => addressIn(text) !== undefined, NO_ADDRESS);
const NewMember = z.object({ email: EmailAddress, role: Role.default('member') }).meta({ id: 'NewMember' });
const MemberChange = z.object({ role: Role }).meta({ id: 'MemberChange' });

const ofWorkspace = z.object({ id: z.string().describe('Workspace: `acc_...`') });
const ofMember = ofWorkspace.extend({ member_id: z.string() });

export const listMembers = endpoint({
  id: 'members.list',
  path: '/v1/workspaces/{id}/members',
  summary: 'Who may sign in to the own workspace',
  params: ofWorkspace,
  reply: listReply(Member),
  problems: ['not_found'],
});

export const addMember = endpoint({
  id: 'members.add',
  path: '/v1/workspaces/{id}/members',
  credential: 'admin',
  summary: 'Let an address sign in',
  params: ofWorkspace,
  body: NewMember,
  status: 201,
  reply: Member,
  problems: ['not_found', 'already_exists', 'owner_required'],
});

export const changeMember = endpoint({
  id: 'members.update',
  method: 'patch',
  path: '/v1/workspaces/{id}/members/{member_id}',
  credential: 'admin',
  summary: 'Give a member another role; what it is signed in with ends',
  params: ofMember,
  body: MemberChange,
  reply: Member,
  problems: ['not_found', 'owner_required', 'last_owner'],
});

export const removeMember = endpoint({
  id: 'members.remove',
  method: 'delete',
  path: '/v1/workspaces/{id}/members/{member_id}',
  credential: 'admin',
  summary: 'Take a member out; what it is signed in with ends',
  params: ofMember,
  reply: NO_CONTENT,
  problems: ['not_found', 'owner_required', 'last_owner'],
});
