/** What the console asks of runs: finding them by anything, a page after another, and one of them whole. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;
beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
});
afterAll(() => service?.close());

interface Found {
  run_id: string;
  status: string;
  prompt: string;
}
const search = async (query: Record<string, string> = {}, tenant = acme) => {
  const { status, body } = await tenant.cp('GET', `/v1/runs/search?${new URLSearchParams(query).toString()}`);
  expect(status).toBe(200);
  return body as { data: Found[]; meta: { next: string | null } };
};
/** All pages, one after another. */
async function all(query: Record<string, string> = {}): Promise<Found[]> {
  const found: Found[] = [];
  for (let before: string | null = ''; before !== null;) {
    const page: Awaited<ReturnType<typeof search>> = await search({ ...query, ...(before && { before }) });
    found.push(...page.data);
    before = page.meta.next;
  }
  return found;
}

// Guards: a search box finds a run by its bare id, in upper or lower case, and by any text of the prompt.
test('a run is found by its id and by its text, in its workspace alone', async () => {
  const run = await acme.run({ agent: 'assistant', prompt: 'A rare 100%_word here' });
  for (const q of [run.run_id, run.run_id.toUpperCase(), 'RARE 100%', '%_word']) {
    expect((await search({ q })).data.map(({ run_id: id }) => id)).toEqual([run.run_id]);
    expect((await search({ q }, other)).data).toEqual([]);
  }
  expect((await search({ q: 'rare%word' })).data).toEqual([]);
  expect((await search({ before: run.run_id }, other)).data).toEqual([]);
});

// Guards against: pages that skip or repeat a run, and a rare match that is found only by a walk over all runs at once.
test('pages follow one another, and each looks at so many runs at most', async () => {
  await service.runtime.db.rows(sql`
    insert into runs (id, customer_id, transport, agent, prompt, status, cost_usd, completed_at, created_at)
    select 'bulk' || lpad(n::text, 6, '0'), ${acme.caller.customerId}, 'cli', 'planner', 'bulk ' || n,
      (case when n % 200 = 0 then 'failed' else 'succeeded' end)::run_status, n::numeric / 1000, now(),
      now() - interval '2 h' * (n < 1200)::int
    from generate_series(1, 2200) n`);
  const failed = await all({ agent: 'planner', status: 'failed', limit: '4' });
  expect(failed.map(({ prompt }) => prompt)).toEqual(Array.from({ length: 11 }, (_, i) => `bulk ${2_200 - 200 * i}`));
  const first = await search({ agent: 'planner', q: 'bulk 19', limit: '200' });
  expect(itemAt(first.data, 0).prompt).toBe('bulk 1999');
  // The second 1,000 hold the ones that the first do not.
  expect(await all({ agent: 'planner', q: 'bulk 11' }).then((found) => found.length)).toBe(111);
  const oldest = await search({ agent: 'planner', q: 'bulk 3 ' });
  expect([oldest.data.length, oldest.meta.next]).toEqual([0, 'bulk001201']);
  expect((await all({ agent: 'planner', since_hours: '1', limit: '200' })).length).toBe(1_001);
  expect((await all({ agent: 'planner', min_cost_usd: '2.19', limit: '200' })).map(({ prompt }) => prompt)).toEqual(
    Array.from({ length: 11 }, (_, i) => `bulk ${2_200 - i}`),
  );
  const { body } = await acme.cp('GET', '/v1/runs/counts?agent=planner');
  expect(body).toEqual({ queued: 0, running: 0, succeeded: 2_189, failed: 11, cancelled: 0 });
});

// Guards: the detail of a run has everything that was said, in order, with the tools' arguments and results.
test('a run is shown whole', async () => {
  const prompt = 'Add [[tool:calculator {"expression":"2340*0.17"}]]';
  const { body: accepted } = await acme.cp('POST', '/v1/runs', {
    agent: 'assistant',
    prompt,
    override: { cost_budget_usd: '2' },
  });
  const id = (await acme.waitForRun(accepted.run_id)).run_id;
  const { body: run } = await acme.cp('GET', `/v1/runs/${id}/summary`);
  expect(run).toMatchObject({ run_id: id, status: 'succeeded', prompt, turn_count: 2, children: [], can_retry: true });
  expect(run.budget).toMatchObject({ limit_usd: '2', reserved_usd: '0', spent_usd: run.cost_usd });

  const { body: whole } = await acme.cp('GET', `/v1/runs/${id}/timeline`);
  const types = whole.data.map(({ event_type: type }: { event_type: string }) => type);
  expect([types[0], types.at(-1), whole.meta.next]).toEqual(['run_received', 'run_completed', null]);
  const paged: unknown[] = [];
  for (let after: number | null = 0; after !== null;) {
    const { body }: { body: typeof whole } = await acme.cp('GET', `/v1/runs/${id}/timeline?limit=2&after=${after}`);
    paged.push(...body.data);
    after = body.meta.next;
  }
  expect(paged).toEqual(whole.data);
  expect((await acme.cp('GET', `/v1/runs/${id}/timeline?after=${whole.meta.last}`)).body.data).toEqual([]);

  const { body: said } = await acme.cp('GET', `/v1/runs/${id}/transcript`);
  expect(said.data.map(({ turn, role }: { turn: number; role: string }) => `${turn} ${role}`)).toEqual([
    '0 system',
    '0 user',
    '1 assistant',
    '2 assistant',
  ]);
  expect(said.data[2].calls).toEqual([
    expect.objectContaining({
      tool: 'calculator',
      status: 'succeeded',
      arguments: { expression: '2340*0.17' },
      result: { result: '397.8' },
    }),
  ]);
  const { body: page } = await acme.cp('GET', `/v1/runs/${id}/transcript?from_turn=1&limit=1`);
  expect([page.data.length, page.meta.next_turn]).toEqual([1, 2]);
  for (const part of ['/summary', '/timeline', '/transcript']) {
    expect((await other.cp('GET', `/v1/runs/${id}${part}`)).status).toBe(404);
  }
});

// Guards against: an answer of megabytes that a page loads without being asked.
test('a large value is cut in the transcript, and says so', async () => {
  const { run_id: id } = await acme.run({ agent: 'assistant', prompt: 'x'.repeat(100_000) });
  const { body } = await acme.cp('GET', `/v1/runs/${id}/transcript`);
  expect(body.data[1].content).toMatch(/^"x{3999} … \(cut: 100002 bytes\)$/);
});
