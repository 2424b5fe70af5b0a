/** What owners and destinations are told of spending, each once; what a month may come to; and whose key pays for a project. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { answer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startWebhookReceiver, type Script, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { mails } from '../../support/service/otp.ts';
import { addMember } from '../sign-in/people.ts';
import { startPricedService } from '../../support/service/priced.ts';
import type { Tenant, TestService } from '../../support/service/service.ts';

let service: TestService;
let provider: OpenAiServer;
let receiver: WebhookReceiver;
let script: Script;
let close: () => Promise<void>;
let acme: Tenant;
let owner: string;
let tenants = 0;

beforeAll(async () => {
  receiver = await startWebhookReceiver((request) => script(request));
  ({ service, provider, close } = await startPricedService({
    WEBHOOK_ALLOW_HTTP: 'true',
    EGRESS_ALLOWLIST: receiver.hostAndPort,
    HOUSEKEEPING_INTERVAL: '1h',
  }));
});
beforeEach(async () => {
  script = () => 200;
  receiver.received.length = 0;
  provider.reset();
  provider.otherwise(answer('Here.'));
  acme = await service.tenant(`acc_told_of_cost${++tenants}`);
  // Nobody else's: what other files of this process mailed is kept too.
  owner = `told-of-cost${tenants}@acme.example`;
  await addMember(service, acme.caller.customerId, owner, 'owner');
});
afterAll(async () => {
  await close?.();
  await receiver?.close();
});

const cap = (id: string, body: object) => acme.cp('PUT', `/v1/cost/caps/${id}`, body);
const work = () => acme.run({ agent: 'assistant', prompt: 'Say something.' });
const tell = () => service.services.tellPauses(AbortSignal.timeout(30_000));
const mailed = () =>
  mails()
    .filter(({ to }) => String(to).includes(owner))
    .map(({ subject }) => subject);
const heard = () => receiver.received.map(({ body }) => JSON.parse(body));
const subscribe = (kind: string, config: object, more: object = {}) =>
  acme.cp('POST', '/v1/output-destinations', {
    name: `To ${kind}`,
    kind,
    config,
    artifacts: false,
    spending: true,
    ...more,
  });
const tryAgainNow = () =>
  service.runtime.db.rows(sql`update spending_notices set due_at = now() where told_at is null`);

// Guards: each threshold of a cap is told once: to the owners, to the destinations that want to know, and into the log.
test('thresholds', async () => {
  await subscribe('webhook', { url: receiver.url });
  await subscribe('slack', { webhook_url: receiver.url }, { name: 'Deaf', spending: false });
  expect(await cap('workspace.month', { limit_usd: '1.2', alert_at: [2, 5] })).toMatchObject({
    body: { alert_at: [2, 5] },
  });
  await work();
  await Promise.all([tell(), tell()]);
  await tell();
  const first = '2% of the cap of the workspace a month is spent: 0.03 of 1.2 USD';
  const inInbox = async () =>
    (await acme.cp('GET', '/v1/inbox')).body.meta.spending.map((told: { title: string }) => told.title);
  expect(await inInbox()).toEqual([first]);
  expect(mailed()).toEqual([first]);
  expect(heard()).toEqual([
    {
      type: 'spending.threshold',
      created_at: expect.any(Number),
      data: {
        delivery_id: expect.any(String),
        title: first,
        cap_id: 'workspace.month',
        threshold: 2,
        spent_usd: '0.03',
        limit_usd: '1.2',
        run_id: null,
      },
    },
  ]);
  await work();
  await tell();
  expect(mailed()).toEqual([first, expect.stringMatching(/^5% of the cap of the workspace a month is spent: 0\.06/)]);
  // A higher limit has its own; what is crossed there already is told too, the highest of it.
  await cap('workspace.month', { limit_usd: '1.1' });
  await tell();
  expect(mailed()).toHaveLength(3);
  expect(mailed()[2]).toMatch(/^5% .* 0\.06 of 1\.1 USD$/);
  expect(await inInbox()).toEqual([mailed()[2]]);
  await cap('workspace.month', { limit_usd: '5', alert_at: [] });
  expect(await inInbox()).toEqual([]);
  await work();
  await tell();
  expect(mailed()).toHaveLength(3);
  const logged = await service.runtime.db.rows<{ at: number }>(sql`
    select (payload ->> 'threshold')::int as at from log_events
    where customer_id = ${acme.caller.customerId} and kind = 'spending' order by seq`);
  expect(logged.map(({ at }) => at)).toEqual([2, 5, 5]);
});

// Guards: who could not be told is told later, and the others are not told again.
test('a receiver that is away', async () => {
  await subscribe('webhook', { url: receiver.url });
  script = () => 503;
  await cap('agent.assistant.day', { limit_usd: '1.5', alert_at: [1] });
  await work();
  await tell();
  await tell();
  expect(receiver.received).toHaveLength(1);
  script = () => 200;
  await tryAgainNow();
  await tell();
  await tryAgainNow();
  await tell();
  const ids = heard().map(({ data }) => data.delivery_id);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  expect(mailed()).toHaveLength(1);
});

// Guards: what is spent without a known price is told of once a day.
test('calls without a price', async () => {
  const unpriced = {
    agent: 'assistant',
    prompt: 'Say something.',
    override: { model_override: 'openai-compatible/unknown' },
  };
  const run = await acme.run(unpriced);
  await acme.run(unpriced);
  const [row] = await service.runtime.db.rows<{ priced: boolean }>(
    sql`select is_priced as priced from runs where id = ${run.run_id}`,
  );
  expect(row).toEqual({ priced: false });
  await tell();
  expect(mailed()).toEqual(['Something is spent that is not counted']);
});

// Guards: a project that was asked for with an API key counts against the caps of that key.
test('a project by key', async () => {
  const [{ id: keyId }] = (await acme.cp('GET', '/v1/api-keys')).body.data;
  const id = `api-key.${keyId}.month`;
  await cap(id, { limit_usd: '1.5' });
  await makeTemplate(acme, 'keyed', [phaseSpec('one', [agentStep('write')])]);
  const started = await acme.api('POST', '/v1/projects', { workflow_slug: 'keyed', brief: 'Tell.' });
  await untilProject(acme, started.body.project_id, 'completed');
  const byHand = await startProject(acme, 'keyed');
  await untilProject(acme, byHand, 'completed');
  const { body } = await acme.cp('GET', '/v1/cost/caps');
  expect(body.data).toMatchObject([{ id, spent_usd: '0.03' }]);
});

// Guards: who is not there is named.
test('a cap of nobody', async () => {
  expect(await cap('agent.nobody.day', { limit_usd: '1' })).toMatchObject({
    status: 404,
    body: { detail: expect.stringMatching(/^not_found: there is no agent nobody;/) },
  });
});

// Guards: a forecast says what it rests on, and is none where that is too little.
test('a forecast', async () => {
  await work();
  const forecast = async () => (await acme.cp('GET', '/v1/cost/forecast')).body;
  expect(await forecast()).toMatchObject({
    spent_usd: '0.03',
    p50_usd: null,
    p90_usd: null,
    based_on: { days: 0, days_with_spend: 0, unpriced_runs: 0 },
  });
  await service.runtime.db.rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, status, completed_at, cost_usd, created_at)
    select 'forecast-' || n, ${acme.caller.customerId}, 'writer', 'rest', 'Before.', 'succeeded', now(), 2, now() - n * interval '1 day'
    from generate_series(1, 14) n`);
  const { p50_usd: p50, spent_usd: spent, until, based_on: basis } = await forecast();
  expect(basis).toEqual({ days: 14, days_with_spend: 14, unpriced_runs: 0 });
  const left = Math.ceil((Date.parse(until) - Date.now()) / 86_400_000);
  expect(Number(p50)).toBeCloseTo(Number(spent) - 0.03 + 2 * left, 6);
});
