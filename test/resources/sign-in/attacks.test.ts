/**
 * Somebody who knows an address and nothing else: who floods its mailbox, who would keep its owner out, who guesses.
 * Each through HTTP, with the owner's way in beside it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../../src/platform/core/log.ts';
import { itemAt, last, present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createCodes } from '../../../src/resources/sign-in/codes.ts';
import { createSignInStore } from '../../../src/resources/sign-in/store.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';
import { tried } from '../../support/runner/sizes.ts';
import { addMember, client, openInbox } from './people.ts';

const BASE_URL = 'https://agents.example.com';
const INVALID = { status: 401, json: { detail: 'invalid_code' } };

let service: TestService;
let http: ReturnType<typeof client>;
const inbox = openInbox();
beforeAll(async () => {
  service = await startTestService({ worker: false, log: inbox.log, env: { BASE_URL } });
  await service.tenant('acc_acme');
  http = client(service);
});
afterAll(() => service.close());

let people = 0;
async function newMember(): Promise<string> {
  const email = `owner${(people += 1)}@acme.example`;
  await addMember(service, 'acme', email);
  return email;
}
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const times = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));
const ask = async (email: string, cookies = {}): Promise<string> =>
  (await http.json('/login/code', { email }, { cookies })).json.challenge_id;
const verify = (id: string, code: string) => http.json('/login/verify', { challenge_id: id, code });
const follow = (token: string) => http.json('/login/link', { token });
const wrongOf = (code: string) => (code === '000000' ? '111111' : '000000');
const mailsTo = (email: string) => inbox.mails.filter(({ to }) => to === email);
/** All that asking has brought is there once another's mail is, which was asked for after it. */
async function mailsAfterAll(email: string) {
  const other = await ask(await newMember());
  await inbox.codeOf(other);
  return mailsTo(email);
}
/** Signs in by code. @returns what the browser keeps of it when the session is over */
async function browserOf(email: string): Promise<Record<string, string>> {
  const id = await ask(email);
  const { status, cookies } = await verify(id, await inbox.codeOf(id));
  expect(status).toBe(200);
  return { service_known: present(cookies.service_known) };
}

describe('who asks for mails to the address of somebody else', () => {
  // Guards against: lock-out by requests. Where no more mails are sent, an earlier one still signs in.
  test('does not keep its owner out of a browser that is new', async () => {
    const email = await newMember();
    const asked = await times(40, () => ask(email));
    tried('codes asked for by a stranger', asked.length);
    const own = await ask(email);
    const mails = await mailsAfterAll(email);
    expect(mails.map(({ challenge_id }) => challenge_id)).not.toContain(own);
    const { url, token } = await inbox.linkOf(last(mails).challenge_id);
    const page = await http.get(url.pathname + url.search);
    expect(page.status).toBe(200);
    const entered = await http.form('/login/link', { token });
    expect([entered.status, entered.cookies.service_session]).toEqual([303, expect.any(String)]);
  });

  // Guards against: the use of the owner's own mails by others.
  test('does not use up the mails of a browser that the owner has signed in with', async () => {
    const email = await newMember();
    const browser = await browserOf(email);
    await times(40, () => ask(email));
    const own = await ask(email, browser);
    expect((await verify(own, await inbox.codeOf(own))).status).toBe(200);
  });

  // Guards against: flooding a mailbox: by simultaneous requests, from one browser, or with forged cookies.
  test('has five mailed, and five more from a browser of the owner', async () => {
    const [email, other] = [await newMember(), await newMember()];
    const browser = await browserOf(email);
    const before = mailsTo(email).length;
    const made = { service_known: `${Date.now() + 1e9}.${'x'.repeat(43)}` };
    await times(60, (i) => ask(email, [{}, made, { service_known: 'nonsense' }][i % 3]));
    const othersBrowser = await browserOf(other);
    await times(20, () => ask(email, othersBrowser));
    expect(await mailsAfterAll(email)).toHaveLength(before + 5);
    await times(20, () => ask(email, browser));
    expect(await mailsAfterAll(email)).toHaveLength(before + 10);
  });

  // Guards against: a code that becomes invalid because somebody else asks for another.
  test('leaves a code that was mailed as it is', async () => {
    const email = await newMember();
    const own = await ask(email);
    await times(20, () => ask(email));
    expect((await verify(own, await inbox.codeOf(own))).status).toBe(200);
  });

  // Guards against: finding out who is a member from the answers to many requests.
  test('learns nothing from the answers', async () => {
    const answers = await Promise.all(
      [await newMember(), 'nobody@acme.example'].map((email) => times(12, () => http.json('/login/code', { email }))),
    );
    const [known, unknown] = answers.map((all) =>
      all.map(({ status, json, setCookies }) => [status, Object.keys(json), setCookies]),
    );
    expect(known).toEqual(unknown);
  });
});

