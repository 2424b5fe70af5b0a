import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { makeSession } from '../../src/embedded/credentials.ts';
import { loadSecrets } from '../../src/embedded/secrets.ts';
import { readSession } from '../../src/platform/http/auth.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-secrets-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

// Guards: secrets are random, private, and the same at the next start; otherwise every sealed value would be lost.
test('makes secrets once', async () => {
  const first = await loadSecrets({}, dataDir);
  expect(new Set(Object.values(first)).size).toBe(4);
  expect(Object.values(first).every((secret) => secret.length === 43)).toBe(true);
  expect(await loadSecrets({}, dataDir)).toEqual(first);
  expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600);
});

// Guards: a secret in the settings wins and is not written to disk; `OPERATOR_TOKEN=` leaves the operator disabled.
test('keeps what the settings give out of the file', async () => {
  const secrets = await loadSecrets(
    { SESSION_SECRET: 'given by the settings', OPERATOR_TOKEN: '', ADMIN_SECRET: '' },
    dataDir,
  );
  expect(secrets).toMatchObject({ SESSION_SECRET: 'given by the settings', OPERATOR_TOKEN: '' });
  expect(secrets.ADMIN_SECRET).toHaveLength(43);
  const kept = await readFile(join(dataDir, 'secrets.json'), 'utf8');
  expect(Object.keys(JSON.parse(kept) as object).sort()).toEqual(['ADMIN_SECRET', 'SECRETS_KEY']);
});

// Guards: a damaged file is an error and never silently replaced by new secrets.
test('refuses a damaged file', async () => {
  await writeFile(join(dataDir, 'secrets.json'), '{"SESSION_SEC');
  await expect(loadSecrets({}, dataDir)).rejects.toThrow(/secrets\.json is damaged/);
  expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toBe('{"SESSION_SEC');
});

// Guards: a session made here is accepted by the service, for its workspace and its lifetime.
test('makes sessions that the service reads', () => {
  const cookie = makeSession('a secret of the test', {
    workspaceId: 'acc_Acme.Inc',
    role: 'member',
    email: 'a@b.example',
    ttlMs: 60_000,
  });
  expect(readSession(cookie, 'a secret of the test')).toMatchObject({
    workspace: 'acc_Acme.Inc',
    customer_id: 'acme-inc',
    role: 'member',
    email: 'a@b.example',
  });
  expect(readSession(cookie, 'another secret of it')).toBeUndefined();
  expect(readSession(cookie, 'a secret of the test', Date.now() / 1_000 + 61)).toBeUndefined();
});
