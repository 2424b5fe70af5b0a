/** Artifacts by mail: only to members and to those who have said that they want them, and never without end. */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, itemAt } from '../../../src/platform/core/present.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { tried } from '../../support/runner/sizes.ts';
import { addMember, client, linkIn } from '../sign-in/people.ts';

const MAILS_PER_DAY = 12;
const BASE_URL = 'https://agents.example.com';
const QUESTION = 'Subject: Do you want to be sent artifacts by mail?';

let service: TestService;
let mail: MailServer;
let http: ReturnType<typeof client>;
let tenant: Tenant;
let member: string;
let stranger: string;
let tenants = 0;

beforeAll(async () => {
  mail = await startMailServer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('full') ? new Error('the box is full') : null),
  });
  service = await startTestService({
    env: {
      BASE_URL,
      OUTPUT_MAILS_PER_DAY: String(MAILS_PER_DAY),
      WEBHOOK_RETRY_INITIAL: '10ms',
      SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}?tls.rejectUnauthorized=false`,
    },
  });
  http = client(service);
});
afterAll(async () => {
  await service?.close();
  await mail?.close();
});
beforeEach(async () => {
  mail.mails.length = 0;
  await newWorkspace();
  stranger = `stranger${tenants}@example.com`;
});

async function newWorkspace(): Promise<void> {
  tenant = await service.tenant(`acc_mails${++tenants}`);
  member = `member${tenants}@example.com`;
  await addMember(service, tenant.caller.customerId, member, 'member');
}

const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const create = async (to: string[], name = 'canary-name of a destination') =>
  (await tenant.cp('POST', '/v1/output-destinations', { name, kind: 'email', config: { to } })).body;
const destination = async (id: string) => (await tenant.cp('GET', `/v1/output-destinations/${id}`)).body;
const change = (id: string, to: string[]) => tenant.cp('PATCH', `/v1/output-destinations/${id}`, { config: { to } });
const remove = (id: string) => tenant.cp('DELETE', `/v1/output-destinations/${id}`);
const testOf = async (id: string) => (await tenant.cp('POST', `/v1/output-destinations/${id}/test`)).body;
const deliveries = async () => (await tenant.cp('GET', '/v1/output-destinations/deliveries')).body.data;
const settled = () =>
  eventually(async () => {
    const [delivery] = await deliveries();
    expect(delivery).toBeDefined();
    expect(delivery.status).not.toBe('pending');
    return delivery;
  });

/** As a mail program shows it. */
const shown = (text: string) => text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
const questions = () => mail.mails.filter(({ text }) => text.includes(QUESTION));
const artifacts = () => mail.mails.filter(({ text }) => !text.includes(QUESTION));
const questionTo = (email: string) =>
  eventually(() => {
    const found = questions().filter(({ to }) => to.includes(email));
    expect(found).toHaveLength(1);
    return { text: shown(first(found).text), ...linkIn(shown(first(found).text)) };
  });
const pageOf = (token: string) => http.get(`/outputs/confirm?token=${token}`);
const say = (token: string, answer: string) => http.form('/outputs/confirm', { token, answer });

async function completeProject(): Promise<string> {
  await makeTemplate(tenant, 'bread', [phaseSpec('story', [agentStep('write')])]);
  const id = await startProject(tenant, 'bread', { title: 'canary-title' });
  await untilProject(tenant, id, 'completed');
  return id;
}

describe('somebody who is no member', () => {
  // Guards against: a tenant's content in the mailbox of anybody. Members get it at once; an outsider who confirms gets
  // what was held back.
  test('is asked, and sent nothing before it has said yes', async () => {
    const { id, recipients } = await create([member.toUpperCase(), stranger]);
    expect(recipients).toEqual([
      { email: member, state: 'member' },
      { email: stranger, state: 'waiting' },
    ]);
    const { text, url, token } = await questionTo(stranger);
    expect(url.origin).toBe(BASE_URL);
    // Nothing in the question is a tenant's to write.
    expect(text).not.toContain('canary');
    await completeProject();
    expect(await settled()).toMatchObject({ status: 'delivered', last_error: null, withheld_from: [stranger] });
    expect(artifacts().map(({ to }) => to.join().toLowerCase())).toEqual([member]);

    // Whoever opens links by itself has decided nothing.
    for (let i = 0; i < 3; i++) {
      const page = await pageOf(token);
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page.text).toContain(stranger);
    }
    expect((await destination(id)).recipients[1].state).toBe('waiting');

    expect((await say(token, 'confirmed')).status).toBe(200);
    expect((await destination(id)).recipients[1]).toEqual({ email: stranger, state: 'confirmed' });
    await eventually(() => expect(artifacts()).toHaveLength(2));
    expect(itemAt(artifacts(), 1).to).toEqual([stranger]);
    expect(await settled()).toMatchObject({ status: 'delivered', withheld_from: [], redeliveries: 1 });
    // Said again, nothing is sent again; what comes is sent to both.
    await say(token, 'confirmed');
    const [{ id: deliveryId }] = await deliveries();
    await tenant.cp('POST', `/v1/output-destinations/deliveries/${deliveryId}/redeliver`);
    await eventually(() => expect(artifacts()).toHaveLength(3));
    expect(itemAt(artifacts(), 2).to).toHaveLength(2);
  });

  // Guards against: a delivery without a recipient who may get it being lost. Its reason is clear, and a test of the
  // destination gives the same one.
  test('holds a delivery back that is for nobody else', async () => {
    const { id } = await create([stranger]);
    await completeProject();
    const delivery = await settled();
    const reason = `waits for recipients to confirm by the link that they were mailed: ${stranger}`;
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1, last_error: reason, withheld_from: [stranger] });
    // It is not paused for people who take their time.
    expect(await destination(id)).toMatchObject({ enabled: true, failing_since: null });
    expect(await testOf(id)).toMatchObject({ delivered: false, error: reason });
    expect(artifacts()).toEqual([]);
    await say((await questionTo(stranger)).token, 'confirmed');
    await eventually(async () => expect((await deliveries())[0].status).toBe('delivered'));
    expect(artifacts().map(({ to }) => to)).toEqual([[stranger]]);
    expect(await testOf(id)).toMatchObject({ delivered: true, error: null });
  });

  // Guards against: a refusal without effect, or one that the workspace gets around by asking again or by making the
  // person a member.
  test('is sent nothing when it says no', async () => {
    const { id } = await create([stranger]);
    const { token } = await questionTo(stranger);
    expect((await say(token, 'refused')).status).toBe(200);
    expect((await destination(id)).recipients).toEqual([{ email: stranger, state: 'refused' }]);
    await change(id, [stranger, member]);
    await addMember(service, tenant.caller.customerId, stranger, 'member');
    expect(await testOf(id)).toMatchObject({ delivered: true });
    expect(artifacts().map(({ to }) => to)).toEqual([[member]]);
    await change(id, [stranger]);
    expect(await testOf(id)).toMatchObject({ delivered: false, error: 'no recipient wants it: all have refused' });
    expect(questions()).toHaveLength(1);
  });

  // Guards: a recipient who confirms at the moment in which mail is held back for them still gets it.
  test('is not forgotten when it confirms while a delivery is under way', async () => {
    await create([stranger]);
    await completeProject();
    await settled();
    const [{ id: deliveryId, redeliveries: redelivery }] = await deliveries();
    // Its workflow records the end too, and is not to do so after this.
    const { workflow } = service.runtime.temporal.client;
    await workflow
      .getHandle(`output-${deliveryId}`)
      .result()
      .catch(() => {});
    await rows(sql`update output_deliveries set status = 'pending', completed_at = null, withheld_from = '{}',
      due_at = now() + interval '1 hour' where id = ${deliveryId}`);
    await say((await questionTo(stranger)).token, 'confirmed');
    await service.services.outputs.store.recordDelivered({ deliveryId, redelivery }, [stranger]);
    expect((await deliveries())[0]).toMatchObject({ status: 'pending', redeliveries: redelivery + 1 });
    // Housekeeping does not take it for one that was looked at just now.
    expect(
      await rows(sql`select due_at < now() + interval '1 minute' as soon from output_deliveries
      where id = ${deliveryId}`),
    ).toEqual([{ soon: true }]);
    await service.services.destinations.startRecorded([deliveryId]);
    await eventually(() => expect(artifacts().map(({ to }) => to)).toEqual([[stranger]]));
  });
});

describe('a link', () => {
  // Guards against: forged confirmations, and ones that outlive what they were given for.
  test('is good for one address of one destination, for as long as it is there', async () => {
    const { id } = await create([stranger]);
    const { token } = await questionTo(stranger);
    const [recipient, exp, signed] = token.split('.') as [string, string, string];
    const later = String(Number(exp) + 1);
    for (const bad of ['', 'x', recipient, `${recipient}.${later}.${signed}`, `${recipient}.${exp}.x`, `${token}.x`]) {
      expect((await pageOf(bad)).status).toBe(404);
      expect((await say(bad, 'confirmed')).status).toBe(404);
      tried('made-up links');
    }
    expect((await say(token, 'perhaps')).status).toBe(400);
    expect((await destination(id)).recipients[0].state).toBe('waiting');

    await say(token, 'confirmed');
    await change(id, [member]);
    expect((await pageOf(token)).status).toBe(404);
    await change(id, [member, stranger]);
    expect((await destination(id)).recipients[1]).toEqual({ email: stranger, state: 'waiting' });
    expect((await say(token, 'confirmed')).status).toBe(404);
    await remove(id);
    expect((await pageOf(token)).status).toBe(404);
  });

  // Guards against: links that stay valid for ever.
  test('is good for a week', async () => {
    await create([stranger]);
    const { token } = await questionTo(stranger);
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + 7 * 24 * 3_600_000);
    try {
      expect((await say(token, 'confirmed')).status).toBe(404);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('mails', () => {
  // Guards against: unlimited content, also by simultaneous deliveries and by tests.
  test('are limited for a workspace and day', async () => {
    const { id } = await create([member]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => testOf(id)));
    tried('mails at once', answers.length);
    expect(answers.filter(({ delivered }) => delivered)).toHaveLength(MAILS_PER_DAY);
    expect(artifacts()).toHaveLength(MAILS_PER_DAY);
    expect(answers.find(({ delivered }) => !delivered).error).toMatch(/^the workspace may have 12 mails sent in a day/);
    await completeProject();
    expect(await settled()).toMatchObject({ status: 'failed', last_error: expect.stringContaining('in a day') });
    await rows(sql`update output_mail_counts set day = day - 1`);
    const [delivery] = await deliveries();
    await tenant.cp('POST', `/v1/output-destinations/deliveries/${delivery.id}/redeliver`);
    await eventually(async () => expect((await deliveries())[0].status).toBe('delivered'));
  });

  // Guards against: confirmation mails as a way to write to anybody: repeatedly to one person, from many workspaces, or
  // to many people.
  test('are few also where they only ask', async () => {
    for (let i = 0; i < 6; i++) {
      const { id } = await create([stranger]);
      await service.services.destinations.askNeverAsked();
      await remove(id);
      tried('questions to one address');
    }
    await eventually(() => expect(questions()).toHaveLength(2));
    for (let i = 0; i < 6; i++) {
      await newWorkspace();
      await create([stranger]);
      await service.services.destinations.askNeverAsked();
    }
    await eventually(() => expect(questions()).toHaveLength(5));

    await newWorkspace();
    mail.mails.length = 0;
    await create(Array.from({ length: 20 }, (_, i) => `many${i}@example.com`));
    await service.services.destinations.askNeverAsked();
    await eventually(() => expect(questions()).toHaveLength(MAILS_PER_DAY));
  });

  // Guards: recipients who could not be asked, as there was no mail server: members go on without a question, others are asked, once.
  test('ask those who were never asked once', async () => {
    const { id } = await create([member]);
    await rows(sql`insert into output_recipients (destination_id, email) values (${id}, ${stranger})`);
    const { askNeverAsked } = service.services.destinations;
    await Promise.all([askNeverAsked(), askNeverAsked()]);
    await askNeverAsked();
    await questionTo(stranger);
    expect(questions()).toHaveLength(1);
  });

  // Guards against: unsent mails that use up the day's limit, and a question that is lost with its mail.
  test('that fail do not count', async () => {
    const full = `full${tenants}@example.com`;
    await addMember(service, tenant.caller.customerId, full, 'member');
    const { id } = await create([full]);
    for (let i = 0; i < MAILS_PER_DAY; i++) {
      expect(await testOf(id)).toMatchObject({ delivered: false, error: 'mail_failed: the mail server answered 550' });
    }
    await change(id, [member]);
    expect(await testOf(id)).toMatchObject({ delivered: true });
    await change(id, [`full-${stranger}`]);
    await eventually(async () => {
      const [counted] = await rows(
        sql`select mails from output_mail_counts where counted = ${`question:full-${stranger}`}`,
      );
      expect(counted).toEqual({ mails: 1 });
    });
    await eventually(async () => {
      const [recipient] = await rows(sql`select asked_at from output_recipients where destination_id = ${id}`);
      expect(recipient).toEqual({ asked_at: null });
    });
  });
});
