/** Adds `aos session`, which signs a session cookie. */
import { InvalidArgumentError, type Command } from 'commander';
import ms, { type StringValue } from 'ms';
import { makeSession, type SessionRequest } from '../embedded/credentials.ts';
import { readPrivateJson } from '../embedded/private-file.ts';
import { secretsFile, type Secrets } from '../embedded/secrets.ts';
import { ROLES } from '../platform/core/rights.ts';
import { startLine } from './client.ts';
import { CliError, print, printJson } from './output.ts';

interface Output {
  json?: boolean;
}

export function addSessionCommand(program: Command): void {
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
