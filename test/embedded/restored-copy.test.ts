import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp, restore } from '../../src/embedded/backup.ts';
import { keepSession, readCredentials, writeCredentials, type Credentials } from '../../src/embedded/credentials.ts';
import { runCli } from './service-process.ts';

const ORIGINAL = 'http://127.0.0.1:9';
const CREDENTIALS: Credentials = {
  base_url: ORIGINAL,
  control_plane_url: ORIGINAL,
  temporal_address: '127.0.0.1:9',
  temporal_ui_url: ORIGINAL,
  database_url: 'postgres://original',
  api_key: 'svc_pk_kept',
  session_cookie: 'a session of the original',
  operator_token: 'a token of the original',
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'aos-restored-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

// Guards against: a restored directory with the addresses and sessions of the original service, whose commands would
// then change the original, which may be running.
test('commands on a restored directory do not reach the service that it was copied from', async () => {
  const original = join(directory, 'original');
  const copy = join(directory, 'copy');
  await mkdir(join(original, 'postgres'), { recursive: true });
  await writeFile(join(original, 'secrets.json'), '{}');
  await writeCredentials(original, CREDENTIALS);
  await keepSession(original, { base_url: ORIGINAL, session: 'signed in at the original' });

  await backUp(original, join(directory, 'backup.tar.gz'));
  await restore(join(directory, 'backup.tar.gz'), copy);

  const { code, stderr } = await runCli(['runs', 'list'], { DATA_DIR: copy });
  expect(code).toBe(1);
  expect(stderr).toContain(`no service found: start one here with \`DATA_DIR=${copy} npm start\``);
  // Without the key, whoever calls the service with it would have to be told of a new one.
  expect(await readCredentials(copy)).toEqual({
    ...Object.fromEntries(Object.keys(CREDENTIALS).map((name) => [name, expect.not.stringMatching(/./)])),
    api_key: CREDENTIALS.api_key,
  });
});
