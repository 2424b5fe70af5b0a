/** Action links: that they answer for whom they were made, as it was seen, once; and that nothing else of them does. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { first, present } from '../../../src/platform/core/present.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { codeOf, mailbox } from '../../support/service/otp.ts';
import { addMember } from '../sign-in/people.ts';
import { answer, approve, asks, ASKER_AGENT, detailOf, makeGates, memberOf, startAtGate, untilWait } from './waits.ts';

/** Every line of the log. */
const lines: string[] = [];
const destination = {
  write(line: string) {
    mailbox.write(line);
    lines.push(line);
  },
};
let service: TestService;
let acme: Tenant;
let ana: Tenant;

const ANA = 'ana@acme.example';
const OUTSIDE = 'out@side.example';
const GATES = {
  open: { prompt: 'Is <b>this</b> good?' },
  two: { quorum: 2 },
  outside: { approvers: { emails: [OUTSIDE], members: [ANA] } },
  'four-eyes': { four_eyes: true },
  coded: { step_up: 'code' },
};

beforeAll(async () => {
  service = await startTestService({ log: createLog({ level: 'debug', pretty: false, destination }) });
  acme = await service.tenant('acc_links');
  await acme.cp('POST', '/v1/agents', ASKER_AGENT);
  await addMember(service, acme.caller.customerId, acme.caller.actor, 'owner');
  ana = await memberOf(service, acme, ANA);
  await makeGates(acme, GATES);
});
afterAll(() => service?.close());

