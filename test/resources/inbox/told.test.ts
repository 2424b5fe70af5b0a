/** What the world is told of waits: opened, reminded of, settled, each once, to those who subscribed and to nobody else. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { OUTPUT_WEBHOOKS } from '../../../src/resources/output-destinations/events/contract.ts';
import { addressNotices } from '../../../src/resources/output-destinations/store/notices.ts';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import { startProject, untilProject } from '../../support/fixtures/projects.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { startWebhookReceiver, type Script, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { answer, asks, ASKER_AGENT, detailOf, makeGates, memberOf, personOf, untilWait } from './waits.ts';

const SECRET = 'a secret of sixteen characters';
const [ANA, BOB] = ['ana@acme.example', 'bob@acme.example'];

let service: TestService;
let receiver: WebhookReceiver;
let mail: MailServer;
let script: Script;
let tenant: Tenant;
let tenants = 0;

beforeAll(async () => {
  [receiver, mail] = await Promise.all([startWebhookReceiver((request) => script(request)), startMailServer()]);
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '10ms',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}?tls.rejectUnauthorized=false`,
      BASE_URL: 'https://agents.example.com',
    },
  });
});
beforeEach(async () => {
  script = () => 200;
  receiver.received.length = 0;
  mail.mails.length = 0;
  tenant = await service.tenant(`acc_told${++tenants}`);
  await tenant.cp('POST', '/v1/agents', ASKER_AGENT);
  for (const email of [ANA, BOB]) await memberOf(service, tenant, email);
  const late = { approvers: { members: [ANA] }, due_in_s: 1, escalate_to: { members: [BOB] } };
  await makeGates(tenant, { asked: { prompt: 'Is it good?', approvers: { members: [ANA] } }, late });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([receiver?.close(), mail?.close()]);
});

async function subscribe(kind: string, config: object, more: object = {}): Promise<void> {
  const body = { name: `To ${kind}`, kind, config, waits: true, artifacts: false, ...more };
  const made = await tenant.cp('POST', '/v1/output-destinations', body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
}
const deliveriesOf = () =>
  service.runtime.db.rows<{ notice: string; nth: number; recipient: string | null; status: string }>(sql`
    select notice, nth, recipient, status from output_deliveries where customer_id = ${tenant.caller.customerId} order by id`);
/** Starts what is due, as housekeeping does, until so many are delivered. */
const untilTold = (count: number) =>
  eventually(async () => {
    await service.services.destinations.startDue(UNHURRIED);
    const rows = await deliveriesOf();
    expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 'delivered'));
    return rows;
  });
/** Of one recipient, oldest first, as they are read. */
const mailsTo = (email: string) =>
  mail.mails
    .filter(({ to }) => to.includes(email))
    .map(({ text }) => ({
      subject: present(/^Subject: (.*)\r$/m.exec(text)?.[1]),
      messageId: present(/^Message-ID: (.*)\r$/m.exec(text)?.[1]),
      text: text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='),
    }));
const linkIn = (text: string): string => new URL(present(/https:\S+\/act\/\S+/.exec(text))[0]).pathname;
const as = (email: string) => personOf(service, tenant, email);
const received = () =>
  receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> });

