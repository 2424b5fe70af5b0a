/** Limits on action links: that the bearer of one uses up nothing that another link, a member or a client needs. */
import { request as httpRequest } from 'node:http';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { codeOf, demandIn, otpHeaders } from '../../support/service/otp.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { approve, makeGates, startAtGate } from './waits.ts';

const OUTSIDE = 'out@side.example';

let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  service = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
  acme = await service.tenant('acc_limits');
  await makeGates(acme, { coded: { step_up: 'code', approvers: { emails: [OUTSIDE], members: [acme.caller.actor] } } });
});
afterAll(() => service?.close());

async function newLink(): Promise<string> {
  const { wait } = await startAtGate(acme, 'coded');
  const { customerId } = acme.caller;
  const link = { customerId, waitId: wait.id, revision: wait.revision, recipient: OUTSIDE };
  return new URL(present(await service.services.actionLinks.issue(link)).url).pathname;
}

/** `fetch` would write the path anew. @returns what the gateway answers to a path as it stands */
const visit = (path: string, { client = '192.0.2.1', form }: { client?: string; form?: Record<string, string> } = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(service.baseUrl);
    const headers = { 'x-forwarded-for': client, 'content-type': 'application/x-www-form-urlencoded' };
    const asked = httpRequest({ hostname, port, path, method: form ? 'POST' : 'GET', headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: present(response.statusCode), text: Buffer.concat(parts).toString('utf8') }),
      );
    });
    asked.on('error', reject);
    asked.end(form && new URLSearchParams(form).toString());
  });
const challengeIn = (text: string) => present(/name="challenge_id" value="([^"]+)"/.exec(text)?.[1], 'a challenge');
let clients = 0;
/** Each request comes from another client, so that the limit of one does not hide the one that is tried. */
const answer = (path: string, form: Record<string, string> = {}) =>
  visit(path, { client: `198.51.100.${++clients % 250}`, form: { ...approve, ...form } });

/** A change of a member that takes a code. */
const put = (headers?: Record<string, string>) =>
  acme.cp('PUT', '/v1/integrations/smtp/credentials/password', { value: 'word' }, headers);

describe('the code of an answer by link', () => {
  // Guards against: an outsider whose wrong codes lock the gate of the workspace, or use up its mails.
  test('is guessed at by its link, and locks its link alone', async () => {
    const { challenge_id: owners } = demandIn(await put());
    const [guessed, other] = [await newLink(), await newLink()];
    const { text } = await answer(guessed);
    const guess = async (challenge_id: string) => {
      const code = codeOf(challenge_id) === '000000' ? '000001' : '000000';
      return (await answer(guessed, { challenge_id, code })).text;
    };
    const again = await guess(challengeIn(text));
    // A hundred at 60 a minute would take two.
    await service.runtime.db.rows(sql`update otp_holder_locks set wrong_in_a_row = 99 where wrong_in_a_row = 1`);
    await guess(challengeIn(again));
    expect((await answer(guessed)).text).toContain('otp_locked');
    const asked = await answer(other);
    const challenge_id = challengeIn(asked.text);
    expect((await answer(other, { challenge_id, code: codeOf(challenge_id) })).text).toContain('Thank you');
    expect((await put(otpHeaders(owners))).status).toBeLessThan(300);
  });

  // Guards against: outsiders whose answers end the codes that members, or other outsiders, have open.
  test('ends no code of anybody else', async () => {
    const { challenge_id: owners } = demandIn(await put());
    const kept = await newLink();
    const open = challengeIn((await answer(kept)).text);
    for (let links = 0; links < 2; links++) {
      const path = await newLink();
      for (let asked = 0; asked < 5; asked++) expect((await answer(path)).status).toBe(403);
      // It has had all the mails that a link may have.
      expect((await answer(path)).text).toContain('otp_mail_limit');
    }
    expect((await answer(kept, { challenge_id: open, code: codeOf(open) })).text).toContain('Thank you');
    expect((await put(otpHeaders(owners))).status).toBeLessThan(300);
  });

  // Guards against: a code of one link, or of a member, that confirms by another one.
  test('confirms by its own link alone', async () => {
    const [one, two] = [await newLink(), await newLink()];
    const challenge_id = challengeIn((await answer(one)).text);
    expect((await answer(two, { challenge_id, code: codeOf(challenge_id) })).text).not.toContain('Thank you');
    expect((await put(otpHeaders(challenge_id))).status).toBe(403);
    expect((await answer(one, { challenge_id, code: codeOf(challenge_id) })).text).toContain('Thank you');
  });
});

describe('requests', () => {
  /** Ways to write one path: each character of the token can stand for itself or be percent-encoded in two ways. */
  function spelling(token: string, seed: number): string {
    const at = seed % token.length;
    const hex = token.charCodeAt(at).toString(16);
    return `/act/${token.slice(0, at)}%${seed % 2 ? hex : hex.toUpperCase()}${token.slice(at + 1)}${seed % 3 ? '' : '/'}`;
  }

  // Guards against: a limit on the text of an address, of which there are many for one link.
  test('for one link are counted together, however its address is written', async () => {
    const token = (await newLink()).slice('/act/'.length);
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, seed) => visit(spelling(token, seed), { client: `203.0.113.${seed}` })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    // Others go on meanwhile.
    expect((await visit(await newLink())).status).toBe(200);
  });

  const token = (n: number) => `/act/${'x'.repeat(31)}${n}.${'y'.repeat(43)}`;
  const flood = (clientOf: (n: number) => string) =>
    Promise.all(Array.from({ length: 310 }, (_, n) => visit(token(n), { client: clientOf(n) })));

  // Guards against: one count for all who come through a proxy, and clients that name themselves.
  test.each([
    ['one address', () => '192.0.2.7'],
    ['one address, with what the client wrote before it', (n: number) => `10.0.0.${n % 250}, 192.0.2.8`],
    ['one network of IPv6', (n: number) => `2001:db8:1:1::${n.toString(16)}`],
    ['one address, mapped or not', (n: number) => (n % 2 ? '::ffff:192.0.2.9' : '192.0.2.9')],
  ])('of a client are counted together: %s', async (_name, clientOf) => {
    const answers = await flood(clientOf);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    expect((await visit(token(0), { client: '192.0.2.250' })).status).toBe(404);
    expect((await visit(token(0), { client: '2001:db8:1:2::1' })).status).toBe(404);
  });

  test('of many clients are not', async () => {
    const answers = await flood((n) => `203.0.${n % 200}.${Math.floor(n / 200)}`);
    expect(answers.filter(({ status }) => status === 429)).toEqual([]);
  });

  // Guards against: a header that is believed without having been asked for.
  test('of clients that name themselves are counted by their connection', async () => {
    const untrusting = await startTestService({ worker: false });
    try {
      const paths = Array.from({ length: 310 }, (_, n) => n);
      const answers = await Promise.all(
        paths.map((n) =>
          fetch(`${untrusting.baseUrl}${token(n)}`, { headers: { 'x-forwarded-for': `203.0.113.${n % 250}` } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    } finally {
      await untrusting.close();
    }
  });
});
