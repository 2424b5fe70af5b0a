/** `Idempotency-Key` when something goes wrong between the first request and its answer, and when a day has passed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { itemAt } from '../../../src/platform/core/present.ts';
import type { Claim } from '../../../src/platform/http/once-only.ts';
import { ClaimLostError } from '../../../src/resources/idempotency-keys/store.ts';
import { LIVE_BILLING, startStripeServer } from '../../support/fakes/stripe-server.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import {
  eventually,
  startTestService,
  type Answer,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';

const RUN = { agent: 'assistant', prompt: 'Say something.' };
const PROJECT = { workflow_slug: 'blog-post', title: 'Another', brief: 'Say something.' };

let service: TestService;
let tenant: Tenant;
let key = 0;

beforeAll(async () => {
  service = await startTestService({ env: { EXTENSIONS: 'idempotency' } });
  tenant = await service.tenant('acc_crashes', 'scale');
});
beforeEach(() => {
  key += 1;
});
afterAll(() => service.close());

const ask = (path: string, body: unknown): Promise<Answer> =>
  tenant.cp('POST', path, body, { 'idempotency-key': `key-${key}` });
const rows = <Row>(statement: SQL) => service.runtime.db.rows<Row & Record<string, unknown>>(statement);
const change = (what: SQL) =>
  rows(sql`update idempotency_keys set ${what} where customer_id = ${tenant.caller.customerId}`);
/** As a process leaves it that died after the work and before its answer was kept. */
const dieBeforeTheAnswerIsKept = () => change(sql`answer = null, lease_until = now()`);
/** Of those that somebody asked for: the steps of a project that was made before begin runs of their own meanwhile. */
const countOf = async (table: string): Promise<number> => {
  const isAskedFor = table === 'runs' ? sql`attempt_id is null` : sql`true`;
  const query = sql`select count(*)::int as n from ${sql.identifier(table)} where ${isAskedFor}`;
  return itemAt(await rows<{ n: number }>(query), 0).n;
};
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

describe('a process that died', () => {
  // Guards: work that was accepted is found by what it made, and not done again.
  test.each([
    ['runs', '/v1/runs', RUN],
    ['projects', '/v1/projects', PROJECT],
  ])('after it made one of the %s', async (table, path, body) => {
    const first = await ask(path, body);
    const before = await countOf(table);
    await dieBeforeTheAnswerIsKept();
    const second = await ask(path, body);
    const id = (answer: Answer) => answer.body.run_id ?? answer.body.id;
    expect([second.status, id(second)]).toEqual([201, id(first)]);
    expect(await countOf(table)).toBe(before);
    expect(isReplayed(await ask(path, body))).toBe(true);
  });

  // Guards: a key whose process died before it did anything can be used again.
  test('before it made anything', async () => {
    await ask('/v1/runs', RUN);
    await dieBeforeTheAnswerIsKept();
    await change(sql`made = null`);
    const before = await countOf('runs');
    expect((await ask('/v1/runs', RUN)).status).toBe(201);
    expect(await countOf('runs')).toBe(before + 1);
  });

  // Guards: a project or run that was withdrawn because it could not be started is no answer; it is made anew under
  // another id.
  test('after what it made was withdrawn', async () => {
    const first = await ask('/v1/runs', RUN);
    await tenant.waitForRun(first.body.run_id);
    await dieBeforeTheAnswerIsKept();
    await change(sql`made = '01gone'`);
    const second = await ask('/v1/runs', RUN);
    expect(second.status).toBe(201);
    expect(second.body.run_id).not.toBe(first.body.run_id);
  });

  // Guards: while a process may be alive nobody takes over its request; afterwards somebody does.
  test('is waited for until its time is over', async () => {
    const first = await ask('/v1/runs', RUN);
    await change(sql`answer = null, lease_until = clock_timestamp() + interval '500 ms'`);
    const [second, third] = await Promise.all([ask('/v1/runs', RUN), ask('/v1/runs', RUN)]);
    expect([second.body, third.body]).toEqual([first.body, first.body]);
    const [row] = await rows<{ late: boolean }>(
      sql`select created_at < now() - interval '500 ms' as late from idempotency_keys order by created_at desc limit 1`,
    );
    expect(row).toEqual({ late: true });
  });

  // Guards: a process that was taken for dead and goes on makes nothing once another has taken over its request.
  test.each([
    [
      'runs',
      '/v1/runs',
      RUN,
      (claim: Claim) => service.services.runs.create(tenant.caller, { ...RUN, transport: 'rest' }, claim),
    ],
    [
      'projects',
      '/v1/projects',
      PROJECT,
      (claim: Claim) => service.services.projects.create(tenant.caller, PROJECT, claim),
    ],
  ])('and was not dead makes no second one of the %s', async (table, path, body, makeLate) => {
    await ask(path, body);
    const row = itemAt(
      await rows<{ endpoint: string; keyHash: string; token: string }>(
        sql`select endpoint, key_hash as "keyHash", token from idempotency_keys order by created_at desc limit 1`,
      ),
      0,
    );
    const late: Claim = {
      customerId: tenant.caller.customerId,
      endpoint: row.endpoint,
      keyHash: row.keyHash,
      token: row.token,
      owner: '00000000-0000-4000-8000-000000000000',
      made: null,
      isRepeated: false,
    };
    const before = await countOf(table);
    const counted = await countOf('usage_counters');
    await expect(makeLate(late)).rejects.toThrow(ClaimLostError);
    expect([await countOf(table), await countOf('usage_counters')]).toEqual([before, counted]);
  });

  // Guards: the repeat of an answer to a gate that was recorded is not refused as too late.
  test('after it decided on a gate', async () => {
    await makeTemplate(tenant, 'gated', [phaseSpec('write', [agentStep('text'), gateStep('approve')])]);
    const project = await startProject(tenant, 'gated');
    const path = await eventually(async () => {
      const { body: tasks } = await tenant.cp('GET', `/v1/projects/${project}/tasks`);
      const steps = await tenant.cp('GET', `/v1/projects/${project}/tasks/${tasks.data[0].id}/subtasks`);
      const gate = steps.body.data.find(({ status }: { status: string }) => status === 'blocked');
      return `/v1/projects/${project}/subtasks/${gate.id}/resolve-gate`;
    });
    const decision = { decision: 'approved', comment: 'good' };
    expect((await ask(path, decision)).status).toBe(200);
    expect(isReplayed(await ask(path, decision))).toBe(true);
    await eventually(async () => {
      expect((await tenant.cp('GET', `/v1/projects/${project}`)).body.status).toBe('completed');
    });
    await dieBeforeTheAnswerIsKept();
    const again = await ask(path, decision);
    expect([again.status, again.body.gate_output.comment]).toEqual([200, 'good']);
    const events = await tenant.cp('GET', `/v1/projects/${project}/events`);
    const resolved = events.body.data.filter(({ topic }: { topic: string }) => topic === 'gate_resolved');
    expect(resolved).toHaveLength(1);
    // Somebody else's answer is another request, and is late.
    expect((await tenant.cp('POST', path, decision)).status).toBe(409);
  });
});