describe('a destination with waits', () => {
  // Guards: a program hears of each thing once, signed, with the wait and the revision that an answer has to name.
  test('is told by a signed request what is opened, reminded of and settled', async () => {
    await subscribe('webhook', { url: receiver.url, secret: SECRET });
    const id = await startProject(tenant, 'asked');
    const wait = await untilWait(tenant, { project_id: id });
    await untilTold(1);
    await as(BOB).cp('POST', `/v1/inbox/${wait.id}/remind`);
    await untilTold(2);
    await answer(as(ANA), wait, { answer: 'approve' });
    await untilProject(tenant, id, 'completed');
    await untilTold(3);
    const about = { wait_id: wait.id, revision: wait.revision, project_id: id, title: 'Is it good?', kind: 'gate' };
    expect(received()).toMatchObject([
      {
        type: 'wait.opened',
        data: { ...about, status: 'open', url: `https://agents.example.com/console/inbox/${wait.id}` },
      },
      { type: 'wait.reminder', data: { ...about, nth: 1 } },
      { type: 'wait.settled', data: { ...about, status: 'settled', answer: 'approve', settled_by: ANA } },
    ]);
    for (const { headers, body } of receiver.received) {
      expect(verifyWebhook(SECRET, String(headers['x-service-signature']), body)).toBe(true);
      expect(headers['x-service-delivery']).toBe(JSON.parse(body).data.delivery_id);
    }
    expect((await tenant.cp('GET', '/v1/output-destinations/deliveries')).body.data).toMatchObject([
      { notice: 'settled', wait_id: wait.id, artifact_id: null },
      { notice: 'reminder' },
      { notice: 'opened' },
    ]);
  });

  // Guards: once nobody answered in time, programs hear of it, those who may answer from then on are mailed a link of their own that
  // answers, and it is told of once; each of the bodies is as the OpenAPI document says.
  test('is told what has escalated', async () => {
    await subscribe('webhook', { url: receiver.url, secret: SECRET });
    await subscribe('email', { to: [ANA], approvers: true });
    const id = await startProject(tenant, 'late');
    const wait = await untilWait(tenant, { project_id: id });
    await eventually(async () => {
      expect(await detailOf(tenant, wait.id)).toMatchObject({ escalated_at: expect.any(String) });
    });
    // Opened: the program and the approver. Escalated: the program, the approver, and whom it escalated to.
    await untilTold(5);
    expect(
      (await deliveriesOf())
        .filter(({ notice }) => notice === 'escalated')
        .map(({ recipient }) => recipient)
        .toSorted(),
    ).toEqual([ANA, BOB, null]);
    expect(
      mailsTo(ANA)
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual([expect.stringMatching(/^Overdue, and waits/), expect.stringMatching(/^Waits for an answer/)]);
    const link = linkIn(present(mailsTo(BOB)[0]).text);
    const body = new URLSearchParams({ answer: 'approve' });
    expect((await fetch(`${service.baseUrl}${link}`, { method: 'POST', body })).status).toBe(200);
    await untilProject(tenant, id, 'completed');
    await untilTold(7);
    // Each by a workflow of its own, in any order.
    const types = received().map(({ type }) => type);
    expect(types.toSorted()).toEqual(['wait.escalated', 'wait.opened', 'wait.settled']);
    expect(received()[types.indexOf('wait.settled')]).toMatchObject({ data: { answer: 'approve', settled_by: BOB } });
    for (const { headers, body: posted } of receiver.received) {
      const event = present(Object.values(OUTPUT_WEBHOOKS).find((each) => each.event === headers['x-service-event']));
      expect(event.body.parse(JSON.parse(posted))).toEqual(JSON.parse(posted));
      expect(event.headers.safeParse(headers)).toMatchObject({ success: true });
    }
  });

  // Guards: a channel gets a button that leads to the inbox, and texts that are no markup of its own.
  test('is told by Slack', async () => {
    await subscribe('slack', { webhook_url: receiver.url });
    const runId = await asks(tenant, 'Is <!channel> & *this* right?');
    const wait = await untilWait(tenant, { run_id: runId });
    await untilTold(1);
    expect(JSON.parse(present(receiver.received[0]).body)).toMatchObject({
      text: 'Waits for an answer: Is &lt;!channel&gt; &amp; *this* right?',
      blocks: [
        {},
        { type: 'actions', elements: [{ type: 'button', url: `https://agents.example.com/console/inbox/${wait.id}` }] },
      ],
    });
    await tenant.cp('POST', `/v1/runs/${runId}/cancel`);
    await tenant.waitForRun(runId);
    await untilTold(2);
    expect(JSON.parse(present(receiver.received[1]).body)).toMatchObject({
      text: expect.stringMatching(/^Waits no more: /),
    });
  });

  // Guards: approvers are mailed, each by themselves, with a link of their own that answers; others only where they are named.
  test('mails approvers a link of their own', async () => {
    await subscribe('email', { to: [BOB], approvers: true });
    const id = await startProject(tenant, 'asked');
    const wait = await untilWait(tenant, { project_id: id });
    await untilTold(2);
    const mailTo = (email: string) => {
      const { text } = present(mail.mails.find(({ to }) => to.includes(email)));
      return text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
    };
    expect(mail.mails.map(({ to }) => to).toSorted()).toEqual([[ANA], [BOB]]);
    expect(mailTo(ANA)).toContain('Waits for an answer: Is it good?');
    expect(mailTo(BOB)).toContain(`Look, and answer: https://agents.example.com/console/inbox/${wait.id}`);
    const link = new URL(present(/https:\S+\/act\/\S+/.exec(mailTo(ANA)))[0]);
    expect((await fetch(`${service.baseUrl}${link.pathname}`)).status).toBe(200);
    expect(await detailOf(tenant, wait.id)).toMatchObject({ status: 'open' });
    const body = new URLSearchParams({ answer: 'approve' });
    expect((await fetch(`${service.baseUrl}${link.pathname}`, { method: 'POST', body })).status).toBe(200);
    await untilProject(tenant, id, 'completed');
    // Whoever settled it knows.
    await untilTold(3);
    expect(mail.mails.slice(2)).toMatchObject([{ to: [BOB], text: expect.stringContaining(`Answered: Is it good?`) }]);
  });
});

describe('each is told', () => {
  // Guards: an attempt that fails, or whose report is lost, is made again under the same id; however often it is started it is one.
  test('once, over failures and repeated starts', async () => {
    await subscribe('webhook', { url: receiver.url });
    let calls = 0;
    script = () => (++calls < 3 ? 503 : 200);
    const id = await startProject(tenant, 'asked');
    const wait = await untilWait(tenant, { project_id: id });
    await Promise.all([1, 2, 3].map(() => service.services.destinations.startDue(UNHURRIED)));
    await untilTold(1);
    expect(new Set(received().map(({ data }) => data['delivery_id'])).size).toBe(1);
    expect(calls).toBe(3);
    await service.runtime.db.rows(sql`update waits set reminders = reminders where id = ${wait.id}::uuid`);
    expect(await deliveriesOf()).toHaveLength(1);
  });

  // Guards: of a mail that was taken and whose report was lost a mail program sees one: the second has the Message-ID of the first.
  // Both have a link that answers, and a reminder is another mail.
  test('by one mail, as far as mail servers can tell', async () => {
    await subscribe('email', { to: [ANA] });
    const wait = await untilWait(tenant, { project_id: await startProject(tenant, 'asked') });
    await untilTold(1);
    // As the process leaves it that dies when the server has taken the mail, and before it can say so.
    await service.runtime.db.rows(sql`
      update output_deliveries set status = 'pending', completed_at = null, due_at = now(), redeliveries = redeliveries + 1
      where wait_id = ${wait.id}::uuid`);
    await untilTold(1);
    const [one, two] = mailsTo(ANA);
    expect(present(two).messageId).toBe(present(one).messageId);
    expect(present(two).subject).toBe(present(one).subject);
    for (const { text } of mailsTo(ANA)) expect((await fetch(`${service.baseUrl}${linkIn(text)}`)).status).toBe(200);
    await as(BOB).cp('POST', `/v1/inbox/${wait.id}/remind`);
    await untilTold(2);
    expect(new Set(mailsTo(ANA).map(({ messageId }) => messageId)).size).toBe(2);
    expect(mailsTo(ANA)).toHaveLength(3);
  });

  // Guards: whoever opens a wait, which holds its project, looks up nobody: it writes one row a destination, whatever the number of
  // members. They are looked up later, as those who could answer when it was opened, each once, whenever a process dies meanwhile.
  test('by those who are looked up after it was opened', async () => {
    await subscribe('email', { to: [BOB], approvers: true });
    const wait = await untilWait(tenant, { project_id: await startProject(tenant, 'late') });
    expect(await deliveriesOf()).toMatchObject([{ notice: 'opened', recipient: null, status: 'pending' }]);
    await eventually(async () => {
      expect(await detailOf(tenant, wait.id)).toMatchObject({ escalated_at: expect.any(String) });
    });
    const { db } = service.runtime;
    const undone = db.transaction(async () => {
      await addressNotices(db);
      expect((await deliveriesOf()).every(({ recipient }) => recipient !== null)).toBe(true);
      throw new Error('the process dies');
    });
    await expect(undone).rejects.toThrow('the process dies');
    await Promise.all([addressNotices(db), addressNotices(db)]);
    const told = (await untilTold(4)).map(({ notice, recipient }) => `${notice} ${recipient}`);
    expect(told.toSorted()).toEqual([`escalated ${ANA}`, `escalated ${BOB}`, `opened ${ANA}`, `opened ${BOB}`]);
    await answer(as(ANA), wait, { answer: 'approve' });
    expect((await untilTold(5)).at(-1)).toMatchObject({ notice: 'settled', recipient: BOB });
  });

  // Guards: an owner who has a session and no row of members, as of a workspace that is older than members, is mailed a link that
  // answers once they ask for mails; whoever was taken out does not come back by that.
  test('as an owner who was never added', async () => {
    const owner = tenant.caller.actor;
    await subscribe('email', { to: [owner], approvers: true });
    const runId = await asks(tenant, 'Which colour?');
    await untilTold(3);
    const link = linkIn(present(mailsTo(owner)[0]).text);
    const body = new URLSearchParams({ answer: 'submit', text: 'blue' });
    expect((await fetch(`${service.baseUrl}${link}`, { method: 'POST', body })).status).toBe(200);
    expect(await tenant.waitForRun(runId)).toMatchObject({ output: expect.stringContaining('blue') });
    const { customerId } = tenant.caller;
    const { rows } = service.runtime.db;
    await rows(sql`delete from workspace_members where customer_id = ${customerId} and email = ${owner}`);
    await rows(sql`insert into former_members (customer_id, email) values (${customerId}, ${owner})`);
    await service.services.members.recordOwner(tenant.caller);
    expect(
      await rows(sql`select from workspace_members where customer_id = ${customerId} and email = ${owner}`),
    ).toEqual([]);
  });

  // Guards: what is not committed is told to nobody: the delivery is of the statement that opens or settles.
  test('if, and only if, it happened', async () => {
    await subscribe('webhook', { url: receiver.url });
    const wait = await untilWait(tenant, { project_id: await startProject(tenant, 'asked') });
    const { db } = service.runtime;
    const undone = db.transaction(async () => {
      await db.rows(sql`update waits set settled_at = now() where id = ${wait.id}::uuid`);
      expect((await deliveriesOf()).map(({ notice }) => notice)).toEqual(['opened', 'settled']);
      throw new Error('the process dies');
    });
    await expect(undone).rejects.toThrow('the process dies');
    expect((await deliveriesOf()).map(({ notice }) => notice)).toEqual(['opened']);
  });

  // Guards: to its own workspace, of the workflows that are wanted, and only where waits are.
  test('to whom it concerns', async () => {
    await subscribe('webhook', { url: receiver.url }, { workflow_slugs: ['another'] });
    await subscribe('slack', { webhook_url: receiver.url }, { waits: false, artifacts: true });
    const mine = tenant;
    tenant = await service.tenant(`acc_told${++tenants}`);
    await subscribe('webhook', { url: receiver.url });
    await untilWait(mine, { project_id: await startProject(mine, 'asked') });
    expect(await deliveriesOf()).toEqual([]);
    tenant = mine;
    expect(await deliveriesOf()).toEqual([]);
    const s3 = { region: 'eu-1', bucket: 'files', access_key_id: 'k', secret_access_key: 's' };
    await expect(subscribe('s3', s3)).rejects.toThrow();
  });
});
