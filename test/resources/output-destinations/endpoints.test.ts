import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import { BUILD_MS } from '../../support/programs/go-program.ts';
import { S3_KEY, startS3Gateway, type S3Gateway } from '../../support/programs/s3-gateway.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

const SECRET = 'a secret of sixteen characters';
const S3 = { region: 'us-east-1', bucket: 'outputs', ...S3_KEY };

let service: TestService;
let tenant: Tenant;
let receiver: WebhookReceiver;
let storage: S3Gateway;
beforeAll(async () => {
  [receiver, storage] = await Promise.all([
    startWebhookReceiver(({ path }) => Number(path.slice(1))),
    startS3Gateway('outputs'),
  ]);
  service = await startTestService({
    worker: false,
    env: {
      EGRESS_ALLOWLIST: `${receiver.hostAndPort},${storage.hostAndPort}`,
      WEBHOOK_ALLOW_HTTP: 'true',
      // Nobody listens there: what recipients are asked is tried by recipients.test.ts.
      SMTP_URL: 'smtp://127.0.0.1:1',
    },
  });
}, BUILD_MS);
beforeEach(async () => {
  tenant = await service.tenant(`acc_destinations${++tenants}`);
});
let tenants = 0;
afterAll(async () => {
  await service?.close();
  await Promise.all([receiver?.close(), storage?.close()]);
});

const create = (kind: string, config: unknown, more: object = {}) =>
  tenant.cp('POST', '/v1/output-destinations', { name: `To ${kind}`, kind, config, ...more });
const sealedOf = async (id: string) => {
  const row = first(
    await service.runtime.db.rows<{ sealed: string | null; config: object }>(
      sql`select sealed, config from output_destinations where id = ${id}`,
    ),
  );
  return row;
};

