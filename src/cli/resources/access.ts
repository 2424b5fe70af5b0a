/** Declares the commands for who and what may use a workspace: `aos keys`, `aos tokens`, `aos members`, `aos flags`, `aos audit`. */
import { InvalidArgumentError } from 'commander';
import { createApiKey, listApiKeys, revokeApiKey } from '../../resources/api-keys/contract.ts';
import { listAuditLog } from '../../resources/audit-log/contract.ts';
import { createDeployToken, listDeployTokens, revokeDeployToken } from '../../resources/deploy-tokens/contract.ts';
import { deleteFlag, listFlags, putFlag } from '../../resources/feature-flags/contract.ts';
import { addMember, changeMember, listMembers, removeMember } from '../../resources/members/contract.ts';
import type { ServiceClient } from '../client.ts';
import { ask, command, group, list } from '../commands.ts';
import { fieldsInLine } from '../fields.ts';
import { CliError, paint, shorten, shortTime } from '../output.ts';

export const keys = group(
  'keys',
  'API keys of the workspace',
  [
    list('list', listApiKeys, {
      about: 'active first, then newest first',
      columns:
        'ID> id, NAME name, PREFIX key_prefix, MADE BY made_by, CREATED (UTC) created_at, LAST USED (UTC) last_used_at, REVOKED (UTC) revoked_at',
      paint: { 'REVOKED (UTC)': (text, row) => (row.revoked_at ? paint('red', text) : text) },
      empty: 'no keys; make one with: aos keys create <name>',
    }),
    command('create <name>', createApiKey, {
      about: 'make a key; it is shown this once',
      say: ({ key, id, name }) => `${key}\n\nKey ${id} (${name}). It is not shown again.`,
    }),
    command('delete|revoke <id>', revokeApiKey, {
      about: 'refuse a key from now on',
      json: (_, { id }) => ({ id: Number(id), revoked: true }),
      say: (_, { id }) => `key ${id} is revoked`,
    }),
  ],
  'Examples:\n  aos keys create "build server"\n  aos keys delete 3',
);

export const tokens = group(
  'tokens',
  'deploy tokens: what a pipeline shows to plan and apply files',
  [
    list('list', listDeployTokens, {
      about: 'those that can be used first',
      columns:
        'ID> id, NAME name, STATE state, EXPIRES (UTC) expires_at, LAST USED (UTC) last_used_at, MADE BY? created_by, IN THE AUDIT LOG? actor',
      empty: 'no deploy tokens; make one with: aos tokens create <name>',
    }),
    command('create <name>', createDeployToken, {
      about: 'make a token; it is shown this once',
      flags: { expires_in_days: '--expires-in <days> = 90 | days until it ends' },
      say: ({ token, id, name, expires_at }, _, { baseUrl }) =>
        `${token}\n\nToken ${id} (${name}), until ${shortTime(expires_at)}. It is not shown again.\n` +
        `A pipeline has it as AOS_SESSION, beside AOS_URL=${baseUrl}`,
    }),
    command('delete|revoke <id>', revokeDeployToken, {
      about: 'refuse a token from now on',
      json: (_, { id }) => ({ id: Number(id), revoked: true }),
      say: (_, { id }) => `token ${id} is revoked`,
    }),
  ],
  'A pipeline has it as AOS_SESSION, beside AOS_URL.\n\nExamples:\n  aos tokens create "github: deploy" --expires-in 30\n  aos tokens delete 3',
);

/** @returns what names the member with this e-mail address in a path */
async function memberPath({ workspace, email }: { workspace: string; email: string }, service: ServiceClient) {
  const { data } = await ask(service, listMembers, [workspace]);
  const member = data.find((row) => row.email === email.trim().toLowerCase());
  if (!member) throw new CliError(`${email} is no member of ${workspace}`);
  return [workspace, member.id];
}

const WORKSPACE = 'its id, acc_...';

