/** GET /v1/system/health: what it finds of each part, in time, whoever is away, and without a secret in it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { overall } from '../../../src/resources/system/model.ts';
import { MAIL_PASSWORD, MAIL_USER, startMailServer, type MailServer } from '../../support/fakes/smtp-server.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';

let wire: TcpProxy;
let mail: MailServer;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  process.env.TEST_TEMPORAL_ADDRESS = wire.address; // of this file alone: jest gives each its own environment
  mail = await startMailServer();
  service = await startTestService({
    worker: false,
    env: { SMTP_URL: `smtp://${MAIL_USER}:${MAIL_PASSWORD}@127.0.0.1:${mail.port}` },
  });
  tenant = await service.tenant('acc_patient');
});
afterAll(async () => {
  await wire.restore();
  await service.close();
  await wire.close();
});

async function health() {
  const begunAt = performance.now();
  const { status, body } = await tenant.cp('GET', '/v1/system/health');
  expect(status).toBe(200);
  expect(performance.now() - begunAt).toBeLessThan(20_000);
  expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|localhost|mail-password|mail-user|-of-the-tests/);
  const parts: { name: string; status: string; detail?: string }[] = body.parts;
  return { status: body.status, body, of: (name: string) => parts.find((part) => part.name === name) };
}

// Guards: a service without a worker is reported, and is healthy once a worker starts.
test('tells of every part', async () => {
  const before = await health();
  expect(before.body).toEqual({
    status: 'degraded',
    checked_at: expect.any(String),
    parts: ['postgres', 'temporal', 'workers.orchestration', 'files', 'disk', 'mail', 'models', 'billing'].map((name) =>
      expect.objectContaining({
        name,
        status: name.startsWith('workers') ? 'down' : 'ok',
        latency_ms: expect.any(Number),
      }),
    ),
  });
  expect(before.of('workers.orchestration')?.detail).toBe('no worker');
  await service.startWorker();
  await eventually(async () => expect((await health()).status).toBe('ok'));
});

// Guards: simultaneous requests share one check, in which the parts are looked at in parallel.
test('answers many at once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, health));
  expect(new Set(answers.map(({ body }) => body.checked_at)).size).toBeLessThan(20);
});

// Guards: an absent mail server is reported without its address.
test('tells of a mail server that is away', async () => {
  await mail.close();
  const { status, of } = await health();
  expect([status, of('mail')]).toEqual([
    'degraded',
    expect.objectContaining({ status: 'down', detail: 'does not answer' }),
  ]);
});

// Guards: the answer comes within five seconds in whatever way Temporal is away, and the other parts are still checked.
test.each(['refuse', 'hang'] as const)('answers in time without Temporal (%s)', async (how) => {
  await wire.cut(how);
  const { status, of } = await health();
  expect([status, of('temporal')?.status, of('workers.orchestration')?.status]).toEqual(['degraded', 'down', 'down']);
  expect(of('postgres')?.status).toBe('ok');
  await wire.restore();
});

// Guards: an absent database is the worst state, and no other part takes the service down.
test('is down without its database', () => {
  expect(
    overall([
      { name: 'postgres', status: 'down' },
      { name: 'mail', status: 'ok' },
    ]),
  ).toBe('down');
  expect(
    overall([
      { name: 'postgres', status: 'ok' },
      { name: 'temporal', status: 'down' },
    ]),
  ).toBe('degraded');
  expect(overall([{ name: 'postgres', status: 'ok' }])).toBe('ok');
});
