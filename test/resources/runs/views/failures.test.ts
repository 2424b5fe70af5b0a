/** Why runs failed, told once for all of one kind. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { groupFailures, reasonOf } from '../../../../src/resources/runs/views/failures.ts';
import { startTestService, type Tenant, type TestService } from '../../../support/service/service.ts';

describe('reasonOf', () => {
  // Guards: a summary with a line for each run, because each error has its own number, id or address in it.
  test.each([
    ['the budget of $0.50 is spent after 3 turns', 'the budget of $<n>.<n> is spent after <n> turns'],
    ['GET https://a.example/v1?x=1 answered 503', 'GET <address> answered <n>'],
    ['no such file: 01K9QZ4V7M2X8Y5T3R6W1B0C4D', 'no such file: <id>'],
    ['the tool "calculator" refused', 'the tool <text> refused'],
    ['the model did not answer', 'the model did not answer'],
  ])('%s', (error, reason) => expect(reasonOf(error)).toBe(reason));

  // Guards: the most frequent comes first, with the newest error as its example and no more ids than asked for.
  test('groups the runs', () => {
    const run = (n: number, error: string, agent: string | null = 'writer') => ({
      run_id: `r${n}`,
      agent,
      error,
      cost_usd: 0.5,
      completed_at: `2026-01-0${n}T00:00:00Z`,
    });
    const groups = groupFailures(
      [run(4, 'away'), run(3, 'took 9 s', 'painter'), run(2, 'took 8 s'), run(1, 'took 7 s')],
      2,
    );
    expect(groups).toMatchObject([
      {
        reason: 'took <n> s',
        example: 'took 9 s',
        count: 3,
        agents: ['painter', 'writer'],
        cost_usd: 1.5,
        run_ids: ['r3', 'r2'],
      },
      { reason: 'away', count: 1 },
    ]);
  });
});

describe('GET /v1/runs/failures', () => {
  let service: TestService;
  let acme: Tenant;
  let other: Tenant;
  beforeAll(async () => {
    service = await startTestService({ worker: false });
    acme = await service.tenant('acc_acme');
    other = await service.tenant('acc_other');
    await service.runtime.db.rows(sql`
      insert into runs (id, customer_id, agent, transport, prompt, status, error, created_at, completed_at)
      select 'failed-' || n, ${acme.caller.customerId}, 'writer', 'rest', 'p', 'failed', 'gave up after ' || n || ' s',
        now() - (n || ' hours')::interval, now() - (n || ' hours')::interval
      from generate_series(1, 30) n`);
  });
  afterAll(() => service?.close());

  // Guards: the window, the agent, and that nobody else's failures are told.
  test('answers by window and agent', async () => {
    const ask = async (query: string, tenant = acme) => (await tenant.cp('GET', `/v1/runs/failures${query}`)).body;
    const day = await ask('');
    expect(day.meta).toEqual({ since_hours: 24, looked_at: expect.any(Number) });
    expect(day.data).toMatchObject([{ reason: 'gave up after <n> s', agents: ['writer'], cost_usd: '0' }]);
    expect(day.data[0].count).toBeLessThan(30);
    expect((await ask('?since_hours=720')).data[0]).toMatchObject({ count: 30 });
    expect((await ask('?since_hours=720&agent=painter')).data).toEqual([]);
    expect((await ask('?since_hours=720', other)).data).toEqual([]);
  });
});