const atGate = (name: keyof typeof GATES, by?: Tenant) => startAtGate(acme, name, by);
async function linkTo({ id: waitId, revision }: { id: string; revision: number }, recipient = ANA): Promise<string> {
  const link = await service.services.actionLinks.issue({
    customerId: acme.caller.customerId,
    waitId,
    revision,
    recipient,
  });
  return new URL(present(link).url).pathname;
}
async function visit(path: string, form?: Record<string, string>, init: RequestInit = {}) {
  const body = form && { method: 'POST', body: new URLSearchParams(form) };
  const response = await fetch(`${service.baseUrl}${path}`, { redirect: 'manual', ...body, ...init });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('a link', () => {
  // Guards: whoever was mailed it answers by it, in their name and by that way, and the audit log has it.
  test('answers in the name of its recipient, once', async () => {
    const { id, wait } = await atGate('open');
    const path = await linkTo(wait);
    const shown = await visit(path);
    expect(shown).toMatchObject({ status: 200, text: expect.stringContaining('Is &lt;b&gt;this&lt;/b&gt; good?') });
    expect(shown.text).not.toContain('<script');
    expect(Buffer.byteLength(shown.text)).toBeLessThan(15_000);
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer');
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(await visit(path, { ...approve, comment: 'Lovely' })).toMatchObject({
      status: 200,
      text: expect.stringContaining(`Thank you. Answered: approve, by ${ANA}`),
    });
    expect(await detailOf(acme, wait.id)).toMatchObject({
      status: 'settled',
      settled_by: ANA,
      settled_via: 'link',
      comment: 'Lovely',
    });
    await untilProject(acme, id, 'completed');
    const again = await visit(path, { answer: 'reject' });
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining(`Answered: approve, by ${ANA}`) });
    const rows = await service.runtime.db.rows<{ change: object }>(
      sql`select change from audit_log where actor = ${ANA} and action = 'inbox.answer' and target::text like ${`%${wait.id}%`}`,
    );
    expect(rows).toEqual([{ change: expect.objectContaining({ via: 'link' }) }]);
  });

  // Guards: what scanners and previews send, again and again, changes nothing.
  test('decides nothing by being opened', async () => {
    const { wait } = await atGate('open');
    const path = await linkTo(wait);
    for (const purpose of ['prefetch', 'prerender', 'preview']) {
      expect(await visit(path, undefined, { headers: { purpose, 'sec-purpose': purpose } })).toMatchObject({
        status: 200,
      });
    }
    expect(await visit(path, undefined, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
    expect(await visit(`${path}?answer=approve`)).toMatchObject({ status: 200 });
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'DELETE']) {
      expect((await visit(path, undefined, { method })).status).toBe(404);
    }
    expect(await visit(path, {})).toMatchObject({
      status: 400,
      text: expect.stringContaining('choose one of the answers'),
    });
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open', votes: [] });
  });

  // Guards: of answers that come at once, by link and otherwise, one counts; the page says whose.
  test('is overtaken by whoever is faster', async () => {
    const { wait } = await atGate('open');
    const [one, two] = [await linkTo(wait), await linkTo(wait, acme.caller.actor)];
    const said = await Promise.all([
      visit(one, approve),
      visit(two, { answer: 'reject' }),
      answer(acme, wait, approve),
    ]);
    const settled = await detailOf(acme, wait.id);
    expect(settled.status).toBe('settled');
    const thanked = said
      .slice(0, 2)
      .filter(({ status, ...each }) => status === 200 && 'text' in each && each.text.includes('Thank you'));
    expect(thanked.length + (said[2].status === 200 ? 1 : 0)).toBeGreaterThanOrEqual(1);
    for (const path of [one, two]) {
      expect((await visit(path)).text).toContain(`Answered: ${settled['answer']}, by ${settled['settled_by']}`);
    }
  });

  // Guards: one of several approvals is counted once, and the link has then said what it had to.
  test('is used up where others have to approve too', async () => {
    const { wait } = await atGate('two');
    const path = await linkTo(wait);
    const counted = expect.stringContaining('Your answer was counted: 1 of 2 approvals');
    expect(await visit(path, approve)).toMatchObject({ status: 200, text: counted });
    expect(await visit(path, { answer: 'reject' })).toMatchObject({ status: 200, text: counted });
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open', approvals: 1, votes: [{ via: 'link' }] });
  });

  // Guards: the rules of the gate are those of everybody.
  test('is refused what its recipient may not', async () => {
    const { wait } = await atGate('four-eyes', ana);
    const path = await linkTo(wait);
    expect(await visit(path, approve)).toMatchObject({
      status: 403,
      text: expect.stringContaining(`somebody else has to decide: ${ANA} started the project`),
    });
    const named = await atGate('outside');
    const byOwner = await linkTo(named.wait, acme.caller.actor);
    expect((await visit(byOwner)).text).toContain('Others decide here');
    expect(await visit(byOwner, approve)).toMatchObject({
      status: 403,
      text: expect.stringContaining('others decide here'),
    });
    const outside = await linkTo(named.wait, OUTSIDE);
    expect(await visit(outside, approve)).toMatchObject({
      status: 200,
      text: expect.stringContaining(`by ${OUTSIDE}`),
    });
  });

  // Guards: an answer is to what the mail told of, and to nothing that came after it.
  test('is of the revision that was mailed', async () => {
    const { wait } = await atGate('open');
    const path = await linkTo(wait);
    await service.runtime.db.rows(sql`update waits set revision = revision + 1 where id = ${wait.id}::uuid`);
    const changed = { status: 200, text: expect.stringContaining('has changed since') };
    expect(await visit(path)).toMatchObject(changed);
    expect(await visit(path, approve)).toMatchObject(changed);
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
  });

  // Guards: whoever is asked about a plan sees what it would do, action by action, on a page that stays small; and applies it there.
  test('shows a plan, and applies it', async () => {
    const { id, wait: gate } = await atGate('open');
    await answer(acme, gate, approve);
    await untilProject(acme, id, 'completed');
    await acme.cp('POST', `/v1/projects/${id}/edit-sessions`, { instruction: 'Shorter.' });
    const wait = await untilWait(acme, { project_id: id, kind: 'plan' });
    const path = await linkTo(wait);
    const { text } = await visit(path);
    const { plan } = await detailOf(acme, wait.id);
    expect(text).toContain('aria-label="The plan"');
    // It is there once, in words.
    expect(text).not.toContain('<details');
    expect(text.match(/<li><strong>/g)).toHaveLength(plan.actions.length);
    for (const { phase_slug } of plan.actions) expect(text).toContain(`<strong>${phase_slug}: `);
    expect(Buffer.byteLength(text)).toBeLessThan(15_000);
    expect(await visit(path, { answer: 'apply' })).toMatchObject({ status: 200 });
    expect(await detailOf(acme, wait.id)).toMatchObject({ answer: 'apply', settled_via: 'link', settled_by: ANA });
  });

  // Guards: a long question fills the page once, and not as its heading too.
  test('shows a long question once', async () => {
    const question = `Which of these is right? ${'Think it over. '.repeat(20)}`.trim();
    const wait = await untilWait(acme, { run_id: await asks(acme, question) });
    const { text } = await visit(await linkTo(wait));
    expect(text).toContain('<h1>Your answer is asked for</h1>');
    expect(text.split('Which of these is right?')).toHaveLength(2);
  });

  // Guards: a question of a run is answered in words, or by one of its options.
  test('answers a question', async () => {
    const runId = await asks(acme, 'Which colour?', ['red', 'blue']);
    const wait = await untilWait(acme, { run_id: runId });
    const path = await linkTo(wait);
    expect((await visit(path)).text).toContain('type="radio" name="text" value="blue"');
    expect(await visit(path, { answer: 'submit' })).toMatchObject({ status: 400 });
    expect(await visit(path, { answer: 'submit', text: 'blue' })).toMatchObject({ status: 200 });
    expect(await acme.waitForRun(runId)).toMatchObject({ output: expect.stringContaining('blue') });
  });
});

