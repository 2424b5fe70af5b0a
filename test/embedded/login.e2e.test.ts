/** Signing in to the embedded service from the command line, and what its local issuer's tokens open. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Credentials } from '../../src/embedded/credentials.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { readSession } from '../../src/platform/http/auth.ts';
import { eventually } from '../support/service/service.ts';
import { type CliProcess, readyLine, runCli, startCli } from './service-process.ts';

const SESSION_SECRET = 'a session secret of this test';
let dataDir: string;
let service: CliProcess;
let credentials: Credentials;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-login-'));
  service = startCli(['start'], { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: dataDir, SESSION_SECRET });
  await readyLine(service);
  credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;
});
afterAll(async () => {
  service?.child.kill('SIGTERM');
  await service?.ended;
  await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

async function aos(...args: string[]) {
  return runCli(args, { DATA_DIR: dataDir });
}
const sessionFile = () => join(dataDir, 'session.json');

// Guards: the owner of a new deployment signs in by mailed code without any set-up, stays signed in, and can sign out.
test('the first owner signs in and out', async () => {
  const asked = await aos('login');
  expect(asked.code).toBe(1);
  const [, id] = present(/--challenge=([\w-]{16}) /.exec(asked.stderr));
  const code = await eventually(() => {
    const log = service.stdout() + service.stderr();
    const [, mailed] = new RegExp(`${id}[^]*?code"?: ?"?(\\d{6})`).exec(log) ?? [];
    if (!mailed) throw new Error('not mailed yet');
    return mailed;
  });
  const entered = await aos('login', `--challenge=${id}`, `--code=${code}`, '--json');
  expect(entered).toMatchObject({ code: 0 });
  expect(JSON.parse(entered.stdout)).toMatchObject({ workspace: 'acc_internal', role: 'owner' });
  expect((await stat(sessionFile())).mode & 0o777).toBe(0o600);
  const kept = JSON.parse(await readFile(sessionFile(), 'utf8')) as { session: string };
  expect(readSession(kept.session, SESSION_SECRET)).toMatchObject({ sub: 'owner@localhost' });

  expect((await aos('keys')).code).toBe(0);
  expect(await aos('logout')).toMatchObject({ code: 0, stdout: 'signed out\n' });
  const cookie = `service_session=${kept.session}`;
  const after = await fetch(`${credentials.base_url}/api/v1/cp/v1/api-keys`, { headers: { cookie } });
  expect(after.status).toBe(401);
  expect((await aos('logout')).stderr).toContain('not signed in');
});

// Guards against: a local issuer whose tokens its own service refuses, or that are accepted where no token should be.
test('a token of the local issuer opens what takes one', async () => {
  const { code, stdout } = await aos('login', 'ana@example.com', '--print-jwt', '--workspace', 'acc_ana');
  expect(code).toBe(0);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const at = async (path: string) => (await fetch(credentials.control_plane_url + path, { headers })).status;
  expect(await at('/v1/workspaces')).toBe(200);
  expect(await at('/v1/api-keys')).toBe(401);
  const published = await fetch(`${credentials.base_url}/.well-known/jwks.json`);
  expect(Object.keys(first(((await published.json()) as { keys: object[] }).keys))).not.toContain('d');
});
