/** Locks, limits, queues and caps: each stops those whom its row names, and nobody else. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { createIntegrationStore } from '../../src/resources/integrations/store.ts';
import { createPlaceStore } from '../../src/resources/receivers/store.ts';
import { untilWaiting } from '../support/database/locks.ts';
import { agentStep, makeTemplate, phaseSpec } from '../support/fixtures/projects.ts';
import { SHARED_LIMITS, sharedInSource } from '../support/security/shared-limits.ts';
import { confirmed } from '../support/service/otp.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let globex: Tenant;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { WEBHOOK_ALLOW_HTTP: 'true' } });
  acme = await service.tenant('acc_acme', 'free');
  globex = await service.tenant('acc_globex', 'free');
});
afterAll(() => service?.close());

// Guards: a lock, limit, queue or cap that is added is looked at by this question, and its row stays true.
test('each that the source has is in the table', () => {
  const has = Object.values(SHARED_LIMITS).flatMap((row) => row.has);
  expect([...has].sort()).toEqual(sharedInSource());
});

const ROWS = Object.entries(SHARED_LIMITS);
test.each(ROWS)('%s has tests', (_name, { tests }) => {
  expect(Object.keys(tests)).not.toEqual([]);
  for (const [path, text] of Object.entries(tests)) expect(readFileSync(path, 'utf8')).toContain(text);
});

/** Holds advisory locks while `work` goes on, which may let them go before its end. */
async function holding(locks: readonly SQL[], work: (letGo: () => void) => Promise<unknown>) {
  const { db } = service.runtime;
  const done = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const transaction = db.transaction(async () => {
    for (const lock of locks) await db.rows(sql`select pg_advisory_xact_lock(${lock})`);
    held.resolve();
    await done.promise;
  });
  try {
    await Promise.race([held.promise, transaction]);
    await work(done.resolve);
  } finally {
    done.resolve();
    await transaction;
  }
}

/** Those who are not stopped are served while the lock is held; the one who is waits for it, and is served then. */
const whileLocked = (name: string, stopped: () => Promise<unknown>, spared: () => Promise<unknown>) =>
  holding([sql`hashtextextended(${name}, 0)`], async (letGo) => {
    await spared();
    const waiting = stopped();
    await untilWaiting(service.runtime.db, 1);
    letGo();
    await waiting;
  });

describe('those who are stopped, and those who are not', () => {
  let hooks = 0;
  const asks = (email: string) =>
    call(`${service.baseUrl}/login/code`, 'POST', { 'content-type': 'application/json' }, { email });
  const workflow = (tenant: Tenant, slug: string) =>
    makeTemplate(tenant, slug, [phaseSpec('text', [agentStep('write')])]);
  const asksForCode = (actor: string) =>
    call(
      `${service.baseUrl}/api/v1/cp/v1/integrations/smtp/credentials/password`,
      'PUT',
      { cookie: `service_session=${sessionFor({ ...acme.caller, actor })}` },
      { value: 'word' },
    );
  const run = async (tenant: Tenant, thread_id: string) =>
    expect((await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello', thread_id })).status).toBe(201);

  test('the lock on an inbox of confirmation codes', () =>
    whileLocked(
      'otp:one@acme.example',
      () => asksForCode('one@acme.example'),
      () => asksForCode('two@acme.example'),
    ));

  test('the lock on an address that signs in', () =>
    whileLocked(
      'sign-in:one@acme.example',
      () => asks('one@acme.example'),
      () => asks('two@acme.example'),
    ));

  test('the lock on versions of a workflow', () =>
    whileLocked(
      'template:acme/flow',
      () => workflow(acme, 'flow'),
      () => Promise.all([workflow(acme, 'other'), workflow(globex, 'flow')]),
    ));

  test('the lock on an integration', () => {
    const integrations = createIntegrationStore(service.runtime.db);
    const putToken = async ({ caller: { customerId } }: Tenant, slug: string) =>
      expect(await integrations.writeAlone(customerId, slug, async () => 'written')).toBe('written');
    return whileLocked(
      'integration:acme/slack',
      () => putToken(acme, 'slack'),
      () => Promise.all([putToken(acme, 'github'), putToken(globex, 'slack')]),
    );
  });

  test('the lock on a conversation', () =>
    whileLocked(
      'acme/thread:talk',
      () => run(acme, 'talk'),
      () => Promise.all([run(acme, 'other'), run(globex, 'talk')]),
    ));

  test('deploy tokens', async () => {
    const make = async (tenant: Tenant) => (await tenant.cp('POST', '/v1/deploy-tokens', { name: 'token' })).status;
    for (let made = 0; made < 20; made++) expect(await make(acme)).toBe(201);
    expect([await make(acme), await make(globex)]).toEqual([409, 201]);
  });

  test('caps of a plan', async () => {
    const make = async (tenant: Tenant) => (await tenant.cp('POST', '/v1/api-keys', { name: 'key' })).status;
    let status = 201;
    for (let made = 0; status === 201 && made < 50; made++) status = await make(acme);
    expect([status, await make(globex)]).toEqual([403, 201]);
  });

  test('archives of a workspace', async () => {
    const make = async (tenant: Tenant) =>
      (await confirmed(tenant, 'POST', `/v1/workspaces/${tenant.caller.workspaceId}/exports`, {})).status;
    const first = await make(acme);
    expect([first, await make(acme), await make(globex)]).toEqual([first, 409, first]);
    expect(first).toBeLessThan(300);
  });

  test('credentials that are rotated', async () => {
    const endpoint = async () =>
      (await acme.cp('POST', '/v1/webhook-deliveries/endpoints', { url: `https://example.com/${(hooks += 1)}` })).body;
    const rotate = async ({ id }: { id: string }) =>
      (await acme.cp('POST', `/v1/webhook-deliveries/endpoints/${id}/rotate-secret`, {})).status;
    const [one, two] = [await endpoint(), await endpoint()];
    expect([await rotate(one), await rotate(one), await rotate(two)]).toEqual([200, 409, 200]);
  });

  test('slots at the hosts of receivers', async () => {
    const places = createPlaceStore(service.runtime.db, { atOnce: 2 });
    let holders = 0;
    const take = async ({ caller }: Tenant, host: string) => {
      const wanted = { customerId: caller.customerId, host, holder: `delivery-${(holders += 1)}`, forMs: 600_000 };
      return (await places.take(wanted)) === undefined;
    };
    const [one, two] = ['one.example', 'two.example'];
    expect([await take(acme, one), await take(acme, one), await take(acme, two), await take(globex, one)]).toEqual([
      ...[true, false, true, true],
    ]);
  });

  // Their names are numbers: of migrations, sums of lists and addresses of notices.
  test('chores of the deployment', () =>
    holding([sql`4711001`, sql`4711002`, sql`4711006`], async () => {
      await run(acme, 'while chores are done');
      expect((await acme.cp('GET', '/v1/runs')).status).toBe(200);
    }));
});
