/** Sessions after sign-in: their page, sign-out here and everywhere, and rotation of the secret that signs them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import { readSession, signSession } from '../../../src/platform/http/auth.ts';
import { createServices } from '../../../src/compose/services.ts';
import { startApi, type Api } from '../../../src/api.ts';
import { createSignInStore } from '../../../src/resources/sign-in/store.ts';
import { demandIn, otpHeaders } from '../../support/service/otp.ts';
import {
  call,
  sessionFor,
  startTestService,
  tenantOf,
  TEST_SECRETS,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { addMember, client, openInbox } from './people.ts';

let service: TestService;
let tenant: Tenant;
let http: ReturnType<typeof client>;
const inbox = openInbox();

beforeAll(async () => {
  service = await startTestService({ worker: false, log: inbox.log });
  tenant = await service.tenant('acc_acme');
  http = client(service);
});
afterAll(() => service.close());

let people = 0;
async function newPerson() {
  const email = `person${(people += 1)}@acme.example`;
  await addMember(service, 'acme', email);
  return email;
}
async function signIn(email: string): Promise<Record<string, string>> {
  const { json } = await http.json('/login/code', { email });
  const body = { challenge_id: json.challenge_id, code: await inbox.codeOf(json.challenge_id) };
  const answer = await http.json('/login/verify', body);
  expect(answer.status).toBe(200);
  return { service_session: present(answer.cookies.service_session) };
}
const atProxy = async (cookies: Record<string, string>) =>
  (await http.get('/api/v1/cp/v1/api-keys', { cookies })).status;
const directly = async ({ service_session: session }: Record<string, string>) =>
  (await call(`${service.controlPlaneUrl}/v1/api-keys`, 'GET', { 'x-service-session': present(session) })).status;

describe('sign-out', () => {
  // Guards against: a signed-out session that goes on for somebody who copied its cookie, and a sign-out that ends
  // other people's sessions.
  test('ends this session at both listeners, and no other', async () => {
    const email = await newPerson();
    const [here, there] = [await signIn(email), await signIn(email)];
    // Of the same second and the same claims they are one session.
    const isOne = here.service_session === there.service_session;
    const answer = await http.json('/logout', {}, { cookies: here });
    expect(answer.status).toBe(204);
    expect(answer.setCookies.find((line) => line.startsWith('service_session='))).toMatch(
      /^service_session=;.*Max-Age=0/,
    );
    expect([await atProxy(here), await directly(here)]).toEqual([401, 401]);
    expect(await atProxy(there)).toBe(isOne ? 401 : 200);
    expect(await atProxy({ service_session: tenant.session })).toBe(200);
    // Again, and with what is none: nothing happens.
    expect((await http.json('/logout', {}, { cookies: here })).status).toBe(204);
    expect((await http.json('/logout', {}, { cookies: { service_session: 'nonsense' } })).status).toBe(204);
    expect((await http.json('/logout', {})).status).toBe(204);
  });

  // Guards: after the loss of a device all sessions of the person in the workspace can be ended, and signing in again
  // works at once.
  test('everywhere ends all of one person, and a new one counts', async () => {
    const [email, other] = [await newPerson(), await newPerson()];
    const old = [await signIn(email), await signIn(email)];
    const others = await signIn(other);
    expect((await http.json('/logout?everywhere=1', {}, { cookies: first(old) })).status).toBe(204);
    expect(await Promise.all(old.map(directly))).toEqual([401, 401]);
    expect(await atProxy(others)).toBe(200);
    const fresh = await signIn(email);
    expect(await Promise.all([atProxy(fresh), directly(fresh)])).toEqual([200, 200]);
    // What has ended cannot end anything.
    await http.json('/logout?everywhere=1', {}, { cookies: itemAt(old, 1) });
    expect(await directly(fresh)).toBe(200);
  });

  // Guards against: a session by another name of the person, which ends itself and leaves those by the address alone.
  test.each(['provider-1', 'PROVIDER:1', '*'])('everywhere of the session by the subject %s', async (sub) => {
    const [email, other] = [await newPerson(), await newPerson()];
    const iat = Math.floor(Date.now() / 1_000);
    const claims = { sub, workspace: 'acc_acme', customer_id: 'acme', role: 'owner' as const, iat, exp: iat + 60 };
    const elsewhere = (of: string) => ({
      service_session: signSession({ ...claims, email: of }, TEST_SECRETS.SESSION_SECRET),
    });
    const [here, others] = [await signIn(email), await signIn(other)];
    expect((await http.json('/logout?everywhere=1', {}, { cookies: elsewhere(email) })).status).toBe(204);
    expect([await directly(here), await directly(elsewhere(email)), await directly(others)]).toEqual([401, 401, 200]);
    // A session without an address ends those of its subject.
    expect((await http.json('/logout?everywhere=1', {}, { cookies: elsewhere('') })).status).toBe(204);
    expect([await directly(elsewhere('')), await directly(others)]).toEqual([401, 200]);
  });
});

describe('the page', () => {
  // Guards: a person who is signed in sees as whom, others see the form, and no script runs on either page.
  test('shows who is signed in, or the form', async () => {
    const email = await newPerson();
    const page = await http.get('/login', { cookies: await signIn(email) });
    expect(page.text).toContain(email);
    expect(page.text).toContain('acc_acme');
    for (const link of ['/docs', '/logout', '/logout?everywhere=1']) expect(page.text).toContain(`"${link}"`);
    for (const cookies of [{}, { service_session: 'nonsense' }] as Record<string, string>[]) {
      const form = await http.get('/login', { cookies });
      expect(form.status).toBe(200);
      expect(form.text).toContain('name="email"');
      expect(form.headers.get('content-security-policy')).toMatch(/default-src 'none'; style-src 'nonce-[\w+/=]+'; /);
      expect(form.headers.get('cache-control')).toBe('no-store');
    }
  });

  // Guards against: text of a link that becomes markup.
  test('escapes what it is given', async () => {
    const next = '/x"><script>alert(1)</script>';
    const { text } = await http.get(`/login?next=${encodeURIComponent(next)}`);
    expect(text).not.toContain('<script>');
    const shown = await http.form('/login/verify', { challenge_id: '"><b>', code: '123456', next });
    expect(shown.status).toBe(401);
    expect(shown.text).not.toMatch(/<script>|<b>/);
  });

  // Guards: signing in works in a browser without scripts.
  test('leads through by forms alone', async () => {
    const email = await newPerson();
    const asked = await http.form('/login/code', { email, next: '/docs' });
    const [, id] = present(/name="challenge_id" value="([\w-]{16})"/.exec(asked.text));
    const wrong = await http.form('/login/verify', { challenge_id: present(id), code: '12345', next: '/docs' });
    expect(wrong).toMatchObject({ status: 401 });
    expect(wrong.text).toContain('role="alert"');
    const code = await inbox.codeOf(present(id));
    const entered = await http.form('/login/verify', { challenge_id: present(id), code, next: '/docs' });
    expect(entered.status).toBe(303);
    expect(entered.headers.get('location')).toBe('/docs');
    expect(await atProxy(entered.cookies)).toBe(200);
    const bad = await http.form('/login/code', { email: 'nobody' });
    expect(bad.status).toBe(400);
    expect(bad.text).toContain('role="alert"');
    const out = await http.form('/logout', {}, { cookies: entered.cookies });
    expect(out.text).toContain('signed out');
    expect(await atProxy(entered.cookies)).toBe(401);
  });
});

describe('rotation of the secrets', () => {
  const NEW = 'the-next-session-secret-of-the-tests';
  let rotated: Api;
  let at: string;
  beforeAll(async () => {
    const { runtime } = service;
    const config = {
      ...runtime.config,
      SESSION_SECRET: `${NEW}, ${TEST_SECRETS.SESSION_SECRET}`,
      ADMIN_SECRET: `the-next-admin-secret-of-the-tests,${TEST_SECRETS.ADMIN_SECRET}`,
    };
    rotated = await startApi({ ...runtime, config }, createServices({ ...runtime, config }));
    at = present(rotated.gatewayUrl);
  });
  afterAll(() => rotated.close());

  // Guards against: a rotation that signs everybody out, or that goes on signing with the old secret.
  test('signs nobody out, and signs with the new one', async () => {
    const email = await newPerson();
    const before = await signIn(email);
    const after = client({ baseUrl: at });
    expect((await after.get('/api/v1/cp/v1/api-keys', { cookies: before })).status).toBe(200);
    const pending = (await http.json('/login/code', { email })).json.challenge_id;
    const code = await inbox.codeOf(pending);
    const entered = await after.json('/login/verify', { challenge_id: pending, code });
    expect(entered.status).toBe(200);
    const session = present(entered.cookies.service_session);
    expect(readSession(session, NEW)).toMatchObject({ email });
    expect(readSession(session, TEST_SECRETS.SESSION_SECRET)).toBeUndefined();
    // An admin route, by a stamp of the old secret.
    expect((await after.get('/api/v1/cp/v1/workspaces/acc_acme/members', { cookies: before })).status).toBe(200);
  });

  // Guards: confirmations under way, whose HMACs have the same secret, survive a rotation.
  test('leaves confirmations valid', async () => {
    const path = '/v1/integrations/smtp/credentials/password';
    const asked = await tenant.cp('PUT', path, { value: 'a password' });
    const cookie = `service_session=${tenant.session}`;
    const headers = { cookie, ...otpHeaders(demandIn(asked).challenge_id) };
    const answer = await call(`${at}/api/v1/cp${path}`, 'PUT', headers, { value: 'a password' });
    expect(answer.status).toBeLessThan(300);
  });

  // Guards against: a secret in the list that is too short.
  test('refuses a short one among several', () => {
    const env = { ...TEST_SECRETS, DATABASE_URL: 'postgres://x' };
    expect(() => loadConfig({ ...env, SESSION_SECRET: `${NEW},short` })).toThrow(/^SESSION_SECRET: .*16 characters/m);
    expect(() => loadConfig({ ...env, ADMIN_SECRET: `${NEW},` })).toThrow(/^ADMIN_SECRET: .*16 characters/m);
  });
});

// Guards against: a session of a workspace's earlier life. Where two lives end within the same second, a session begins
// when the earlier cut-off ends, which is in the future.
test('the end of a workspace ends every session, also one that begins later than now', async () => {
  const { sessions } = service.services.signIn;
  const customerId = 'short-lives';
  const cutOffs = createSignInStore(service.runtime.db);
  const begin = async (email: string) => {
    const iat = await sessions.beginning(customerId, email);
    return sessions.sign(email, { workspaceId: 'acc_short-lives', customerId, role: 'owner' }, iat).session;
  };
  const isGood = async (session: string) => (await sessions.read(session)) !== undefined;
  const held: string[] = [];
  for (let life = 1; life <= 3; life++) {
    for (let change = 1; change <= 3; change++) await cutOffs.cutOff(customerId, 'ana@people.example');
    held.push(await begin('ana@people.example'), await begin('bo@people.example'));
    expect(await Promise.all(held.map(isGood))).toEqual(held.map((_, n) => n >= held.length - 2));
    await cutOffs.cutOffAll(customerId, undefined);
    expect(await Promise.all(held.map(isGood))).toEqual(held.map(() => false));
  }
});

// Guards against: what is signed right after a workspace was made again, and is refused for the rest of the second; of a
// deploy token that would be for good.
test('what begins in the second of a cut-off, and after it, is good', async () => {
  const ours = await service.tenant('acc_same-second');
  const { customerId, actor } = ours.caller;
  const { sessions } = service.services.signIn;
  const before = sessionFor(ours.caller);
  await createSignInStore(service.runtime.db).cutOffAll(customerId, undefined);
  const { at } = first(
    await service.runtime.db.rows<{ at: number }>(sql`
      select extract(epoch from not_before)::float8 as at from session_cutoffs where customer_id = ${customerId}`),
  );
  const begun = await sessions.beginning(customerId, actor);
  const member = { workspaceId: 'acc_same-second', customerId, role: 'owner' } as const;
  const session = (iat: number) => sessions.sign(actor, member, iat).session;
  const statusOf = async (text: string, path = '/v1/runs') =>
    (await tenantOf(service.baseUrl, ours.caller, '', text).cp('GET', path)).status;
  expect(await statusOf(session(begun))).toBe(200);
  expect(await statusOf(session(at))).toBe(200);
  // It need not be put off: it begins now.
  expect(begun).toBeLessThan(at + 0.9);
  const { body } = await tenantOf(service.baseUrl, ours.caller, '', session(begun)).cp('POST', '/v1/deploy-tokens', {
    name: 'in the same second',
  });
  expect(await statusOf(body.token, '/v1/manifests')).toBe(200);
  expect(await statusOf(before)).toBe(401);
  // A whole second may be before or after the cut-off within it.
  expect(await statusOf(session(Math.floor(at)))).toBe(401);
});