// Guards: a payment page is not made twice, because the provider gets the same key.
test('a process that died after it asked for credit', async () => {
  const stripe = await startStripeServer();
  const env = { ...LIVE_BILLING(stripe), EXTENSIONS: 'idempotency' };
  const billed = await startTestService({ worker: false, env });
  try {
    const buyer = await billed.tenant('acc_buyer', 'free');
    const buy = () =>
      buyer.cp('POST', '/v1/billing/topup', { amount_usd_cents: 1_000 }, { 'idempotency-key': 'credit' });
    const first = await buy();
    const { db } = billed.runtime;
    await db.rows(sql`update idempotency_keys set answer = null, lease_until = now()`);
    const second = await buy();
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await db.rows(sql`select 1 from topups`)).toHaveLength(1);
  } finally {
    await billed.close();
    await stripe.close();
  }
});

// Guards: a stored answer cannot be read from the database; where its key is gone, what was made gives the answer.
test('answers are kept sealed, and found where they cannot be opened', async () => {
  const first = await ask('/v1/runs', RUN);
  const row = itemAt(
    await rows<{ answer: string; keyHash: string }>(
      sql`select answer, key_hash as "keyHash" from idempotency_keys order by created_at desc limit 1`,
    ),
    0,
  );
  expect(row.answer).not.toContain(first.body.run_id);
  expect(row.keyHash).toMatch(/^[0-9a-f]{64}$/);
  await change(sql`answer = 'ffffffff' || substr(answer, 9)`);
  expect((await ask('/v1/runs', RUN)).body).toEqual(first.body);
});

describe('after a day', () => {
  const age = () => change(sql`created_at = created_at - interval '24 hours'`);

  // Guards: a key is free again after a day, for whatever it is used then.
  test('a key is new', async () => {
    const first = await ask('/v1/runs', RUN);
    await age();
    const second = await ask('/v1/runs', { ...RUN, prompt: 'Say more.' });
    expect(second.status).toBe(201);
    expect(second.body.run_id).not.toBe(first.body.run_id);
    expect(isReplayed(await ask('/v1/runs', { ...RUN, prompt: 'Say more.' }))).toBe(true);
  });

  // Guards: expired rows are deleted.
  test('rows are swept, and younger ones stay', async () => {
    await ask('/v1/runs', RUN);
    await age();
    key += 1;
    await ask('/v1/runs', RUN);
    await service.services.retention.sweep(AbortSignal.timeout(60_000));
    expect(await countOf('idempotency_keys')).toBe(1);
    expect(isReplayed(await ask('/v1/runs', RUN))).toBe(true);
  });
});
