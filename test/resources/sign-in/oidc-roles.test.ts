/** What members are where the identity provider says it. */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { newVisitor, startOpenIdProvider } from './openid-provider.ts';
import { addMember } from './people.ts';

// The provider says on every start that it is not set up for production.
beforeAll(() => {
  for (const level of ['info', 'warn'] as const) jest.spyOn(console, level).mockImplementation(() => {});
});
afterAll(() => void jest.restoreAllMocks());

const person = (name: string, groups?: string | string[]) => ({
  email: `${name}@acme.example`,
  email_verified: true,
  ...(groups !== undefined && { groups }),
});
const PEOPLE = {
  own: person('own', ['auditors']),
  ana: person('ana', ['canteen', 'auditors']),
  bob: person('bob', ['auditors', 'aos-admins']),
  cat: person('cat', 'staff'),
  dan: person('dan', ['canteen']),
  eve: person('eve'),
};

describe.each([
  ['in the id token', true],
  ['at the user info endpoint', false],
])('with groups %s', (_name, claimsInToken) => {
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
  let service: TestService;
  beforeAll(async () => {
    provider = await startOpenIdProvider();
    const env = {
      ...provider.settings,
      OIDC_SCOPE: 'openid email groups',
      OIDC_ROLES: 'aos-admins=admin, staff=member, auditors=viewer',
    };
    service = await startTestService({ worker: false, env });
    await Promise.all([service.tenant('acc_acme'), service.tenant('acc_second')]);
    provider.open({ redirectUri: new URL('/login/callback', service.baseUrl).href, people: PEOPLE, claimsInToken });
  });
  afterAll(async () => {
    await service.close();
    await provider.close();
  });
  const { rows } = {
    rows: (statement: ReturnType<typeof sql>) => service.runtime.db.rows<{ role: string }>(statement),
  };
  beforeEach(async () => {
    await rows(sql`delete from workspace_members`);
    for (const name of Object.keys(PEOPLE)) {
      await addMember(service, 'acme', `${name}@acme.example`, name === 'own' ? 'owner' : 'member');
    }
  });

  const signInAs = async (name: string) => {
    const visitor = newVisitor();
    const isBack = (url: URL) => url.pathname === '/login/callback';
    const { response } = await visitor.follow(new URL('/login', service.baseUrl), isBack, name);
    return {
      status: response.status,
      visitor,
      session: () => visitor.cookie(new URL(service.baseUrl).host, 'service_session'),
    };
  };
  const ask = (session: string | undefined, path = '/v1/runs') =>
    fetch(new URL(`/api/v1/cp${path}`, service.baseUrl), { headers: { cookie: `service_session=${session}` } });
  const roleOf = async (name: string, customer = 'acme') =>
    (
      await rows(
        sql`select role::text from workspace_members where email = ${`${name}@acme.example`} and customer_id = ${customer}`,
      )
    )[0]?.role;

  // Guards: the most that one of the names gives counts; owners stay what they are; what changed is in the audit log.
  test.each([
    ['own', 'owner'],
    ['ana', 'viewer'],
    ['bob', 'admin'],
    ['cat', 'member'],
  ])('%s is %s', async (name, role) => {
    const { status, session } = await signInAs(name);
    expect(status).toBe(303);
    expect(session()).toEqual(expect.any(String));
    expect(await roleOf(name)).toBe(role);
    const told = await rows(sql`
      select change ->> 'role' as role from audit_log where actor = 'identity-provider' and target ->> 'email' = ${`${name}@acme.example`}`);
    expect(told.map((row) => row.role)).toEqual(['owner', 'member'].includes(role) ? [] : [role]);
  });

  // Guards: it fails closed. Who has left the group is not what the group made them, nor anything else.
  test.each(['dan', 'eve'])('%s, of whom nothing is said, gets none', async (name) => {
    const { status, session } = await signInAs(name);
    expect(status).toBe(403);
    expect(session()).toBeUndefined();
    expect(await roleOf(name)).toBe('member');
  });

  // Guards: what was said is still so where a workspace is chosen afterwards, also that nothing was said.
  test('the choice of a workspace goes by the same', async () => {
    await addMember(service, 'second', 'ana@acme.example', 'admin');
    const { status, visitor } = await signInAs('ana');
    expect(status).toBe(200);
    const choose = (workspace: string) =>
      visitor.fetchAs(new URL('/login/workspace', service.baseUrl), {
        method: 'POST',
        body: new URLSearchParams({ workspace }),
      });
    expect((await choose('acc_second')).status).toBe(303);
    expect(await roleOf('ana', 'second')).toBe('viewer');

    await addMember(service, 'second', 'dan@acme.example', 'owner');
    const owner = await signInAs('dan');
    expect(owner.status).toBe(303);
    const answer = await ask(owner.session(), '/v1/system/session');
    expect(await answer.json()).toMatchObject({
      workspace_id: 'acc_second',
      rights: expect.arrayContaining(['members.appoint-owners']),
    });
  });

  // Guards: a session from before, in which somebody was more, ends.
  test('a session from before ends where the role changes', async () => {
    await rows(sql`update workspace_members set role = 'viewer' where email = 'bob@acme.example'`);
    const first = await signInAs('bob');
    await rows(sql`update workspace_members set role = 'member' where email = 'bob@acme.example'`);
    expect((await ask(first.session())).status).toBe(200);
    const second = await signInAs('bob');
    expect((await ask(second.session())).status).toBe(200);
    expect((await ask(first.session())).status).toBe(401);
  });
});

// Guards: a mapping that cannot be read stops the start, and nobody becomes an owner by a name.
test.each(['staff', 'staff=', 'staff=owner', '=viewer', 'staff=member;auditors=viewer'])('OIDC_ROLES=%s', (text) => {
  expect(() => loadConfig({ OIDC_ROLES: text })).toThrow(/OIDC_ROLES.*admin, member or viewer/);
});
