import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { dispatch, listTotal, typesOf } from '../../support/fixtures/runs.ts';

let wire: TcpProxy;
let service: TestService;
let acme: Tenant;
let queued: string;
beforeAll(async () => {
  wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  process.env.TEST_TEMPORAL_ADDRESS = wire.address; // of this file alone: jest gives each its own environment
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme', 'free');
  queued = await dispatch(acme, { agent: 'writer', prompt: 'Accepted in time' });
});
afterEach(() => wire.restore());
afterAll(async () => {
  await service?.close();
  await wire?.close();
});

const unreachable = { status: 502, body: { detail: 'runtime_unreachable' } };
const DEADLINE_MS = 9_000;

describe.each(['refuse', 'hang'] as const)('when Temporal is away (connections %s)', (how) => {
  // Guards: an operation that needs Temporal answers 502 in time and changes nothing: no row, no event, no use of the
  // cap.
  test('starts and cancels are refused and leave nothing', async () => {
    await wire.cut(how);
    const total = await listTotal(acme);
    const body = { agent: 'writer', prompt: 'Never mind', override: { cost_budget_usd: '1' } };
    const answers = await Promise.all(
      [
        () => acme.api('POST', '/v1/runs', body),
        () => acme.cp('POST', '/v1/runs', { ...body, thread_id: 'talk' }),
        () => acme.cp('POST', `/v1/runs/${queued}/retry`),
        () => acme.cp('POST', `/v1/runs/${queued}/cancel`),
      ].map(async (ask) => {
        const startedAt = performance.now();
        const { status, body } = await ask();
        return { status, body, isInTime: performance.now() - startedAt < DEADLINE_MS };
      }),
    );
    expect(answers).toEqual(Array(4).fill({ ...unreachable, isInTime: true }));
    expect(await listTotal(acme)).toBe(total);
    expect(await typesOf(acme, queued)).toEqual(['run_received']);
    const [left] = await service.runtime.db.rows(sql`
      select (select sum(used)::int from usage_counters where resource = 'runs_per_day') as used,
        (select count(*)::int from budgets) as budgets, (select count(*)::int from run_events) as events`);
    expect(left).toEqual({ used: 1, budgets: 0, events: 1 });
  });

  // Guards: operations that need only Postgres work.
  test('reads go on', async () => {
    await wire.cut(how);
    const reads = [
      '/v1/runs',
      `/v1/runs/${queued}/detail`,
      `/v1/runs/${queued}/events`,
      '/v1/runs/stats/today',
      '/v1/runs/costs',
    ];
    for (const path of reads) expect((await acme.cp('GET', path)).status).toBe(200);
    expect((await acme.api('GET', `/v1/runs/${queued}`)).body.status).toBe('queued');
  });
});

// Guards: the connection recovers by itself: new runs are accepted, and one that was accepted before is carried out.
test('it recovers by itself', async () => {
  await wire.restore();
  expect((await acme.api('POST', '/v1/runs', { agent: 'writer', prompt: 'Two' })).status).toBe(201);
  await service.startWorker();
  expect(await acme.waitForRun(queued)).toMatchObject({ status: 'succeeded' });
});
