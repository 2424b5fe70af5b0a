import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import {
  makeTemplate,
  phaseSpec,
  agentStep,
  artifactsOf,
  command,
  startProject,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { addMember } from '../sign-in/people.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { S3_KEY, startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type Script, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { OUTPUT_WEBHOOKS } from '../../../src/resources/output-destinations/events/contract.ts';

const SECRET = 'a secret of sixteen characters';

let service: TestService;
let tenant: Tenant;
let receiver: WebhookReceiver;
let storage: S3Gateway;
let mail: MailServer;
let script: Script;

beforeAll(async () => {
  [receiver, storage, mail] = await Promise.all([
    startWebhookReceiver((request) => script(request)),
    startS3Gateway('outputs'),
    startMailServer(),
  ]);
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '10ms',
      OUTPUT_TIMEOUT: '4s',
      EGRESS_ALLOWLIST: `${receiver.hostAndPort},${storage.hostAndPort}`,
      SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}?tls.rejectUnauthorized=false`,
      BASE_URL: 'https://agents.example.com',
    },
  });
}, BUILD_MS);
beforeEach(async () => {
  script = () => 200;
  receiver.received.length = 0;
  mail.mails.length = 0;
  tenant = await service.tenant(`acc_outputs${++tenants}`);
  await makeTemplate(tenant, 'bread', [phaseSpec('story', [agentStep('write')])]);
});
let tenants = 0;
afterAll(async () => {
  await service?.close();
  await Promise.all([receiver?.close(), storage?.close(), mail?.close()]);
});

const create = async (kind: string, config: object, more: object = {}): Promise<string> => {
  const { status, body } = await tenant.cp('POST', '/v1/output-destinations', {
    name: `To ${kind}`,
    kind,
    config,
    ...more,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
};
const webhookConfig = () => ({ url: receiver.url, secret: SECRET });
const s3Config = () => ({
  endpoint: storage.url,
  region: 'us-east-1',
  bucket: 'outputs',
  prefix: 'all/of-it',
  ...S3_KEY,
});
/** A project that has completed, with its one artifact. */
async function completeProject(more: Record<string, unknown> = {}) {
  const id = await startProject(tenant, 'bread', more);
  await untilProject(tenant, id, 'completed');
  const [artifact] = await artifactsOf(tenant, id);
  return { id, artifact };
}
const deliveries = async (query = '') =>
  (await tenant.cp('GET', `/v1/output-destinations/deliveries${query}`)).body.data;
const untilStatus = (status: string, length = 1) =>
  eventually(async () => {
    const rows = await deliveries(`?status=${status}`);
    expect(rows).toHaveLength(length);
    return rows;
  });

describe('a finished artifact', () => {
  // Guards: destinations of every kind get the artifact when the project completes, and the log records it.
  test('is sent to each destination', async () => {
    await create('webhook', webhookConfig());
    await create('slack', { webhook_url: `${receiver.url}/slack` });
    for (const email of ['one@example.com', 'two@example.com'])
      await addMember(service, tenant.caller.customerId, email);
    await create('email', { to: ['one@example.com', 'two@example.com'], subject: 'Fresh' });
    await create('s3', s3Config());
    const { id, artifact } = await completeProject({ title: 'Bread <!channel> & butter' });
    const rows = await untilStatus('delivered', 4);
    expect(rows.map((row: { kind: string }) => row.kind).sort()).toEqual(['email', 's3', 'slack', 'webhook']);
    expect(rows[0]).toMatchObject({ project_id: id, artifact_id: artifact.id, last_error: null });

    const posted = present(receiver.received.find(({ path }) => path === '/hook'));
    expect(verifyWebhook(SECRET, posted.signature, posted.body)).toBe(true);
    expect(JSON.parse(posted.body)).toMatchObject({
      type: 'artifact.finished',
      data: { project_id: id, phase_slug: 'story', version: 1, artifact_id: artifact.id, content: artifact.content },
    });

    const { body, headers } = OUTPUT_WEBHOOKS['artifact.finished'];
    expect(body.parse(JSON.parse(posted.body))).toEqual(JSON.parse(posted.body));
    expect(headers.safeParse(posted.headers)).toMatchObject({ success: true });

    const slack = present(receiver.received.find(({ path }) => path === '/hook/slack'));
    const { text, blocks } = JSON.parse(slack.body);
    expect(text).toBe('Bread &lt;!channel&gt; &amp; butter: story, version 1');
    expect(blocks[2].text.text).toContain(`<https://agents.example.com/api/v1/cp/v1/projects/${id}/artifacts|`);

    const received = itemAt(mail.mails, 0);
    expect(mail.mails).toHaveLength(1);
    expect(received.to).toEqual(['one@example.com', 'two@example.com']);
    expect(received.text).toMatch(/^Subject: Fresh\r$/m);
    expect(received.text).toMatch(/^Content-Disposition: attachment; filename=story\.v1\.\w+\r$/m);

    const object = await storage.get(`all/of-it/${id}/story/v1.${artifact.content.startsWith('{') ? 'json' : 'md'}`);
    expect([object.status, object.text]).toEqual([200, artifact.content]);
  });

  // Guards: a destination gets only artifacts of its workflows, and only while it is enabled.
  test('is sent only to who wants it', async () => {
    const wanting = await create('webhook', webhookConfig(), { workflow_slugs: ['bread', 'butter'] });
    await create('webhook', webhookConfig(), { name: 'other', workflow_slugs: ['butter'] });
    await create('webhook', webhookConfig(), { name: 'disabled', enabled: false });
    await completeProject();
    const [row] = await untilStatus('delivered');
    expect(row.destination_id).toBe(wanting);
    expect(await deliveries()).toHaveLength(1);
  });

  // Guards: a project that completes again sends its new version, and nothing that was sent before.
  test('is sent once', async () => {
    await create('webhook', webhookConfig());
    const { id, artifact } = await completeProject();
    await untilStatus('delivered');
    expect((await command(tenant, id, 'phases/story/retrigger', { cascade: 'none' })).status).toBe(200);
    const rows = await untilStatus('delivered', 2);
    await untilProject(tenant, id, 'completed');
    expect(rows.map((row: { artifact_id: string }) => row.artifact_id)).toContain(artifact.id);
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.version)).toEqual([1, 2]);
  });
});

