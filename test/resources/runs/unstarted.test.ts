/** Runs that are accepted while no worker is there, in the order of this file: the last test starts one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, listTotal, rowOf, typesOf, untilStatus } from '../../support/fixtures/runs.ts';
import { makeDue } from '../../support/service/housekeeping.ts';

let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { HOUSEKEEPING_INTERVAL: '1s' } });
  acme = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

const prompt = { agent: 'writer', prompt: 'Whenever you can' };
let cancelledId: string;

// Guards: a run that no workflow works on can be cancelled.
test('a queued run is cancelled without a worker', async () => {
  cancelledId = await dispatch(acme, prompt);
  expect(await rowOf(acme, cancelledId)).toMatchObject({ last_status: 'queued', last_event_type: 'run_received' });
  const cancel = () => acme.cp('POST', `/v1/runs/${cancelledId}/cancel`);
  expect(await cancel()).toMatchObject({ status: 200, body: { run_id: cancelledId, status: 'cancelled' } });
  expect(await typesOf(acme, cancelledId)).toEqual(['run_received', 'run_cancelled']);
  expect(await cancel()).toMatchObject({ status: 409, body: { detail: 'run_not_in_flight' } });
  expect((await acme.cp('GET', '/v1/runs/stats/today')).body).toMatchObject({ runs: 1, in_flight: 0 });
});

// Guards: a run without a transcript has no context yet.
test('a queued run has no context', async () => {
  const runId = await dispatch(acme, prompt);
  for (const path of ['context', 'context/content']) {
    expect(await acme.cp('GET', `/v1/runs/${runId}/${path}`)).toMatchObject({
      status: 404,
      body: { detail: 'not_found' },
    });
  }
  expect((await acme.cp('GET', '/v1/runs/stats/today')).body).toMatchObject({ runs: 2, in_flight: 1 });
});

// Guards: the daily cap is exact under simultaneous creates, by both surfaces and by retry, and a refused run leaves no
// row.
test('the daily cap holds', async () => {
  const free = await service.tenant('acc_free', 'free');
  const create = (i: number) => (i % 2 ? free.api : free.cp)('POST', '/v1/runs', prompt);
  const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => create(i)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(20);
  const detail = { code: 'plan_limit_exceeded', resource: 'runs_per_day', current: 100, limit: 100, tier: 'free' };
  for (const { status, body } of refused) expect({ status, body }).toEqual({ status: 403, body: { detail } });
  expect(await listTotal(free)).toBe(100);
  const accepted = present(answers.find(({ status }) => status === 201)).body.run_id;
  expect(await free.cp('POST', `/v1/runs/${accepted}/retry`)).toMatchObject({ status: 403, body: { detail } });
  // Of another day, so not counted.
  await service.runtime.db.rows(sql`update usage_counters set day = '2020-01-01' where customer_id = 'free'`);
  expect((await create(0)).status).toBe(201);
});

// Guards: an archived workspace reads but starts nothing.
test('an archived workspace cannot start a run', async () => {
  const old = await service.tenant('acc_old');
  const runId = await dispatch(old, prompt);
  await service.runtime.db.rows(sql`
    update workspaces set status = 'archived', archived_at = now() where customer_id = 'old'`);
  const starts = [
    ['/v1/runs', prompt],
    [`/v1/runs/${runId}/retry`, undefined],
  ] as const;
  for (const [path, body] of starts) {
    expect(await old.cp('POST', path, body)).toMatchObject({ status: 403, body: { detail: 'workspace_archived' } });
  }
  expect(await old.api('POST', '/v1/runs', prompt)).toMatchObject({
    status: 403,
    body: { detail: 'workspace_archived' },
  });
  expect(await listTotal(old)).toBe(1);
});

/** Accepts a run as a route or a spawning run does, long ago, and loses its start. */
async function loseStart(parent?: { runId: string }): Promise<string> {
  const id = newRunId();
  await service.services.stores.runs.acceptRun({
    ...prompt,
    id,
    customerId: 'acme',
    transport: 'rest',
    override: null,
    threadId: null,
    channelId: null,
    conversation: null,
    ...(parent && { parent: { ...parent, callId: id, depth: 1, budgetIds: [], attemptId: null } }),
  });
  await service.runtime.db.rows(sql`update runs set start_due_at = now() where id = ${id}`);
  return id;
}

// Guards: housekeeping starts a run that was accepted and never started, and a cancelled one stays cancelled.
test('a lost start is repeated', async () => {
  const inFlight = await dispatch(acme, prompt);
  const lost = await loseStart();
  const orphan = await loseStart({ runId: cancelledId });
  const child = await loseStart({ runId: inFlight });
  // The child is its parent's to start: a second starter would take its result away from the parent.
  const { takeUnstarted, loadUnstarted } = service.services.stores.runs;
  const { ids } = await takeUnstarted({ after: '', workspaces: 10, each: 10 });
  const unstarted = (await loadUnstarted(ids)).map(({ id }) => id);
  expect(unstarted).toEqual([lost, orphan]);
  expect(unstarted).not.toContain(child);
  await makeDue(service.runtime.db);
  await service.startWorker();
  expect(await acme.waitForRun(lost)).toMatchObject({ status: 'succeeded', agent: 'writer' });
  expect(await acme.waitForRun(orphan)).toMatchObject({ status: 'cancelled' });
  expect(await typesOf(acme, orphan)).toEqual(['run_received', 'run_cancelled']);
  await untilStatus(acme, inFlight, 'succeeded');
  expect(await typesOf(acme, cancelledId)).toEqual(['run_received', 'run_cancelled']);
});
