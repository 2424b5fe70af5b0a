/** Access tokens of the identity provider at the routes that take them: whose they are, and what becomes of rotation. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createIdentityCaller } from '../../../src/resources/sign-in/identity.ts';
import { createMemberStore } from '../../../src/resources/members/store/index.ts';
import { createSignInStore } from '../../../src/resources/sign-in/store.ts';
import { openTestDatabase } from '../../support/database/database.ts';
import {
  AUDIENCE,
  ISSUER,
  startIdentityProvider,
  wrongTokens,
  type IdentityProvider,
} from '../../support/fakes/identity-provider.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { workspaceMembers } from '../../../src/resources/members/table.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { standingIn, type Role } from '../../../src/platform/core/rights.ts';
import { ANSWER_SETTINGS } from '../../support/service/answer-limits.ts';

type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;
let database: TestDatabase;
let acme: Caller;
const open: IdentityProvider[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  acme = await makeWorkspace(database.db, 'acc_acme');
});
afterAll(() => database.close());
afterEach(() => Promise.all(open.splice(0).map((provider) => provider.close())));

async function start({ cooldownMs = 0 } = {}) {
  const provider = await startIdentityProvider();
  open.push(provider);
  const store = createSignInStore(database.db);
  const members = createMemberStore(database.db, store, []);
  const settings = { ...ANSWER_SETTINGS, ...provider.settings };
  return {
    provider,
    caller: createIdentityCaller({ settings, members, believedFrom: store.believedFrom, cooldownMs }),
  };
}
const member = (email: string, role: Role) =>
  database.db.orm
    .insert(workspaceMembers)
    .values({ id: newUuid(), customerId: 'acme', email, role, invitedBy: 'test' });
const REFUSED = { code: 'auth_required', status: 401 };

describe('a caller', () => {
  // Guards: the row decides whose workspace it is, and the members decide the role, whatever a token claims.
  test('is of the workspace that has the id, with the role it has there', async () => {
    const { provider, caller } = await start();
    await member('ana@acme.example', 'admin');
    await member('bob@acme.example', 'member');
    const as = async (claims: Record<string, unknown>) =>
      caller(await provider.token({ workspace_id: 'acc_acme', ...claims }));
    const someone = (actor: string, role?: Role) => ({
      workspaceId: 'acc_acme',
      customerId: 'acme',
      actor,
      standing: standingIn('acc_acme', role),
      isArchived: false,
    });
    expect(await as({ email: 'Ana@acme.example' })).toEqual(someone('Ana@acme.example', 'admin'));
    expect(await as({ email: 'bob@acme.example' })).toEqual(someone('bob@acme.example', 'member'));
    expect(await as({ email: 'eve@acme.example', role: 'owner' })).toEqual(someone('eve@acme.example'));
  });

  // Guards against: a token that says less and does more. Without a confirmed address it is nobody, unless its subject was
  // seen with one that is a member's: then it looks, and changes nothing.
  test('without a confirmed address looks at most', async () => {
    const { provider, caller } = await start();
    await member('cyd@acme.example', 'owner');
    const as = async (claims: Record<string, unknown>) =>
      caller(await provider.token({ workspace_id: 'acc_acme', ...claims }));
    const less = [{}, { email: 'cyd@acme.example', email_verified: false }, { email: '' }];
    for (const sub of ['cyd-1', 'cyd@acme.example', 'api-key:1', 'operator']) {
      for (const claims of less) await expect(as({ sub, ...claims })).rejects.toMatchObject(REFUSED);
      expect(await as({ sub, email: 'cyd@acme.example' })).toMatchObject({ standing: standingIn('acc_acme', 'owner') });
      for (const claims of less) {
        // Its name is neither that of a member nor that of a key or a part of the deployment.
        const actor = sub === 'cyd-1' ? sub : `subject:${sub.replace('@', ' at ')}`;
        expect(await as({ sub, ...claims })).toMatchObject({ actor, standing: standingIn('acc_acme', 'viewer') });
      }
    }
    // The member is still the same person by another confirmed address, which is a member's itself or nobody's.
    const renamed = { sub: 'cyd-1', email: 'cyd.new@acme.example' };
    expect(await as(renamed)).toMatchObject({ actor: 'cyd@acme.example', standing: standingIn('acc_acme', 'owner') });
    await member('cyd.new@acme.example', 'viewer');
    expect(await as(renamed)).toMatchObject({
      actor: 'cyd.new@acme.example',
      standing: standingIn('acc_acme', 'viewer'),
    });
  });

  // Guards against: a viewer whose subject is bound to an owner by an address that nobody confirmed.
  test('binds no subject to an address that is not confirmed', async () => {
    const { provider, caller } = await start();
    await member('fay@acme.example', 'viewer');
    await member('gil@acme.example', 'owner');
    const as = async (claims: Record<string, unknown>) =>
      caller(await provider.token({ workspace_id: 'acc_acme', sub: 'fay-1', ...claims }));
    await as({ email: 'fay@acme.example' });
    await as({ email: 'gil@acme.example', email_verified: false });
    expect(await as({ email: 'fay.new@acme.example' })).toMatchObject({
      actor: 'fay@acme.example',
      standing: standingIn('acc_acme', 'viewer'),
    });
  });

  // Guards against: a removed member who comes back by another address of theirs, or without one. Who is taken in again by
  // that address is let in.
  test('who was removed stays out by subject, until taken in again', async () => {
    const { provider, caller } = await start();
    const id = newUuid();
    await database.db.orm
      .insert(workspaceMembers)
      .values({ id, customerId: 'acme', email: 'dan@acme.example', role: 'member', invitedBy: 'test' });
    const as = async (claims: Record<string, unknown>) =>
      caller(await provider.token({ workspace_id: 'acc_acme', sub: 'dan-1', ...claims }));
    await as({ email: 'dan@acme.example' });
    const store = createMemberStore(database.db, createSignInStore(database.db), []);
    await store.remove('acme', id, true);
    const again = { email: 'dan.two@acme.example' };
    for (const claims of [{}, { email: 'dan@acme.example' }, { ...again, email_verified: false }, again])
      await expect(as(claims)).rejects.toMatchObject(REFUSED);
    await member(again.email, 'member');
    expect(await as(again)).toMatchObject({ actor: again.email, standing: standingIn('acc_acme', 'member') });
    expect(await as({})).toMatchObject({ standing: standingIn('acc_acme', 'viewer') });
  });

  // Guards: without a confirmed address nobody makes a workspace.
  test('without a row and without a confirmed address looks at most', async () => {
    const { provider, caller } = await start();
    for (const claims of [{}, { email: 'ana@new.example', email_verified: false }]) {
      const token = await provider.token({ workspace_id: 'acc_New.Co', sub: 'ana-1', ...claims });
      expect(await caller(token)).toMatchObject({ actor: 'ana-1', standing: standingIn('acc_New.Co', 'viewer') });
    }
  });

  // Guards: the maker of a workspace that does not exist yet is known by the token alone.
  test('without a row is of the slug', async () => {
    const { provider, caller } = await start();
    const token = await provider.token({ workspace_id: 'acc_New.Co', email: 'ana@new.example' });
    expect(await caller(token)).toEqual({
      workspaceId: 'acc_New.Co',
      customerId: 'new-co',
      actor: 'ana@new.example',
      standing: standingIn('acc_New.Co', undefined),
      isArchived: false,
    });
  });

  // Guards: two ids with the same slug are two workspaces, and nobody gets into one, archived or not, by an id that
  // looks like it.
  test.each(['acc_Acme', 'acc_acme.', 'acme', 'ACC_acme'])('%s does not enter acc_acme', async (workspaceId) => {
    const { provider, caller } = await start();
    const token = await provider.token({ workspace_id: workspaceId, email: acme.actor });
    if (workspaceId === 'ACC_acme') expect(await caller(token)).toMatchObject({ customerId: 'acc-acme' });
    else await expect(caller(token)).rejects.toMatchObject(REFUSED);
  });

  // Guards: ids that the database cannot store, or that are missing, are refused.
  test.each(['', 'acc_', 'acc_---', 'a\u0000b', '\ud800x', 'x'.repeat(201)])('%j is nobody', async (workspaceId) => {
    const { provider, caller } = await start();
    await expect(caller(await provider.token({ workspace_id: workspaceId }))).rejects.toMatchObject(REFUSED);
  });
});

// Guards: every kind of untrustworthy token is refused.
test('wrong tokens', async () => {
  const { provider, caller } = await start();
  const wrong = await wrongTokens(provider, { caller: acme });
  const codes = await Promise.all(
    wrong.map(async ([name, token]) => [name, await caller(token).catch(({ code }: { code: string }) => code)]),
  );
  expect(codes.filter(([, code]) => code !== 'auth_required')).toEqual([]);
  expect(codes.length).toBeGreaterThan(15);
});

describe('keys', () => {
  const token = (provider: IdentityProvider) => provider.token({ workspace_id: 'acc_acme', email: acme.actor });

  // Guards: a provider may rotate its keys. The new key counts at once, and the old one for as long as it is published.
  test('rotate without anything being done here', async () => {
    const { provider, caller } = await start();
    const old = await token(provider);
    await caller(old);
    await provider.rotate('second');
    await caller(await token(provider));
    await caller(old);
    provider.dropOldKeys();
    await provider.rotate('third');
    // Another look, for the sake of the third.
    await caller(await token(provider));
    await expect(caller(old)).rejects.toMatchObject(REFUSED);
  });

  // Guards against: a fetch of the keys for each request, or for each token that names an unknown key.
  test('are read once, and not again for every unknown one', async () => {
    const { provider, caller } = await start({ cooldownMs: 60_000 });
    const right = await token(provider);
    await Promise.all(Array.from({ length: 20 }, () => caller(right)));
    const wrong = await wrongTokens(provider, { caller: acme });
    await Promise.all(wrong.map(([, each]) => caller(each).catch(() => {})));
    expect(provider.fetches()).toBe(1);
  });

  // Guards against: mistaking an absent provider for a wrong token, and throwing cached keys away with it.
  test('that cannot be read are 502, unless they are known', async () => {
    const { provider, caller } = await start();
    provider.setUp(false);
    const right = await token(provider);
    await expect(caller(right)).rejects.toMatchObject({ code: 'identity_unreachable', status: 502 });
    provider.setUp(true);
    await caller(right);
    provider.setUp(false);
    await caller(right);
  });
});

// Guards: without a provider, or with a half-configured one, tokens open nothing.
test('settings', async () => {
  const store = createSignInStore(database.db);
  const { believedFrom } = store;
  const members = createMemberStore(database.db, store, []);
  const none = {
    ...ANSWER_SETTINGS,
    IDENTITY_JWKS_URL: undefined,
    IDENTITY_ISSUER: ISSUER,
    IDENTITY_AUDIENCE: AUDIENCE,
  };
  await expect(createIdentityCaller({ settings: none, members, believedFrom })('any')).rejects.toMatchObject(REFUSED);
  const half = { ...none, IDENTITY_JWKS_URL: 'https://x.example/jwks', IDENTITY_AUDIENCE: undefined };
  expect(() => createIdentityCaller({ settings: half, members, believedFrom })).toThrow(/IDENTITY_AUDIENCE/);
});
