/** Adds `aos members`, which manages who may sign in to a workspace, and in which role. */
import { Argument, type Command } from 'commander';
import type { Member, MembersListResponse } from '../../client/src/api.ts';
import { ROLES } from '../platform/core/rights.ts';
import { openService, type ServiceClient } from './client.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { CliError, print, printJson, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

export function addMemberCommands(program: Command): void {
  const members = program.command('members').description('who may sign in to a workspace, and as what');
  const json = (command: Command) => command.option('--json', 'print JSON');
  const ofWorkspace = (name: string) => members.command(name).argument('<workspace>', 'its id, acc_...');
  const command = (name: string) => json(ofWorkspace(name));
  asList(ofWorkspace('list')).description('all of them').action(listMembers);
  command('create')
    .argument('<email>', 'who may sign in')
    .description('let an address sign in')
    .option('-r, --role <role>', ROLES.join(', '), 'member')
    .action(add);
  command('update')
    .alias('role')
    .argument('<email>', 'whose role')
    .addArgument(new Argument('<role>', 'the new one').choices(ROLES))
    .description('change a role; open sessions of the member end')
    .action(setRole);
  command('delete')
    .argument('<email>', 'who may no longer')
    .description('end the sessions of a member, and let it sign in no more')
    .action(remove);
  members.addHelpText('after', '\nExamples:\n  aos members create acc_acme ana@example.com --role admin');
}

const pathOf = (workspace: string): string => `/v1/workspaces/${encodeURIComponent(workspace)}/members`;

const membersOf = (service: ServiceClient, workspace: string) =>
  service.controlPlane<MembersListResponse>('GET', pathOf(workspace));

const listMembers = (workspace: string, options: ListOptions) =>
  list<Member>(
    {
      path: pathOf(workspace),
      columns: [
        { title: 'EMAIL', value: (row) => row.email },
        { title: 'ROLE', value: (row) => row.role },
        { title: 'LAST SIGN-IN (UTC)', value: (row) => (row.last_login_at ? shortTime(row.last_login_at) : '-') },
        { title: 'INVITED BY', value: (row) => row.invited_by },
      ],
      empty: `no members; add one with: aos members create ${workspace} <email>`,
    },
    options,
  );

async function add(workspace: string, email: string, { role, json }: Output & { role: string }): Promise<void> {
  const service = await openService(process.env);
  const member = await service.controlPlane<Member>('POST', pathOf(workspace), { email, role });
  if (json) return printJson(member);
  print(`${member.email} may sign in as ${member.role}`);
}

/** @returns the path of the member with this e-mail address */
async function find(service: ServiceClient, workspace: string, email: string): Promise<string> {
  const { data } = await membersOf(service, workspace);
  const member = data.find((row) => row.email === email.trim().toLowerCase());
  if (!member) throw new CliError(`${email} is no member of ${workspace}`);
  return `${pathOf(workspace)}/${member.id}`;
}

async function setRole(workspace: string, email: string, role: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const member = await service.controlPlane<Member>('PATCH', await find(service, workspace, email), { role });
  if (json) return printJson(member);
  print(`${member.email} is ${member.role}`);
}

async function remove(workspace: string, email: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  await service.controlPlane('DELETE', await find(service, workspace, email));
  if (json) return printJson({ removed: email });
  print(`${email} is no member any more`);
}
