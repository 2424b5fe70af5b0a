/** The embedded mode's own issuer: keys that stay, rotate and go. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localIdentity, signLocalToken } from '../../src/embedded/identity.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { createIdentityCaller } from '../../src/resources/sign-in/identity.ts';
import { ANSWER_SETTINGS } from '../support/service/answer-limits.ts';

const DAY_MS = 24 * 3_600_000;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-identity-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const callerOf = (settings: Record<string, string>) =>
  createIdentityCaller({
    settings: {
      IDENTITY_JWKS_URL: undefined,
      IDENTITY_ISSUER: undefined,
      IDENTITY_AUDIENCE: undefined,
      ...ANSWER_SETTINGS,
      ...settings,
    },
    members: { workspaceOfIdentity: async () => undefined, bindSubject: async () => {} },
    believedFrom: async () => 0,
  });
const request = { email: 'ana@example.com', workspaceId: 'acc_acme', ttlMs: 60_000 };

// Guards against: a token that its own service refuses, and keys that others on the machine can read or that are
// published with their private part.
test('signs tokens that the service takes', async () => {
  expect(await signLocalToken(dataDir, request)).toBeUndefined();
  const caller = callerOf(await localIdentity({}, dataDir));
  const token = present(await signLocalToken(dataDir, request));
  expect(await caller(token)).toMatchObject({ workspaceId: 'acc_acme', customerId: 'acme', actor: 'ana@example.com' });
  expect((await stat(join(dataDir, 'identity.json'))).mode & 0o777).toBe(0o600);
  const published = JSON.parse(await readFile(join(dataDir, 'jwks.json'), 'utf8')) as { keys: object[] };
  expect(published.keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'x', 'y']]);
  await localIdentity({}, dataDir);
  expect(await caller(token)).toMatchObject({ customerId: 'acme' });
});

// Guards against: a rotation that invalidates tokens in use, and an old key that stays valid for ever.
test('rotates its keys', async () => {
  const now = Date.now();
  const caller = callerOf(await localIdentity({}, dataDir, new Date(now - 31 * DAY_MS)));
  const old = present(await signLocalToken(dataDir, request));
  await localIdentity({}, dataDir, new Date(now - DAY_MS + 60_000));
  const next = present(await signLocalToken(dataDir, request));
  const kidOf = (token: string) => JSON.parse(Buffer.from(first(token.split('.')), 'base64url').toString('utf8')).kid;
  expect(kidOf(next)).not.toBe(kidOf(old));
  await caller(old);
  await caller(next);
  await localIdentity({}, dataDir, new Date(now + 120_000));
  await expect(caller(old)).rejects.toMatchObject({ code: 'auth_required' });
  await caller(next);
});

// Guards against: two issuers at once. A provider in the settings replaces the local one.
test('is not there beside a provider of the settings', async () => {
  expect(await localIdentity({ IDENTITY_JWKS_URL: 'https://x.example/jwks' }, dataDir)).toEqual({});
  expect(await signLocalToken(dataDir, request)).toBeUndefined();
});