describe('a destination', () => {
  // Guards: the shapes of the answers, and that no secret is in any of them, nor in the row.
  test.each([
    ['webhook', { url: 'https://example.com/in', secret: SECRET }, { url: 'https://example.com/in', secret: '***' }],
    ['webhook', { url: 'https://example.com/in' }, { url: 'https://example.com/in' }],
    ['slack', { webhook_url: 'https://hooks.slack.com/services/T0/B0/part' }, { webhook_url: '***' }],
    ['email', { to: ['owner@example.com'] }, { to: ['owner@example.com'] }],
    ['s3', S3, { ...S3, access_key_id: '***', secret_access_key: '***' }],
  ])('of kind %s is made and shown', async (kind, config, shown) => {
    const { status, body } = await create(kind, config);
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: `To ${kind}`,
        kind,
        config: shown,
        workflow_slugs: null,
        enabled: true,
        artifacts: true,
        waits: false,
        spending: false,
        failing_since: null,
        paused_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        recipients: kind === 'email' ? [{ email: 'owner@example.com', state: 'waiting' }] : [],
      },
    ]);
    expect((await tenant.cp('GET', `/v1/output-destinations/${body.id}`)).body).toEqual(body);
    expect((await tenant.cp('GET', '/v1/output-destinations')).body).toEqual({ data: [body], meta: { total: 1 } });
    expect((await sealedOf(body.id)).config).toEqual(shown);
  });

  // Guards: each fault is the promised 422 or 400, and leaves no row.
  test.each([
    ['webhook', { url: 'nonsense' }, 400],
    ['webhook', { url: 'ftp://example.com' }, 400],
    ['webhook', { url: 'https://10.0.0.1/in' }, 400],
    ['webhook', { url: 'https://name:word@example.com/' }, 400],
    ['webhook', { url: 'https://example.com', secret: 'short' }, 422],
    ['webhook', { url: 'https://example.com', more: 1 }, 422],
    ['webhook', {}, 422],
    ['webhook', null, 422],
    ['slack', { webhook_url: 'https://169.254.169.254/latest' }, 400],
    ['slack', { webhook_url: 'https://localhost/' }, 400],
    ['email', { to: [] }, 422],
    ['email', { to: ['nobody'] }, 422],
    ['email', { to: ['a@example.com'], subject: 'two\nlines' }, 422],
    ['email', { to: ['a@example.com\r\nBcc: b@example.com'] }, 422],
    ['s3', { ...S3, endpoint: 'http://127.0.0.1:1' }, 400],
    ['s3', { ...S3, region: 'a.evil.example/' }, 422],
    ['s3', { ...S3, bucket: '../other' }, 422],
    ['s3', { ...S3, prefix: '../up' }, 422],
    ['s3', { ...S3, prefix: '/up/' }, 422],
    ['s3', { ...S3, secret_access_key: '***' }, 422],
    ['ftp', {}, 422],
  ])('of kind %s is refused with %j', async (kind, config, status) => {
    expect((await create(kind, config)).status).toBe(status);
    expect((await tenant.cp('GET', '/v1/output-destinations')).body.data).toEqual([]);
  });

  // Guards: where no mail can be sent nobody is left to wait for one; the other kinds are as they were.
  test('of kind email is refused by a service without a mail server', async () => {
    const mute = await startTestService({ worker: false });
    try {
      const own = await mute.tenant('acc_mute');
      const make = (body: object) => own.cp('POST', '/v1/output-destinations', { name: 'Out', ...body });
      const { status, body } = await make({ kind: 'email', config: { to: ['owner@example.com'] } });
      expect([status, body.detail]).toEqual([400, expect.stringMatching(/^kind: .*SMTP_URL/)]);
      expect(await make({ kind: 'webhook', config: { url: 'https://example.com/in' } })).toMatchObject({ status: 201 });
      // One that is older than that is sent nothing, and no artifact is written to the log instead.
      const [row] = await mute.runtime.db.rows<{ id: string }>(sql`
        insert into output_destinations (id, customer_id, name, kind, config)
        values (gen_random_uuid(), ${own.caller.customerId}, 'old', 'email', '{"to": ["owner@example.com"]}')
        returning id`);
      expect((await own.cp('POST', `/v1/output-destinations/${present(row).id}/test`)).body).toMatchObject({
        error: 'the service has no mail server (SMTP_URL)',
      });
    } finally {
      await mute.close();
    }
  });

  // Guards: absent and masked fields stay, null removes an optional field, and given fields replace.
  test('is changed in part', async () => {
    const { body } = await create('webhook', { url: 'https://example.com/in', secret: SECRET });
    const path = `/v1/output-destinations/${body.id}`;
    const change = (config: object) => tenant.cp('PATCH', path, { config });
    const before = await sealedOf(body.id);
    const moved = await change({ url: 'https://example.com/moved', secret: '***' });
    expect([moved.status, moved.body.config]).toEqual([200, { url: 'https://example.com/moved', secret: '***' }]);
    const { secretBox } = service.services;
    const owner = `${tenant.caller.customerId}/output_destinations/${body.id}`;
    const { sealed } = await sealedOf(body.id);
    expect(JSON.parse(secretBox.open(present(sealed), owner))).toEqual({ secret: SECRET });
    expect(() => secretBox.open(present(before.sealed), owner.replace(/\w$/, 'x'))).toThrow();

    expect((await change({ secret: null })).body.config).toEqual({ url: 'https://example.com/moved' });
    expect((await sealedOf(body.id)).sealed).toBeNull();
    expect((await change({ url: null })).status).toBe(422);
    expect((await change({ other: 1 })).status).toBe(422);
    expect((await change({ url: 'https://192.168.0.1/' })).status).toBe(400);
    expect((await tenant.cp('PATCH', path, { kind: 's3' })).status).toBe(422);
    expect((await tenant.cp('PATCH', path, {})).status).toBe(400);
    const more = await tenant.cp('PATCH', path, { enabled: false, workflow_slugs: ['bread'], name: 'Another' });
    expect(more.body).toMatchObject({ enabled: false, workflow_slugs: ['bread'], name: 'Another' });
    expect(more.body.config).toEqual({ url: 'https://example.com/moved' });
  });

  // Guards: names are unique in a workspace, also for two simultaneous requests.
  test('has a name of its own', async () => {
    const config = { to: ['owner@example.com'] };
    const answers = await Promise.all([create('email', config), create('email', config)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const { body: other } = await create('email', config, { name: 'Other' });
    expect((await tenant.cp('PATCH', `/v1/output-destinations/${other.id}`, { name: 'To email' })).status).toBe(409);
  });

  // Guards: an id of the wrong form is unknown, and a deleted destination is gone.
  test('is unknown without its id', async () => {
    for (const id of ['1', 'deliveriesx', '0199c0de-0000-7000-8000-000000000000']) {
      expect((await tenant.cp('GET', `/v1/output-destinations/${id}`)).status).toBe(404);
      expect((await tenant.cp('PATCH', `/v1/output-destinations/${id}`, { enabled: true })).status).toBe(404);
      expect((await tenant.cp('DELETE', `/v1/output-destinations/${id}`)).status).toBe(404);
      expect((await tenant.cp('POST', `/v1/output-destinations/${id}/test`)).status).toBe(404);
      expect((await tenant.cp('POST', `/v1/output-destinations/deliveries/${id}/redeliver`)).status).toBe(404);
    }
    const { body } = await create('email', { to: ['owner@example.com'] });
    expect((await tenant.cp('DELETE', `/v1/output-destinations/${body.id}`)).status).toBe(204);
    expect((await tenant.cp('GET', `/v1/output-destinations/${body.id}`)).status).toBe(404);
  });

  // Guards: an archived workspace gets no deliveries.
  test('is not made in an archived workspace', async () => {
    await service.runtime.db.rows(
      sql`update workspaces set status = 'archived', archived_at = now() where customer_id = ${tenant.caller.customerId}`,
    );
    expect((await create('email', { to: ['owner@example.com'] })).status).toBe(403);
  });
});

describe('a test of it', () => {
  const tested = async (kind: string, config: object) => {
    const { body } = await create(kind, config);
    const answer = await tenant.cp('POST', `/v1/output-destinations/${body.id}/test`);
    expect(answer.status).toBe(200);
    const { delivered, error } = answer.body;
    return [delivered, error];
  };
  const at = (status: number) => `http://${receiver.hostAndPort}/${status}`;

  // Guards: a test tells at once what would happen to a delivery, and makes no entry in the log.
  test('says what happened', async () => {
    expect(await tested('webhook', { url: at(200) })).toEqual([true, null]);
    expect(await tested('slack', { webhook_url: at(403) })).toEqual([false, 'Slack answered 403']);
    expect(await tested('s3', { ...S3, endpoint: storage.url })).toEqual([true, null]);
    expect((await storage.get('test/test/v1.md')).text).toContain('It works');
    expect(await tested('email', { to: ['owner@example.com'] })).toEqual([
      false,
      expect.stringMatching(/^waits for recipients to confirm/),
    ]);
    expect((await tenant.cp('GET', `/v1/output-destinations/deliveries`)).body.data).toEqual([]);
  });

  // Guards: credentials that the storage refuses are reported as such, without showing them.
  test('tells wrong credentials', async () => {
    const { body } = await create('s3', { ...S3, endpoint: storage.url, secret_access_key: 'canary-secret' });
    const { body: answer } = await tenant.cp('POST', `/v1/output-destinations/${body.id}/test`);
    expect(answer.error).toBe('the storage answered 403 SignatureDoesNotMatch');
    expect(JSON.stringify(answer)).not.toContain('canary-secret');
  });
});