export const members = group(
  'members',
  'who may sign in to a workspace, and as what',
  [
    list('list <workspace>', listMembers, {
      about: 'all of them',
      words: { workspace: WORKSPACE },
      columns: 'EMAIL email, ROLE role, LAST SIGN-IN (UTC) last_login_at, INVITED BY invited_by',
      empty: ({ workspace }) => `no members; add one with: aos members create ${workspace} <email>`,
    }),
    command('create <workspace> <email>', addMember, {
      about: 'let an address sign in',
      words: { workspace: WORKSPACE, email: 'who may sign in' },
      flags: { role: '-r, --role <role> = member | what it may do' },
      say: ({ email, role }) => `${email} may sign in as ${role}`,
    }),
    command('update|role <workspace> <email> <role>', changeMember, {
      about: 'change a role; open sessions of the member end',
      words: { workspace: WORKSPACE, email: 'whose role', role: 'the new one' },
      path: memberPath,
      fields: ({ role }) => ({ role }),
      say: ({ email, role }) => `${email} is ${role}`,
    }),
    command('delete <workspace> <email>', removeMember, {
      about: 'end the sessions of a member, and let it sign in no more',
      words: { workspace: WORKSPACE, email: 'who may no longer' },
      path: memberPath,
      fields: () => ({}),
      json: (_, { email }) => ({ removed: email }),
      say: (_, { email }) => `${email} is no member any more`,
    }),
  ],
  'Examples:\n  aos members create acc_acme ana@example.com --role admin',
);

function onOrOff(text: string): string {
  if (text === 'on' || text === 'off') return text;
  throw new InvalidArgumentError('expects on or off');
}
const onOff = (enabled: boolean): string => (enabled ? 'on' : 'off');
const exceptionsOf = ({ workspaces }: { workspaces?: Record<string, boolean> | undefined }): string =>
  Object.entries(workspaces ?? {})
    .map(([customerId, enabled]) => `${customerId}: ${onOff(enabled)}`)
    .join(', ') || '-';

export const flags = group('flags', 'feature flags', [
  list('list', listFlags, {
    about: 'every flag, with what it is for your workspace',
    columns: 'NAME name, HERE, EXCEPTIONS, CHANGED (UTC) updated_at, DESCRIPTION description~60',
    cells: { HERE: ({ enabled }) => onOff(enabled), EXCEPTIONS: exceptionsOf },
    paint: { HERE: (text, { enabled }) => paint(enabled ? 'green' : 'gray', text) },
    empty: 'no flags',
  }),
  command('set <name> <on|off>', putFlag, {
    about: 'make or switch a flag (for the workspace that operates the service)',
    words: { 'on|off': 'for every workspace without an exception' },
    parse: { 'on|off': onOrOff },
    flags: {
      description: '-d, --description <text> | what it is for',
      on: '--on <customer id...> | exceptions that have it on',
      off: '--off <customer id...> | exceptions that have it off',
    },
    after: 'Exceptions that you name take the place of all that there were.',
    fields({ description, on, off, 'on|off': word }) {
      const exceptions = [...(on ?? []).map((id) => [id, true]), ...(off ?? []).map((id) => [id, false])];
      return {
        enabled: word === 'on',
        description,
        workspaces: on || off ? Object.fromEntries(exceptions) : undefined,
      };
    },
    say: (flag) => `${flag.name} is ${onOff(flag.default_enabled ?? flag.enabled)}; exceptions: ${exceptionsOf(flag)}`,
  }),
  command('delete <name>', deleteFlag, { about: 'remove a flag', say: (_, { name }) => `${name} is removed` }),
]);

export const audit = list('audit', listAuditLog, {
  about: 'who changed what about the configuration, newest first',
  flags: {
    actor: '--actor <who> | an e-mail address, or api-key:<id>',
    action: '--action <id> | such as api-keys.create',
    since: '--from <time> | then or later: 2026-11-25, a time, or 3d, 12h, 30m ago',
    limit: '-n, --limit <count> = 50 | how many',
  },
  after: 'Examples:\n  aos audit --from 7d --action api-keys.create\n  aos audit --actor ana@example.com -o wide',
  columns: 'TIME (UTC) at, WHO actor, ACTION action, ANSWER> status, OF, CHANGE?',
  cells: {
    OF: (row) => shorten(fieldsInLine(row.target), 60),
    CHANGE: (row) => row.change && fieldsInLine(row.change),
  },
  empty: 'nothing was changed',
});
