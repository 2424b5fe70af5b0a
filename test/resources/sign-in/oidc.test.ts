/** Sign-in at an OpenID provider, end to end against one that is certified. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { createOidc } from '../../../src/resources/sign-in/oidc.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { newVisitor, startOpenIdProvider } from './openid-provider.ts';
import { addMember, client, openInbox } from './people.ts';
import { ANSWER_SETTINGS } from '../../support/service/answer-limits.ts';

// The provider says on every start that it is not set up for production.
beforeAll(() => {
  for (const level of ['info', 'warn'] as const) jest.spyOn(console, level).mockImplementation(() => {});
});
afterAll(() => void jest.restoreAllMocks());

const PEOPLE = {
  ana: { email: 'Ana@acme.example', email_verified: true },
  bob: { email: 'bob@acme.example', email_verified: true },
  eve: { email: 'ana@acme.example', email_verified: false },
  ida: { email: 'ana@acme.example' },
  joe: { email: 'joe@nowhere.example', email_verified: true },
  zoe: {},
};

describe.each([
  ['in the id token', true],
  ['at the user info endpoint', false],
])('with the address %s', (_name, claimsInToken) => {
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
  let service: TestService;
  let http: ReturnType<typeof client>;
  const inbox = openInbox();

  beforeAll(async () => {
    provider = await startOpenIdProvider();
    service = await startTestService({ worker: false, env: provider.settings, log: inbox.log });
    http = client(service);
    await service.tenant('acc_acme');
    await service.tenant('acc_second');
    await addMember(service, 'acme', 'ana@acme.example', 'admin');
    await addMember(service, 'acme', 'bob@acme.example');
    await addMember(service, 'second', 'bob@acme.example', 'member');
  });
  afterAll(async () => {
    await service.close();
    await provider.close();
  });

  const login = (path = '/login') => new URL(path, service.baseUrl);
  const isCallback = (url: URL) => url.pathname === '/login/callback';
  /** Up to the answer to what the provider sends back. */
  const signInAs = async (name: string, path?: string) => {
    const visitor = newVisitor();
    return { visitor, ...(await visitor.follow(login(path), isCallback, name)) };
  };
  const sessionOf = ({ visitor }: { visitor: ReturnType<typeof newVisitor> }) =>
    visitor.cookie(new URL(service.baseUrl).host, 'service_session');

  // Guards: a provider that is down at the first request is reported, and the next request works.
  test('a provider that is not there yet is 502', async () => {
    expect((await http.get('/login')).status).toBe(502);
    provider.open({ redirectUri: login('/login/callback').href, people: PEOPLE, claimsInToken });
    expect((await http.get('/login')).status).toBe(302);
  });

  // Guards: the whole way through the provider and back, to a session of the workspace and role of the member.
  test('a member gets a session', async () => {
    const signedIn = await signInAs('ana', '/login?next=/docs');
    expect(signedIn.response.status).toBe(303);
    expect(signedIn.response.headers.get('location')).toBe('/docs');
    const cookies = { service_session: present(sessionOf(signedIn)) };
    const { status, json } = await http.get('/api/v1/cp/v1/workspaces/acc_acme/members', { cookies });
    expect(status).toBe(200);
    expect(json.data[0]).toMatchObject({ email: 'ana@acme.example', last_login_at: expect.any(String) });
    const page = await http.get('/login', { cookies });
    expect(page.text).toContain('admin');
  });

  // Guards: a person whom the provider knows but who is no member is refused, and so are addresses that anybody may
  // claim at the provider.
  test.each(['joe', 'eve', 'ida', 'zoe'])('%s gets none', async (name) => {
    const refused = await signInAs(name);
    expect(refused.response.status).toBe(403);
    expect(await refused.response.text()).toContain('not signed in');
    expect(sessionOf(refused)).toBeUndefined();
  });

  // Guards: the workspaces to choose from follow from what the provider said, and from nothing else.
  test('a member of several chooses', async () => {
    const asked = await signInAs('bob');
    expect(asked.response.status).toBe(200);
    expect(await asked.response.text()).toContain('acc_second');
    expect(sessionOf(asked)).toBeUndefined();
    const choose = (workspace: string) =>
      asked.visitor.fetchAs(login('/login/workspace'), { method: 'POST', body: new URLSearchParams({ workspace }) });
    expect((await choose('acc_nowhere')).status).toBe(200);
    expect(sessionOf(asked)).toBeUndefined();
    expect((await choose('acc_second')).status).toBe(303);
    expect(sessionOf(asked)).toEqual(expect.any(String));
  });

  // Guards against: a code that somebody else brought, or that was intercepted and used elsewhere (state, PKCE, nonce,
  // single use).
  test('what comes back counts in the browser that left, once', async () => {
    const visitor = newVisitor();
    const away = await visitor.fetchAs(login());
    const arrivals: URL[] = [];
    const seen = (url: URL) => url.origin === login().origin && arrivals.push(url) > 0;
    const { response } = await visitor.follow(new URL(present(away.headers.get('location'))), seen, 'ana');
    expect(response.status).toBe(303);
    const [arrival] = arrivals as [URL];
    expect((await newVisitor().fetchAs(arrival)).status).toBe(401);
    expect((await visitor.fetchAs(arrival)).status).toBe(401);
    const other = newVisitor();
    await other.fetchAs(login());
    expect((await other.fetchAs(arrival)).status).toBe(401);
    const forged = new URL('/login/callback?code=x&state=y', service.baseUrl);
    expect((await other.fetchAs(forged)).status).toBe(401);
    expect(other.cookie(forged.host, 'service_session')).toBeUndefined();
    expect((await http.get('/login/callback?error=access_denied')).status).toBe(401);
  });

  // Guards: with a provider nobody signs in by mailed code.
  test('there are no codes', async () => {
    expect((await http.json('/login/code', { email: 'ana@acme.example' })).status).toBe(404);
    expect((await http.json('/login/verify', { challenge_id: 'x'.repeat(16), code: '123456' })).status).toBe(404);
    expect(inbox.mails).toEqual([]);
  });
});

// Guards against: a half-configured provider that is noticed only when somebody wants to sign in.
test('settings', () => {
  const none = {
    ...ANSWER_SETTINGS,
    OIDC_ISSUER: undefined,
    OIDC_CLIENT_ID: undefined,
    OIDC_CLIENT_SECRET: undefined,
    OIDC_SCOPE: 'openid email',
    OIDC_ROLES: new Map(),
    OIDC_ROLES_CLAIM: 'groups',
  };
  expect(createOidc(none)).toBeUndefined();
  expect(() => createOidc({ ...none, OIDC_ISSUER: 'https://x.example' })).toThrow(/OIDC_CLIENT_ID/);
});
