/**
 * Adds `aos login` and `aos logout`. A person signs in with a mailed code, and the session is kept in DATA_DIR; the
 * local issuer also gives access tokens.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import ms, { type StringValue } from 'ms';
import { dropKeptSession, keepSession, LOCAL_OWNER, readKeptSession } from '../embedded/credentials.ts';
import { first } from '../platform/core/present.ts';
import { question } from './asking.ts';
import { findService, startLine } from './client.ts';
import { CliError, oneLine, print, printAside, printJson } from './output.ts';
import { explainProblem } from './problems.ts';

interface LoginOptions {
  workspace?: string;
  challenge?: string;
  code?: string;
  link?: string;
  printJwt?: boolean;
  ttl: number;
  json?: boolean;
}

interface SignedIn {
  workspace: string;
  role: string;
  expires_at: string;
}

const dataDirOf = (env: NodeJS.ProcessEnv): string => env.DATA_DIR || '.data';

export function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('sign in with a code by mail; the session is kept in DATA_DIR and used from then on')
    .argument('[email]', 'who signs in', LOCAL_OWNER)
    .option('-w, --workspace <id>', 'workspace, for a member of several')
    .option('--challenge <id>', 'what the service called the sign-in, for a program that has been mailed its code')
    .option('--code <digits>', 'that code')
    .option('--link <address>', 'the link in the mail, in the place of the code')
    .option('--print-jwt', 'print an access token of the local issuer instead, for the routes that take one')
    .addOption(
      new Option('--ttl <duration>', 'how long that token lasts, at most a day')
        .argParser(parseTtl)
        .default(ms('1h'), '1h'),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  aos login ana@example.com\n' +
        '  curl -H "authorization: Bearer $(aos login --print-jwt)" http://localhost:8081/v1/workspaces',
    )
    .action(login);
  program
    .command('logout')
    .description('end the session of `aos login`')
    .option('--everywhere', 'and every other of the same person in the workspace')
    .action(logout);
}

function parseTtl(text: string): number {
  const value = ms(text as StringValue) as number | undefined;
  if (value !== undefined && value >= 1_000) return value;
  throw new InvalidArgumentError('expects a duration such as 10m or 1h');
}

async function login(email: string, options: LoginOptions): Promise<void> {
  if (options.printJwt) return printToken(email, options);
  const { json } = options;
  const { baseUrl } = await findService(process.env);
  let answer = await post(baseUrl, ...(await shown(baseUrl, email, options)));
  const choices = workspacesIn(answer);
  if (choices) {
    const chosen = await choose(choices);
    answer = await post(baseUrl, '/login/workspace', { workspace: chosen }, answer.cookies);
  }
  if (answer.status !== 200) throw new CliError(`not signed in: ${explainProblem(answer.text)}`);
  const session = answer.cookies.service_session;
  if (!session) throw new CliError('the service accepted the code but sent no session cookie');
  await keepSession(dataDirOf(process.env), { base_url: baseUrl, session });
  const signedIn = JSON.parse(answer.text) as SignedIn;
  if (json) printJson(signedIn);
  else print(`signed in to ${signedIn.workspace} as ${signedIn.role}, until ${signedIn.expires_at}`);
}

/**
 * @returns the request that proves who signs in, with the link or code that was given, or with one that the person at
 * the terminal types
 * @throws CliError
 */
async function shown(baseUrl: string, email: string, options: LoginOptions): Promise<[path: string, body: unknown]> {
  const { link, workspace } = options;
  if (link === undefined) {
    const { challenge, code } = await shownCode(baseUrl, email, options);
    return ['/login/verify', { challenge_id: challenge, code, workspace }];
  }
  const token = URL.canParse(link) ? new URL(link).searchParams.get('token') : null;
  if (token === null) throw new CliError('--link expects the whole address from the mail');
  return ['/login/link', { token, workspace }];
}

/** @throws CliError */
async function shownCode(baseUrl: string, email: string, { challenge, code }: LoginOptions) {
  if ((challenge === undefined) !== (code === undefined)) throw new CliError('give both --challenge and --code');
  if (challenge !== undefined && code !== undefined) return { challenge, code };
  const asked = await post(baseUrl, '/login/code', { email });
  if (asked.status === 404) throw new CliError(`people sign in at an identity provider here: open ${baseUrl}/login`);
  if (asked.status !== 200) throw new CliError(explainProblem(asked.text));
  const { challenge_id: id } = JSON.parse(asked.text) as { challenge_id: string };
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(
      `a code was mailed if the address is a member's (without a mail server it is in the log of the service); repeat the command with:\n` +
        `  --challenge=${oneLine(id)} --code=<the six digits>`,
    );
  }
  return { challenge: id, code: await question('Code (by mail, or in the log of the service): ', /^\d{6}$/) };
}

async function choose(workspaces: readonly string[]): Promise<string> {
  const list = workspaces.map((id, i) => `  ${i + 1}  ${oneLine(id)}`).join('\n');
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(`a member of several workspaces; name one with --workspace, and a new code:\n${list}`);
  }
  printAside(list);
  const number = await question('Number of the workspace: ', /^\d{1,4}$/);
  const chosen = workspaces[Number(number) - 1];
  if (chosen === undefined) throw new CliError('no workspace has that number: choose one from the list');
  return chosen;
}

type Cookies = Record<string, string>;
interface Answer {
  status: number;
  text: string;
  cookies: Cookies;
}

/** @throws CliError where the service does not answer */
async function post(baseUrl: string, path: string, body: unknown, cookies: Cookies = {}): Promise<Answer> {
  const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: cookie.join('; ') },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  }).catch(() => {
    throw new CliError(`the service is not running at ${baseUrl}: start it with \`${startLine()}\``);
  });
  const set = response.headers.getSetCookie().map((line) => first(line.split(';')).split('='));
  return { status: response.status, text: await response.text(), cookies: Object.fromEntries(set) as Cookies };
}

function workspacesIn({ status, text }: Answer): string[] | undefined {
  if (status !== 409) return undefined;
  const { detail } = JSON.parse(text) as { detail: { workspaces: { workspace: string }[] } };
  return detail.workspaces.map(({ workspace }) => workspace);
}

async function printToken(email: string, { workspace = 'acc_internal', ttl, json }: LoginOptions): Promise<void> {
  const dataDir = dataDirOf(process.env);
  const { signLocalToken } = await import('../embedded/identity.ts');
  const token = await signLocalToken(dataDir, { email, workspaceId: workspace, ttlMs: ttl });
  if (!token) throw new CliError(`no local issuer in ${dataDir}: start the service once with \`${startLine()}\``);
  if (json) printJson({ access_token: token });
  else print(token);
}

async function logout({ everywhere }: { everywhere?: boolean }): Promise<void> {
  const dataDir = dataDirOf(process.env);
  const kept = await readKeptSession(dataDir);
  if (!kept) throw new CliError('not signed in: `aos login` signs in');
  const path = everywhere ? '/logout?everywhere=1' : '/logout';
  const { status, text } = await post(kept.base_url, path, {}, { service_session: kept.session });
  if (status !== 204) throw new CliError(`not signed out: ${explainProblem(text)}`);
  await dropKeptSession(dataDir);
  print('signed out');
}