describe('a code', () => {
  const demandIn = (text: string) => present(/name="challenge_id" value="([^"]+)"/.exec(text)?.[1]);

  // Guards: where the gate asks for it, having the link is not enough; the code is for this answer, and right only once.
  test('is asked for where the gate says so', async () => {
    const { wait } = await atGate('coded');
    const path = await linkTo(wait);
    const asked = await visit(path, { ...approve, comment: 'So be it' });
    expect(asked).toMatchObject({ status: 403, text: expect.stringContaining('takes a confirmation code') });
    const challenge_id = demandIn(asked.text);
    const code = codeOf(challenge_id);
    const form = { ...approve, comment: 'So be it', challenge_id };
    const wrong = code === '000000' ? '000001' : '000000';
    expect(await visit(path, { ...form, code: wrong })).toMatchObject({
      status: 403,
      text: expect.stringContaining('not right'),
    });
    expect(await visit(path, { ...form, answer: 'reject', code })).toMatchObject({ status: 403 });
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
    expect(await visit(path, { ...form, code })).toMatchObject({
      status: 200,
      text: expect.stringContaining('Thank you'),
    });
    expect(await detailOf(acme, wait.id)).toMatchObject({ answer: 'approve', comment: 'So be it' });
  });

  // Guards: money always takes one.
  test('is asked for where it is about money', async () => {
    await makeTemplate(acme, 'poor', [phaseSpec('text', [agentStep('write')])]);
    const id = await startProject(acme, 'poor', { cost_budget_usd: '0.000001' });
    const wait = await untilWait(acme, { project_id: id, kind: 'paused' });
    const path = await linkTo(wait);
    const { text } = await visit(path);
    expect(text).toContain('<h1>The project has stopped</h1>');
    expect(text).toContain('What it may spend is used up, or would be by its next step.');
    const form = { answer: 'raise_budget', raise_by_usd: '5' };
    const asked = await visit(path, form);
    expect(asked.status).toBe(403);
    const challenge_id = demandIn(asked.text);
    expect(await visit(path, { ...form, challenge_id, code: codeOf(challenge_id) })).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });
});

