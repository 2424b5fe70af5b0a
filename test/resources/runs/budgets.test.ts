/** The model costs nothing for input and one cent a token of output, of which a reply may have a hundred: a dollar. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { last } from '../../../src/platform/core/present.ts';
import { answer, callTools, type OpenAiServer, type Reply } from '../../support/fakes/openai-server.ts';
import { eventually, type Tenant, type TestService } from '../../support/service/service.ts';
import { CALL_COST, startPricedService } from '../../support/service/priced.ts';
import { dispatch, eventsOf, rowOf, typesOf } from '../../support/fixtures/runs.ts';

let provider: OpenAiServer;
let close: () => Promise<void>;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  ({ service, provider, close } = await startPricedService());
  acme = await service.tenant('acc_acme');
});
beforeEach(() => provider.reset());
afterAll(() => close?.());

const limited = (cost_budget_usd: string | number, override = {}) => ({
  agent: 'assistant',
  prompt: 'Do as scripted',
  override: { cost_budget_usd, ...override },
});
const time = callTools({ id: 'time', name: 'current_time', arguments: {} });

async function budgetOf(runId: string) {
  const [row] = await service.runtime.db.rows(sql`
    select limit_usd::float8 as "limit", spent_usd::float8 as spent, reserved_usd::float8 as reserved
    from budgets where id = ${`run:${runId}`}`);
  return row as { limit: number; spent: number; reserved: number };
}

// Guards: a run stops before it exceeds its budget: a call that may cost a dollar is not made for 99 cents.
test.each(['0.99', '0', 0.99])('a budget of %p is too small for one call', async (budget) => {
  const run = await acme.run(limited(budget));
  expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^budget_exceeded: .*may cost 1 USD/) });
  expect(provider.requests).toHaveLength(0);
  expect((await rowOf(acme, run.run_id)).total_cost_usd).toBe('0');
  expect((await typesOf(acme, run.run_id)).at(-1)).toBe('run_failed');
  expect(await budgetOf(run.run_id)).toMatchObject({ spent: 0, reserved: 0 });
});

// Guards: before the next call, the hold is released and the cost is booked.
test.each([
  ['1', 'stops before the second call', 'failed', 1],
  ['1.029', 'stops before the second call', 'failed', 1],
  ['1.03', 'is just enough for both calls', 'succeeded', 2],
])('a budget of %s %s', async (budget, _, status, calls) => {
  provider.script(time, answer('It is late.'));
  const run = await acme.run(limited(budget));
  expect(run.status).toBe(status);
  expect(provider.requests.map(({ body }) => body.max_tokens)).toEqual(Array(calls).fill(100));
  expect(await budgetOf(run.run_id)).toEqual({ limit: Number(budget), spent: calls * 0.03, reserved: 0 });
  expect(Number((await rowOf(acme, run.run_id)).total_cost_usd)).toBeCloseTo(calls * 0.03, 8);
});

// Guards against: a budget that grew with each call of a provider that reports fewer than no tokens, and paid calls that
// no record could hold. What cannot be a count is counted by the service: three words and the list of
// calls are four cents.
test.each([-90, 0.5, 1e25])('a provider that reports %d tokens', async (tokens) => {
  provider.script(answer('One two three', { inputTokens: tokens, outputTokens: tokens }));
  const run = await acme.run(limited('1'));
  expect(run).toMatchObject({ status: 'succeeded', output: 'One two three' });
  expect(provider.requests).toHaveLength(1);
  expect(await budgetOf(run.run_id)).toEqual({ limit: 1, spent: 0.04, reserved: 0 });
});

// Guards: the hold exists during the call, and a cancelled or failed call does not keep it.
test('a hold ends with its call', async () => {
  provider.otherwise(() => {});
  const runId = await dispatch(acme, limited('1'));
  await provider.received(1);
  expect(await budgetOf(runId)).toMatchObject({ spent: 0, reserved: 1 });
  await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  await eventually(async () => expect(await budgetOf(runId)).toMatchObject({ spent: 0, reserved: 0 }));
  provider.otherwise((response) => void response.writeHead(400).end('{}'));
  const failed = await acme.run(limited('1'));
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringMatching(/^model_refused_request/) });
  expect(await budgetOf(failed.run_id)).toMatchObject({ spent: 0, reserved: 0 });
});

// Guards: spawned runs spend from their parent's budget, also simultaneously, and never exceed it.
test('children share the budget of their parent', async () => {
  const held: (() => void)[] = [];
  const isParent = ({ body }: Parameters<Reply>[1]) => JSON.stringify(body.messages).includes('Do as scripted');
  const spawns = Array.from({ length: 6 }, (_, i) => ({
    id: `spawn${i}`,
    name: 'spawn_run',
    arguments: { agent: 'writer', prompt: `Part ${i}` },
  }));
  provider.script(callTools(...spawns));
  provider.otherwise((response, request) => {
    if (isParent(request)) answer('All done.')(response, request);
    else held.push(() => answer('A part.')(response, request));
  });
  const parentId = await dispatch(acme, limited('3.5'));
  const parts = async () => {
    const { body } = await acme.cp('GET', '/v1/runs?agent=writer');
    return body.data as { run_id: string; parent_run_id: string; last_status: string; total_cost_usd: string }[];
  };
  // 3.47 are left, so three calls can be held and three children are refused while those are under way.
  await eventually(async () => {
    const statuses = (await parts()).map(({ last_status }) => last_status).sort();
    expect([statuses, held.length]).toEqual([['failed', 'failed', 'failed', 'running', 'running', 'running'], 3]);
  });
  expect(await budgetOf(parentId)).toEqual({ limit: 3.5, spent: 0.03, reserved: 3 });
  for (const release of held) release();
  expect(await acme.waitForRun(parentId)).toMatchObject({ status: 'succeeded', output: 'All done.' });
  expect(provider.requests).toHaveLength(5);
  expect(await budgetOf(parentId)).toEqual({ limit: 3.5, spent: 0.15, reserved: 0 });
  const costs = (await parts()).map(({ total_cost_usd }) => total_cost_usd).sort();
  expect(costs).toEqual(['0', '0', '0', CALL_COST, CALL_COST, CALL_COST]);
  for (const { run_id, parent_run_id, last_status } of await parts()) {
    expect(parent_run_id).toBe(parentId);
    if (last_status === 'failed') expect(last(await eventsOf(acme, run_id)).payload.code).toBe('budget_exceeded');
  }
});

// Guards: a run with a budget is refused where a model has no price, and the refusal says what to do.
test('a budget on a model without a price', async () => {
  const run = await acme.run(limited('1000', { model_override: 'mystery' }));
  expect(run).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^model_unpriced: .*mystery.*MODEL_PRICES/),
  });
  expect(provider.requests).toHaveLength(0);
});

// Guards: a failed attempt that is repeated holds its amount once.
test('a repeated call holds once', async () => {
  provider.script((response) => void response.writeHead(503).end(), answer('Now.'));
  const run = await acme.run(limited('1'));
  expect(run).toMatchObject({ status: 'succeeded', output: 'Now.' });
  expect(await budgetOf(run.run_id)).toEqual({ limit: 1, spent: 0.03, reserved: 0 });
});

// Guards: the hold of a call whose worker died after the run was cancelled is released within minutes, but not while a
// live worker may not have heard of the cancellation.
test.each([
  [1, 1],
  [3, 0],
])('%s minutes after the end of a run a hold that nobody ended is %s USD', async (minutes, reserved) => {
  provider.script(answer('Done.'));
  const { run_id: id } = await acme.run(limited('5'));
  const { db } = service.runtime;
  await db.rows(sql`update runs set completed_at = now() - make_interval(mins => ${minutes}) where id = ${id}`);
  await db.rows(
    sql`insert into cost_reservations (run_id, turn, budget_id, amount_usd) values (${id}, 2, ${`run:${id}`}, 1)`,
  );
  await db.rows(sql`update budgets set reserved_usd = 1 where id = ${`run:${id}`}`);
  await service.services.stores.runs.releaseForgotten();
  expect(await budgetOf(id)).toMatchObject({ reserved });
});
