/** Adds `aos keys` and `aos session`, which give others access to the service. */
import { InvalidArgumentError, type Command } from 'commander';
import ms, { type StringValue } from 'ms';
import type { ApiKey, CreatedApiKey } from '../../client/src/api.ts';
import { makeSession, type SessionRequest } from '../embedded/credentials.ts';
import { readPrivateJson } from '../embedded/private-file.ts';
import { secretsFile, type Secrets } from '../embedded/secrets.ts';
import { ROLES } from '../platform/core/rights.ts';
import { openService, startLine } from './client.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { CliError, paint, print, printJson, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys of the workspace');
  asList(keys.command('list', { isDefault: true }))
    .description('active first, then newest first')
    .action(listKeys);
  keys
    .command('create')
    .argument('<name>')
    .description('make a key; it is shown this once')
    .option('--json', 'print JSON')
    .action(create);
  keys
    .command('delete')
    .alias('revoke')
    .argument('<id>')
    .description('refuse a key from now on')
    .option('--json', 'print JSON')
    .action(revoke);
  keys.addHelpText('after', '\nExamples:\n  aos keys create "build server"\n  aos keys delete 3');

  program
    .command('session')
    .description('print a session cookie, signed with SESSION_SECRET or with the secret in DATA_DIR')
    .option('-w, --workspace <id>', 'workspace it is for', 'acc_internal')
    .option('-e, --email <address>', 'who it says is calling', 'owner@localhost')
    .option('-r, --role <role>', ROLES.join(', '), parseRole, 'owner')
    .option('--ttl <duration>', 'how long it lasts, for example 30m, 12h or 30d', parseTtl, ms('30d'))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  curl -b "service_session=$(aos session)" http://localhost:8080/api/v1/cp/v1/runs',
    )
    .action(session);
}

const listKeys = (options: ListOptions) =>
  list<ApiKey>(
    {
      path: '/v1/api-keys',
      columns: [
        { title: 'ID', value: (row) => row.id, align: 'right' },
        { title: 'NAME', value: (row) => row.name },
        { title: 'PREFIX', value: (row) => row.key_prefix },
        { title: 'MADE BY', value: (row) => row.made_by ?? '-' },
        { title: 'CREATED (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'LAST USED (UTC)', value: (row) => shortTime(row.last_used_at) },
        {
          title: 'REVOKED (UTC)',
          value: (row) => shortTime(row.revoked_at),
          paint: (text, row) => (row.revoked_at ? paint('red', text) : text),
        },
      ],
      empty: 'no keys; make one with: aos keys create <name>',
    },
    options,
  );

async function create(name: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const created = await service.controlPlane<CreatedApiKey>('POST', '/v1/api-keys', { name });
  if (json) printJson(created);
  else print(`${created.key}\n\nKey ${created.id} (${created.name}). It is not shown again.`);
}

async function revoke(id: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  await service.controlPlane('DELETE', `/v1/api-keys/${encodeURIComponent(id)}`);
  if (json) printJson({ id: Number(id), revoked: true });
  else print(`key ${id} is revoked`);
}

function parseRole(text: string): string {
  if ((ROLES as readonly string[]).includes(text)) return text;
  throw new InvalidArgumentError('expects owner, admin or member');
}

function parseTtl(text: string): number {
  const value = ms(text as StringValue) as number | undefined;
  if (value !== undefined && value >= 1_000) return value;
  throw new InvalidArgumentError('expects a duration such as 30m, 12h or 30d');
}

interface SessionOptions extends Output {
  workspace: string;
  email: string;
  role: NonNullable<SessionRequest['role']>;
  ttl: number;
}

async function session({ workspace, email, role, ttl, json }: SessionOptions): Promise<void> {
  const dataDir = process.env.DATA_DIR || '.data';
  const secret =
    process.env.SESSION_SECRET || (await readPrivateJson<Partial<Secrets>>(secretsFile(dataDir)))?.SESSION_SECRET;
  if (!secret)
    throw new CliError(
      `no SESSION_SECRET, and none kept in ${dataDir}: set it, or start the service once with \`${startLine()}\``,
    );
  const cookie = makeSession(secret, { workspaceId: workspace, email, role, ttlMs: ttl });
  if (json) printJson({ name: 'service_session', value: cookie, expires_at: new Date(Date.now() + ttl).toISOString() });
  else print(cookie);
}