describe('a delivery', () => {
  // Guards: failures that may pass are retried, for each protocol.
  test('is repeated after failures', async () => {
    const reactions = [500, 429, 'reset', 'timeout', 200] as const;
    script = () => reactions[receiver.received.length - 1] ?? 200;
    storage.freeze();
    await create('webhook', webhookConfig());
    await create('s3', s3Config());
    await completeProject();
    await eventually(async () => {
      const waiting = await deliveries('?status=pending');
      expect(waiting.find(({ kind }: { kind: string }) => kind === 's3')?.attempts).toBeGreaterThan(1);
    });
    storage.thaw();
    const rows = await untilStatus('delivered', 2);
    const attempts = Object.fromEntries(
      rows.map((row: { kind: string; attempts: number }) => [row.kind, row.attempts]),
    );
    expect(attempts).toEqual({ webhook: 5, s3: expect.any(Number) });
  });

  // Guards: a failure that no retry would change ends the delivery at once with the reason, without the secret.
  test('ends where it is refused', async () => {
    script = () => 404;
    await create('slack', { webhook_url: `${receiver.url}/T0/SECRETPART` });
    await create('s3', { ...s3Config(), secret_access_key: 'another' });
    const inside = await create('webhook', webhookConfig());
    await service.runtime.db.rows(
      // As a name that resolves to it would be told at delivery only.
      sql`update output_destinations set config = '{"url":"http://10.0.0.1/in","secret":"***"}' where id = ${inside}`,
    );
    await completeProject();
    const rows = await untilStatus('failed', 3);
    const errors = Object.fromEntries(
      rows.map((row: { kind: string; last_error: string }) => [row.kind, row.last_error]),
    );
    expect(errors).toEqual({
      webhook: '10.0.0.1 is a private address',
      slack: 'Slack answered 404',
      s3: 'the storage answered 403 SignatureDoesNotMatch',
    });
    expect(rows.map((row: { attempts: number }) => row.attempts)).toEqual([1, 1, 1]);
  });

  // Guards: attempts are limited; a person may ask for more of them, also after a success.
  test('is sent again on request', async () => {
    script = () => 500;
    await create('webhook', webhookConfig());
    await completeProject();
    const [row] = await untilStatus('failed');
    expect(row).toMatchObject({ attempts: 8, last_error: 'the receiver answered 500' });
    script = () => 200;
    const again = await tenant.cp('POST', `/v1/output-destinations/deliveries/${row.id}/redeliver`);
    expect([again.status, again.body.redeliveries]).toEqual([200, 1]);
    expect((await untilStatus('delivered'))[0]).toMatchObject({ attempts: 9, last_error: null });
    await tenant.cp('POST', `/v1/output-destinations/deliveries/${row.id}/redeliver`);
    expect((await untilStatus('delivered'))[0]).toMatchObject({ attempts: 10, redeliveries: 2 });
  });

  // Guards: a delivery that waits for its next attempt is not sent twice at a time, and is dropped with its
  // destination.
  test('is dropped with its destination', async () => {
    script = () => 'timeout';
    const id = await create('webhook', webhookConfig());
    await completeProject();
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(0));
    const [row] = await deliveries();
    expect((await tenant.cp('POST', `/v1/output-destinations/deliveries/${row.id}/redeliver`)).body.detail).toBe(
      'delivery_in_flight',
    );
    expect((await tenant.cp('DELETE', `/v1/output-destinations/${id}`)).status).toBe(204);
    expect(await deliveries()).toEqual([]);
    const handle = service.runtime.temporal.client.workflow.getHandle(`output-${row.id}`);
    await expect(handle.result()).rejects.toThrow();
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });

  // Guards: histories contain no content, address or secret, because operators read them.
  test('keeps its content out of Temporal', async () => {
    script = () => 404;
    await create('webhook', { url: `${receiver.url}/canary-address`, secret: SECRET });
    const { artifact } = await completeProject();
    const [row] = await untilStatus('failed');
    const handle = service.runtime.temporal.client.workflow.getHandle(`output-${row.id}`);
    await handle.result().catch(() => {});
    const history = JSON.stringify(await handle.fetchHistory());
    for (const text of [SECRET, 'canary-address', artifact.content.slice(0, 40)]) {
      expect(history).not.toContain(text);
      expect(history).not.toContain(Buffer.from(text).toString('base64').slice(0, 16));
    }
  });
});