describe('a token', () => {
  const gone = { status: 404, text: expect.stringContaining('not good any more') };

  // Guards: none of what is not a good link answers, and all of it looks the same.
  test('that is altered, expired, withdrawn or nobody any more is none', async () => {
    const { db } = service.runtime;
    const { wait } = await atGate('open');
    const path = await linkTo(wait);
    const [random = '', signature = ''] = path.slice('/act/'.length).split('.');
    const other = `${random.slice(1)}A`;
    const texts = new Set<string>();
    const refused = async (address: string) => {
      for (const form of [undefined, approve]) {
        const answered = await visit(address, form);
        expect(answered).toMatchObject(gone);
        texts.add(answered.text.replaceAll(/nonce="[^"]+"/g, ''));
      }
    };
    for (const token of [
      `${other}.${signature}`,
      `${random}.${signature.slice(1)}A`,
      random,
      `${random}.`,
      `${path.slice(5)}.x`,
      'x'.repeat(500),
    ]) {
      await refused(`/act/${token}`);
    }
    await db.rows(sql`update action_links set expires_at = now()`);
    await refused(path);
    const withdrawn = await linkTo(wait);
    expect(await acme.cp('DELETE', `/v1/inbox/${wait.id}/links`)).toMatchObject({ status: 204 });
    await refused(withdrawn);
    await addMember(service, acme.caller.customerId, 'gone@acme.example', 'member');
    const removed = await linkTo(wait, 'gone@acme.example');
    expect((await visit(removed)).status).toBe(200);
    await db.rows(sql`delete from workspace_members where email = 'gone@acme.example'`);
    await refused(removed);
    // Come back, they are sent new ones.
    await addMember(service, acme.caller.customerId, 'gone@acme.example', 'member');
    await refused(removed);
    await refused(await linkTo(wait, 'nobody@acme.example'));
    await addMember(service, acme.caller.customerId, 'looks@acme.example', 'viewer');
    await refused(await linkTo(wait, 'looks@acme.example'));
    expect(texts.size).toBe(1);
    expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
  });

  // Guards: links of one workspace are not another's to withdraw, nor made for its waits.
  test('is of its workspace', async () => {
    const globex = await service.tenant('acc_globex_links');
    const { wait } = await atGate('open');
    const path = await linkTo(wait);
    expect(await globex.cp('DELETE', `/v1/inbox/${wait.id}/links`)).toMatchObject({ status: 404 });
    expect((await visit(path)).status).toBe(200);
    const { actionLinks } = service.services;
    const foreign = { customerId: globex.caller.customerId, waitId: wait.id, revision: 1, recipient: ANA };
    expect(await actionLinks.issue(foreign)).toBeUndefined();
  });

  // Guards: it is kept and logged nowhere.
  test('is in no row and no line of the log', async () => {
    const { wait } = await atGate('open');
    const path = await linkTo(wait);
    await visit(path);
    await visit(path, approve);
    const token = path.slice('/act/'.length);
    const { db } = service.runtime;
    const links = await db.rows<{ row: string }>(sql`select to_jsonb(l)::text as row from action_links l`);
    const audit = await db.rows<{ row: string }>(sql`select to_jsonb(a)::text as row from audit_log a`);
    const random = first(token.split('.'));
    for (const text of [...links, ...audit].map(({ row }) => row)) expect(text).not.toContain(random);
    expect(lines.filter((line) => line.includes(random))).toEqual([]);
  });
});

// Guards: a flood is turned away before it is looked at, whether the link exists or not.
test('too many requests for one link are turned away', async () => {
  const path = `/act/${'x'.repeat(32)}.${'y'.repeat(43)}`;
  const statuses = await Promise.all(Array.from({ length: 70 }, async () => (await visit(path)).status));
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  expect(statuses.filter((status) => status === 404)).toHaveLength(60);
});