describe('who guesses', () => {
  const lockOf = (email: string, wrong: number) =>
    rows(sql`insert into login_locks (email, wrong_in_a_row) values (${email}, ${wrong})`);

  // Guards against: a lock against guessers that also keeps the owner out.
  test('locks codes of strangers, and neither the links nor the browsers of the owner', async () => {
    const email = await newMember();
    const browser = await browserOf(email);
    await lockOf(email, 99);
    const [guessed, mailed] = [await ask(email), await ask(email)];
    await verify(guessed, wrongOf(await inbox.codeOf(guessed)));
    expect(await verify(mailed, await inbox.codeOf(mailed))).toMatchObject(INVALID);
    const own = await ask(email, browser);
    expect((await verify(own, await inbox.codeOf(own))).status).toBe(200);
    await rows(sql`update login_locks set locked_until = now() + interval '15 minutes' where email = ${email}`);
    const { token } = await inbox.linkOf(mailed);
    expect((await follow(token)).status).toBe(200);
  });

  // Guards against: guesses that use up somebody else's challenge.
  test('burns the own challenge alone', async () => {
    const email = await newMember();
    const [own, guessed] = [await ask(email), await ask(email)];
    const code = await inbox.codeOf(guessed);
    await times(30, () => verify(guessed, wrongOf(code)));
    expect(await verify(guessed, code)).toMatchObject(INVALID);
    expect((await verify(own, await inbox.codeOf(own))).status).toBe(200);
  });

  // Guards against: simultaneous guesses, over many challenges, that each find the address unlocked.
  test('is stopped at a hundred, over all challenges and at once', async () => {
    const email = await newMember();
    await lockOf(email, 60);
    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 5; i++) ids.push(await ask(email));
      await rows(sql`update login_challenges set created_at = created_at - interval '2 hours' where email = ${email}`);
    }
    const codes = await Promise.all(ids.map((id) => inbox.codeOf(id)));
    await times(100, (i) => verify(itemAt(ids, i % 25), wrongOf(itemAt(codes, i % 25))));
    tried('parallel guesses at sign-in', 100);
    const [row] = await rows<{ looked: number }>(
      sql`select sum(wrong_codes)::int as looked from login_challenges where email = ${email}`,
    );
    expect(row).toEqual({ looked: 40 });
  });
});

describe('the link in a mail', () => {
  const linked = async () => {
    const email = await newMember();
    const id = await ask(email);
    return { email, id, ...(await inbox.linkOf(id)) };
  };

  // Guards against: mail programs that open the links in a mail, and a link that works twice or for two people at once.
  test('signs in once, and only when somebody says so', async () => {
    const { email, url, token } = await linked();
    for (let i = 0; i < 3; i++) {
      const page = await http.get(url.pathname + url.search);
      expect(page.status).toBe(200);
      expect(page.text).toContain(email);
      expect(page.setCookies).toEqual([]);
      expect(page.headers.get('cache-control')).toBe('no-store');
    }
    const answers = await times(30, () => follow(token));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(29);
    const page = await http.get(url.pathname + url.search);
    expect([page.status, page.text.includes(email)]).toEqual([401, false]);
  });

  // Guards against: a link to an address that a request claims to be ours, and a link that another site uses for its
  // visitors.
  test('is of this service alone', async () => {
    const email = await newMember();
    const asked = await http.json('/login/code', { email }, { headers: { 'x-forwarded-host': 'evil.example' } });
    const { url, token } = await inbox.linkOf(asked.json.challenge_id);
    expect(url.origin).toBe(BASE_URL);
    const foreign = await http.form('/login/link', { token }, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    expect((await follow(token)).status).toBe(200);
  });

  // Guards against: forged links, and expired ones.
  test('is nothing that could be made up, and ends', async () => {
    const [mine, other] = [await linked(), await linked()];
    const [id, signed] = mine.token.split('.') as [string, string];
    const [otherId] = other.token.split('.');
    for (const token of ['', id, `${id}.`, `${otherId}.${signed}`, `${id}.${'x'.repeat(43)}`, `${mine.token}.x`]) {
      expect((await follow(token)).status).toBe(401);
      expect((await http.get(`/login/link?token=${token}`)).status).toBe(401);
    }
    await rows(sql`update login_challenges set created_at = now() - interval '1 hour' where id = ${mine.id}`);
    expect(await follow(mine.token)).toMatchObject(INVALID);
    // Past its code's ten minutes it is still good.
    await rows(sql`update login_challenges set expires_at = now() where id = ${other.id}`);
    expect((await follow(other.token)).status).toBe(200);
  });

  // Guards: members of several workspaces are asked which one they want.
  test('leads to the choice of a workspace', async () => {
    await service.tenant('acc_second');
    const { email, token } = await linked();
    await addMember(service, 'second', email, 'member');
    const chosen = await http.form('/login/link', { token });
    expect(chosen.text).toContain('Choose a workspace');
    const entered = await http.form('/login/workspace', { workspace: 'acc_second' }, { cookies: chosen.cookies });
    expect(entered.status).toBe(303);
  });
});

// Guards against: counting mails that could not be sent: after five of them nobody would get one for an hour.
test('a mail that was not sent does not count', async () => {
  const store = createSignInStore(service.runtime.db);
  let isDown = true;
  const sent: string[] = [];
  const codes = createCodes({
    store,
    isMember: async () => true,
    secret: 'a secret of the tests',
    baseUrl: BASE_URL,
    log: createLog({ level: 'silent', pretty: false }),
    mailer: {
      delivery: () => '',
      async send({ text }) {
        if (isDown) throw new Problem('mail_failed');
        sent.push(text);
      },
    },
  });
  for (let i = 0; i < 10; i++) await codes.request('unlucky@acme.example', { known: false });
  await eventually(async () => {
    expect(await rows(sql`select from login_challenges where email = 'unlucky@acme.example'`)).toEqual([]);
  });
  isDown = false;
  await codes.request('unlucky@acme.example', { known: false });
  await eventually(() => expect(sent).toHaveLength(1));
});