describe('what was lost', () => {
  // Guards: a delivery that was recorded and never started is started by housekeeping.
  test('is sent all the same', async () => {
    const id = await create('webhook', webhookConfig());
    await completeProject();
    await untilStatus('delivered');
    const lost = newUuid();
    // As it was left by who recorded it and died.
    await service.runtime.db.rows(sql`
      update output_deliveries set id = ${lost}::uuid, status = 'pending', attempts = 0, completed_at = null,
        due_at = now()
      where destination_id = ${id}`);
    await service.services.destinations.startDue(UNHURRIED);
    expect((await untilStatus('delivered'))[0].id).toBe(lost);
    // Nothing is left to be started, however often it is looked for.
    await service.services.destinations.startDue(UNHURRIED);
    expect(receiver.received).toHaveLength(2);
  });

  // Guards: a worker that stops during an attempt costs that attempt and nothing else.
  test('goes on with another worker', async () => {
    const settings = { OUTPUT_TIMEOUT: '1m', SHUTDOWN_GRACE: '100ms', WEBHOOK_RETRY_INITIAL: '10ms' };
    const other = await startTestService({
      worker: false,
      env: { ...settings, WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
    });
    try {
      tenant = await other.tenant('acc_outputs');
      const first = await other.startWorker();
      await makeTemplate(tenant, 'bread', [phaseSpec('story', [agentStep('write')])]);
      script = () => (receiver.received.length === 1 ? 'timeout' : 200);
      await create('webhook', webhookConfig());
      await completeProject();
      await eventually(() => expect(receiver.received).toHaveLength(1));
      await first.close();
      expect((await deliveries())[0]).toMatchObject({ status: 'pending', last_error: 'the worker stopped' });
      await other.startWorker();
      expect((await untilStatus('delivered'))[0]).toMatchObject({ attempts: 2, last_error: null });
    } finally {
      await other.close();
    }
  });
});
