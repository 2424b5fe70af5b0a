/** GET /v1/cost/rollup: the sums that it gives are those of the runs, however they are grouped. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { makeProject, makeTemplate } from '../projects/pipeline.ts';
import { phase, spec, step } from '../templates/specs.ts';

let service: TestService;
let tenant: Tenant;
let projectId: string;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_spender');
  await (await service.tenant('acc_other')).run({ agent: 'writer', prompt: 'Cost somebody else.' });
  await tenant.run({ agent: 'writer', prompt: 'Cost something.' });
  await tenant.run({ agent: 'analyst', prompt: 'Cost something more.' });
  await makeTemplate(tenant, spec({ slug: 'spending', phases: [phase('draft', { steps: [step('write')] })] }));
  ({ id: projectId } = await makeProject(tenant, { workflow_slug: 'spending', params: undefined }));
  await eventually(async () => {
    const { body } = await tenant.cp('GET', `/v1/projects/${projectId}`);
    expect(body.status).toBe('completed');
  });
  // One of last week, of a model without a price, and one of two months ago.
  await service.runtime.db.rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, status, completed_at, created_at, cost_usd,
      input_tokens, output_tokens, is_priced, event_count)
    values ('old', 'spender', null, 'rest', '', 'succeeded', now(), now() - interval '10 days', 0.00000001,
      5000000000, 7, false, 1),
      ('older', 'spender', 'writer', 'rest', '', 'succeeded', now(), now() - interval '60 days', 5, 1, 1, true, 1)`);
});
afterAll(() => service.close());

const rollup = async (query: string) => (await tenant.cp('GET', `/v1/cost/rollup?${query}`)).body;
interface Row {
  key: string | null;
  cost_usd: string;
  run_count: number;
}
const micros = (usd: string) => Math.round(Number(usd) * 1e8);
const sumOf = (rows: readonly Row[]) => rows.reduce((sum, { cost_usd }) => sum + micros(cost_usd), 0);

const WINDOWS = ['24h', '7d', '30d'];
const GROUPS = ['agent', 'model', 'project', 'day'];

// Guards: every grouping adds up to the total of GET /v1/runs/costs, to the last digit.
test.each(WINDOWS.flatMap((window) => GROUPS.map((group) => [window, group])))(
  '%s by %s adds up',
  async (window, group) => {
    const { data, meta } = await rollup(`window=${window}&group_by=${group}`);
    const { body: costs } = await tenant.cp('GET', `/v1/runs/costs?window=${window}`);
    const { total_cost_usd, saved_usd, run_count } = costs.meta;
    expect(meta).toEqual({ window, group_by: group, since: expect.any(String), total_cost_usd, saved_usd, run_count });
    expect(run_count).toBe(window === '30d' ? 4 : 3);
    expect(sumOf(data)).toBe(micros(total_cost_usd));
    expect(data.reduce((sum: number, row: Row) => sum + row.run_count, 0)).toBe(run_count);
  },
);

// Guards: a step's run counts for its project and for its agent; a run without one of them has the key null.
test('counts steps to their project', async () => {
  const { data } = await rollup('window=24h&group_by=project');
  expect(data.map(({ key, run_count }: Row) => [key, run_count]).sort()).toEqual(
    [
      [null, 2],
      [projectId, 1],
    ].sort(),
  );
  const { body: cost } = await tenant.cp('GET', `/v1/projects/${projectId}/cost`);
  expect(data.find(({ key }: Row) => key === projectId).cost_usd).toBe(cost.total_usd);
  const agents = (await rollup('window=24h')).data.map(({ key }: Row) => key);
  expect(agents).toEqual(expect.arrayContaining(['analyst', 'writer']));
});

// Guards: runs without a known price are reported, large sums are exact, no cost has an exponent, and days are in
// order.
test('tells of runs without a price', async () => {
  const { data } = await rollup('window=30d&group_by=day');
  expect(data[0]).toMatchObject({
    cost_usd: '0.00000001',
    run_count: 1,
    input_tokens: 5_000_000_000,
    output_tokens: 7,
    unpriced_runs: 1,
  });
  const days = data.map(({ key }: Row) => key);
  expect(days).toEqual([...days].sort());
  expect(days[0]).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

// Guards: the defaults, and that nothing else is taken for a window or a group.
test('takes the windows and groups that there are', async () => {
  expect((await rollup('')).meta).toMatchObject({ window: '7d', group_by: 'agent' });
  for (const query of [
    'window=1h',
    'window=',
    'group_by=prompt',
    'group_by=__proto__',
    'group_by=agent&group_by=day',
  ]) {
    expect([query, (await tenant.cp('GET', `/v1/cost/rollup?${query}`)).status]).toEqual([query, 422]);
  }
  const idle = await service.tenant('acc_idle');
  expect((await idle.cp('GET', '/v1/cost/rollup')).body).toMatchObject({
    data: [],
    meta: { total_cost_usd: '0', run_count: 0 },
  });
});

// Guards: the sums of one day do not read the runs of a year. This test comes last because it makes those runs.
test('is served by an index', async () => {
  const { db } = service.runtime;
  await db.rows(sql`
    insert into runs (id, customer_id, transport, prompt, status, completed_at, created_at, event_count)
    select 'filler' || n, 'spender', 'rest', '', 'succeeded', now(), now() - make_interval(hours => n), 1
    from generate_series(30, 5000) n`);
  await db.rows(sql`analyze runs`);
  const plan = await db.rows(sql`
    explain select sum(cost_usd) from runs
    where customer_id = 'spender' and created_at >= now() - make_interval(hours => 24)`);
  expect(JSON.stringify(plan)).toContain('runs_by_time');
});
