/** Who goes first where more is asked for than workers take at once: here two activities, one of them a model call. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../src/platform/core/present.ts';
import { dispatch } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
let beta: Tenant;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => 'timeout');
  service = await startTestService({
    env: {
      WORKER_MAX_MODEL_CALLS: '1',
      WORKER_MAX_CONCURRENT: '1',
      WEBHOOK_TIMEOUT: '1s',
      HOUSEKEEPING_INTERVAL: '10m',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      WEBHOOK_ALLOW_HTTP: 'true',
    },
  });
  [acme, beta] = [await service.tenant('acc_acme'), await service.tenant('acc_beta')];
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const count = async (query: ReturnType<typeof sql>) =>
  first(await service.runtime.db.rows<{ count: number }>(sql`select count(*)::int as count from ${query}`)).count;
const manyRuns = (prompt: string, runs: number) =>
  Promise.all(Array.from({ length: runs }, () => dispatch(acme, { agent: 'assistant', prompt })));

// Guards: a workspace with many runs does not hold up another's: they take turns.
test('a run goes before the many of another workspace', async () => {
  const ids = await manyRuns('Slowly. [[sleep:500]]', 20);
  await beta.run({ agent: 'assistant', prompt: 'Hello' });
  expect(await count(sql`runs where customer_id = 'acme' and status = 'queued'`)).toBeGreaterThan(5);
  for (const id of ids) await acme.waitForRun(id);
});

// Guards: thousands of webhooks that nobody answers hold up no other work, of others or of the workspace itself.
test('runs go before deliveries', async () => {
  for (let n = 0; n < 3; n++) {
    const hook = { url: `http://${receiver.hostAndPort}/${n}`, events: ['*'] };
    expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
  }
  for (const id of await manyRuns('Hello', 15)) await acme.waitForRun(id);
  const untried = sql`webhook_deliveries where attempt_count = 0`;
  expect(await count(untried)).toBeGreaterThan(20);
  for (const tenant of [beta, acme]) await tenant.run({ agent: 'assistant', prompt: 'Hello' });
  expect(await count(untried)).toBeGreaterThan(10);
});
