/** Sign-in by mailed code: what a member, a stranger and a guesser get. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
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
async function newMember() {
  const email = `person${(people += 1)}@acme.example`;
  return { email, id: await addMember(service, 'acme', email) };
}
const request = async (email: string): Promise<string> => (await http.json('/login/code', { email })).json.challenge_id;
const verify = (challengeId: string, code: string) => http.json('/login/verify', { challenge_id: challengeId, code });
const wrongOf = (code: string) => (code === '000000' ? '111111' : '000000');
const INVALID = { status: 401, json: { detail: 'invalid_code' } };

describe('a member', () => {
  // Guards: the whole way from an address to a session of the right workspace and role, which the control plane
  // accepts.
  test('gets a session for the right code', async () => {
    const { email } = await newMember();
    const asked = await http.json('/login/code', { email: ` ${email.toUpperCase()} ` });
    expect(asked).toMatchObject({ status: 200, json: { challenge_id: expect.stringMatching(/^[\w-]{16}$/) } });
    const { challenge_id: id } = asked.json;
    const answer = await verify(id, await inbox.codeOf(id));
    expect(answer).toMatchObject({ status: 200, json: { workspace: 'acc_acme', role: 'owner' } });
    expect(Date.parse(answer.json.expires_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
    const { status } = await http.get('/api/v1/cp/v1/api-keys', { cookies: answer.cookies });
    expect(status).toBe(200);
    const members = await tenant.cp('GET', '/v1/workspaces/acc_acme/members');
    const member = members.body.data.find((row: { email: string }) => row.email === email);
    expect(member.last_login_at).not.toBeNull();
  });

  // Guards: a person who asks again, in a second tab or because the mail is late, can use the code of the first mail.
  test('enters the codes of two tabs in either order', async () => {
    const { email } = await newMember();
    const [first, second] = [await request(email), await request(email)];
    const codes = [await inbox.codeOf(first), await inbox.codeOf(second)] as const;
    expect((await verify(second, codes[1])).status).toBe(200);
    expect((await verify(first, codes[0])).status).toBe(200);
    expect(await verify(first, codes[0])).toMatchObject(INVALID);
  });

  // Guards against: a cookie that scripts or other sites can use.
  test('has it in a cookie that only the service sees', async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    const answer = await http.json(
      '/login/verify',
      { challenge_id: id, code },
      { headers: { 'x-forwarded-proto': 'https' } },
    );
    const cookie = present(answer.setCookies.find((line) => line.startsWith('service_session=')));
    for (const flag of ['HttpOnly', 'SameSite=Lax', 'Secure', 'Path=/']) expect(cookie).toContain(flag);
    // For as long as the session, of which a second may have gone by.
    expect(cookie).toMatch(/Max-Age=(?:43200|4319\d);/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  // Guards against: a code that works twice, or for two people at once.
  test('of fifty right answers at once, one wins', async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify(id, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  // Guards against: guessing. The fifth wrong code burns the challenge, also for the right one.
  test('has five tries', async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    for (let i = 0; i < 5; i += 1) expect(await verify(id, wrongOf(code))).toMatchObject(INVALID);
    expect(await verify(id, code)).toMatchObject(INVALID);
    const four = await request(email);
    const right = await inbox.codeOf(four);
    for (let i = 0; i < 4; i += 1) await verify(four, wrongOf(right));
    expect((await verify(four, right)).status).toBe(200);
  });

  // Guards against: fifty simultaneous wrong codes that are each counted as the first.
  test('wrong codes at once are each counted', async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    await Promise.all(Array.from({ length: 50 }, () => verify(id, wrongOf(code))));
    const [row] = await service.runtime.db.rows<{ wrong: number }>(
      sql`select wrong_codes as wrong from login_challenges where id = ${id}`,
    );
    expect(row).toEqual({ wrong: 5 });
    expect(await verify(id, code)).toMatchObject(INVALID);
  });

  // Guards against: a guesser who asks for one challenge after another. A hundred wrong in a row refuse even the right
  // one.
  test('is locked after a hundred wrong ones, for a while', async () => {
    const { email } = await newMember();
    await service.runtime.db.rows(sql`insert into login_locks (email, wrong_in_a_row) values (${email}, 99)`);
    const id = await request(email);
    const code = await inbox.codeOf(id);
    expect(await verify(id, wrongOf(code))).toMatchObject(INVALID);
    expect(await verify(id, code)).toMatchObject(INVALID);
    await service.runtime.db.rows(sql`update login_locks set locked_until = now() where email = ${email}`);
    expect((await verify(id, code)).status).toBe(200);
    const left = await service.runtime.db.rows(sql`select from login_locks where email = ${email}`);
    expect(left).toEqual([]);
  });

  // Guards against: codes that never expire.
  test('has ten minutes', async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    const [{ ttl }] = (await service.runtime.db.rows<{ ttl: number }>(
      sql`select extract(epoch from expires_at - created_at)::float8 as ttl from login_challenges where id = ${id}`,
    )) as [{ ttl: number }];
    expect(Math.round(ttl / 10)).toBe(60);
    await service.runtime.db.rows(sql`update login_challenges set expires_at = now() where id = ${id}`);
    expect(await verify(id, code)).toMatchObject(INVALID);
  });

  // Guards against: mail bombs. The sixth request within a quarter of an hour gets the same answer and sends no mail.
  test('is sent five codes at most', async () => {
    const { email } = await newMember();
    const asked = await Promise.all(Array.from({ length: 8 }, () => http.json('/login/code', { email })));
    expect(asked.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const [row] = await service.runtime.db.rows<{ kept: number }>(
      sql`select count(*)::int as kept from login_challenges where email = ${email}`,
    );
    expect(row).toEqual({ kept: 5 });
    expect(inbox.mails.filter(({ to }) => to === email).length).toBeLessThanOrEqual(5);
  });

  // Guards against: a readable code in the database.
  test("'s code is nowhere", async () => {
    const { email } = await newMember();
    const id = await request(email);
    const code = await inbox.codeOf(id);
    const [row] = await service.runtime.db.rows(sql`select * from login_challenges where id = ${id}`);
    expect(JSON.stringify(row)).not.toContain(code);
  });
});

describe('a stranger', () => {
  // Guards against: finding out who is a member. The answer has the same form, and nothing is mailed.
  test('gets the answer that a member gets, and no mail', async () => {
    const { email } = await newMember();
    const known = await http.json('/login/code', { email });
    const unknown = await http.json('/login/code', { email: 'nobody@acme.example' });
    expect(unknown.status).toBe(known.status);
    expect(Object.keys(unknown.json)).toEqual(Object.keys(known.json));
    await inbox.codeOf(known.json.challenge_id);
    expect(await verify(unknown.json.challenge_id, '123456')).toMatchObject(INVALID);
    expect(inbox.mails.map(({ to }) => to)).not.toContain('nobody@acme.example');
    const pages = await Promise.all(
      [email, 'nobody@acme.example'].map((each) => http.form('/login/code', { email: each })),
    );
    const [one, other] = pages.map(({ text }) => text.replace(/nonce="[^"]+"|value="[\w-]{16}"/g, ''));
    expect(one).toBe(other);
  });

  // Guards against: a slow or absent mail server that shows which addresses mail was sent to.
  test('is answered before any mail is sent', async () => {
    const { email } = await newMember();
    const id = await request(email);
    expect(id).toMatch(/^[\w-]{16}$/);
    await inbox.codeOf(id);
    expect(inbox.mails.filter(({ to }) => to === email)).toHaveLength(1);
  });
});

describe('bad input', () => {
  const odd: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['no text', { email: 1 }],
    ['a list of addresses', { email: ['a@b.example', 'c@d.example'] }],
    ['an object', { email: { $ne: null } }],
    ['no address', { email: 'nobody' }],
    ['an empty one', { email: '' }],
    ['two addresses', { email: 'a@b.example, c@d.example' }],
    ['a NUL', { email: 'a\u0000@b.example' }],
    ['a lone surrogate', { email: '\ud800@b.example' }],
    ['a line break', { email: 'a@b.example\r\nbcc: c@d.example' }],
    ['a long one', { email: `${'a'.repeat(300)}@b.example` }],
    ['a prototype', JSON.parse('{"__proto__": {"email": "a@b.example"}}')],
  ];
  // Guards against: an address that means something else to the mail server or the database, and 500s.
  test.each(odd)('%s is 400', async (_name, body) => {
    expect((await http.json('/login/code', body)).status).toBe(400);
  });

  const answers: [string, unknown, number][] = [
    ['nothing', {}, 400],
    ['lists', { challenge_id: ['x'], code: ['1'] }, 400],
    ['numbers', { challenge_id: 1, code: 123456 }, 400],
    ['a NUL', { challenge_id: 'a\u0000', code: '12345\u0000' }, 401],
    ['a long one', { challenge_id: 'x'.repeat(501), code: '123456' }, 400],
    ['an unknown challenge', { challenge_id: 'x'.repeat(16), code: '123456' }, 401],
    ['surrogates', { challenge_id: '\ud800'.repeat(16), code: '\udc00'.repeat(6) }, 401],
  ];
  // Guards against: the same in answers to a challenge.
  test.each(answers)('%s in the place of a code', async (_name, body, status) => {
    expect((await http.json('/login/verify', body)).status).toBe(status);
  });

  // Guards against: bodies that cannot even be parsed.
  test('bodies that are none', async () => {
    const post = (type: string, body: string) =>
      fetch(`${service.baseUrl}/login/code`, { method: 'POST', headers: { 'content-type': type }, body });
    expect((await post('application/json', '{"email"')).status).toBe(400);
    expect((await post('application/json', `{"email":"${'a'.repeat(20_000)}"}`)).status).toBe(413);
    expect((await post('text/plain', 'email=a@b.example')).status).toBe(400);
    expect((await post('multipart/form-data; boundary=x', '--x--')).status).toBe(400);
    expect((await http.form('/login/code', { email: ['a@b.example', 'c@d.example'] })).status).toBe(400);
    expect((await http.form('/login/nothing', {})).status).toBe(404);
    expect((await http.get('/login/code')).status).toBe(404);
    const methods = await Promise.all(
      ['OPTIONS', 'PUT', 'DELETE'].map((method) => fetch(`${service.baseUrl}/login`, { method })),
    );
    expect(methods.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});

describe('another site', () => {
  // Guards against: login CSRF. A page of another site can sign nobody in (as somebody else) or out.
  test.each(['https://evil.example', 'null', 'nonsense'])('%s may post nothing', async (origin) => {
    const headers = { origin };
    for (const path of ['/login/code', '/login/verify', '/login/workspace', '/logout']) {
      expect((await http.form(path, { email: 'a@b.example' }, { headers })).status).toBe(403);
      expect(await http.json(path, {}, { headers })).toMatchObject({ status: 403, json: { detail: 'foreign_origin' } });
    }
  });

  // Guards: the test above could fail.
  test('the own site may', async () => {
    const headers = { origin: service.baseUrl };
    expect((await http.form('/login/code', { email: 'a@b.example' }, { headers })).status).toBe(200);
  });
});

describe('several workspaces', () => {
  // Guards: nobody enters a workspace of which the address is no member.
  test('one is chosen, of those only', async () => {
    await service.tenant('acc_second');
    await service.tenant('acc_third');
    const { email } = await newMember();
    await addMember(service, 'second', email, 'member');
    const id = await request(email);
    const asked = await verify(id, await inbox.codeOf(id));
    expect(asked.status).toBe(409);
    expect(asked.json.detail.workspaces).toEqual([
      { workspace: 'acc_acme', role: 'owner' },
      { workspace: 'acc_second', role: 'member' },
    ]);
    expect(asked.cookies.service_session).toBeUndefined();
    const { cookies } = asked;
    expect((await http.json('/login/workspace', { workspace: 'acc_third' }, { cookies })).status).toBe(409);
    expect((await http.json('/login/workspace', { workspace: 'acc_second' })).status).toBe(401);
    const entered = await http.json('/login/workspace', { workspace: 'acc_second' }, { cookies });
    expect(entered).toMatchObject({ status: 200, json: { workspace: 'acc_second', role: 'member' } });
    const again = await request(email);
    const body = { challenge_id: again, code: await inbox.codeOf(again), workspace: 'acc_acme' };
    expect((await http.json('/login/verify', body)).json).toMatchObject({ workspace: 'acc_acme' });
  });
});

describe('afterwards', () => {
  // Guards against: an open redirect: a link to sign-in that leads to another site.
  test.each([
    ['/docs', '/docs'],
    ['/docs?x=1#y', '/docs?x=1#y'],
    ['//evil.example', '/login'],
    ['/\\evil.example', '/login'],
    ['https://evil.example', '/login'],
    ['javascript:alert(1)', '/login'],
    ['/\t/evil.example', '/login'],
    ['/a\r\nset-cookie: x=1', '/login'],
    ['', '/login'],
  ])('%j leads to %s', async (next, target) => {
    const { email } = await newMember();
    const id = await request(email);
    const answer = await http.form('/login/verify', { challenge_id: id, code: await inbox.codeOf(id), next });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(target);
  });
});
