/**
 * Calls that are paid for although nobody hears their reply. The model costs a cent a token of output and nothing for
 * input; a reply may have a hundred, so that a dollar is held for each call.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { sql } from 'drizzle-orm';
import { createTurnActivities } from '../../../activities/turns.ts';
import { first } from '../../../src/platform/core/present.ts';
import { dispatch, eventsOf, rowOf, typesOf } from '../../support/fixtures/runs.ts';
import { answer, hang, stall, truncate, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { eventually, type Tenant, type TestService } from '../../support/service/service.ts';
import { startPricedService } from '../../support/service/priced.ts';

let provider: OpenAiServer;
let close: () => Promise<void>;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  ({ service, provider, close } = await startPricedService({
    BILLING_MODE: 'live',
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  }));
  acme = await service.tenant('acc_acme');
  const { wallets } = service.services.stores;
  const topup = { key: 'session:cs_1', kind: 'topup', deltaUsdMicros: 1_000_000_000 } as const;
  await wallets.post({ customerId: acme.caller.customerId, ...topup });
});
beforeEach(() => provider.reset());
afterAll(() => close?.());

const limited = (cost_budget_usd: string) => ({
  agent: 'assistant',
  prompt: 'Do as scripted',
  override: { cost_budget_usd },
});

/** What the run cost, everywhere that it is kept: on its row, in its budget, in its events and in the wallet. */
async function costsOf(runId: string) {
  const kept = first(
    await service.runtime.db.rows<Record<string, number>>(sql`
    select (select cost_usd::float8 from runs where id = ${runId}) as run,
      (select spent_usd::float8 from budgets where id = ${`run:${runId}`}) as budget,
      (select reserved_usd::float8 from budgets where id = ${`run:${runId}`}) as held,
      (select coalesce(sum(cost_usd), 0)::float8 from run_events where run_id = ${runId}) as events,
      (select coalesce(-sum(delta_usd_micros), 0)::float8 / 1000000 from wallet_ledger
        where starts_with(key, ${`run:${runId}:`})) as wallet`),
  );
  return kept;
}
const costing = (usd: number, held = 0) => ({ run: usd, budget: usd, events: usd, wallet: usd, held });
const abortedOf = async (runId: string) => (await eventsOf(acme, runId)).filter(({ status }) => status === 'aborted');

// Guards: what a cancelled call had produced is paid for, shown, and recorded before the end of the timeline.
test('a call that is cancelled', async () => {
  provider.script(stall('Once upon a time'));
  const runId = await dispatch(acme, limited('5'));
  await provider.received(1);
  await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  await eventually(async () => expect(await costsOf(runId)).toEqual(costing(0.04)));
  expect(await abortedOf(runId)).toMatchObject([
    {
      event_type: 'claude_request',
      cost_usd: '0.04',
      payload: { turn: 1, attempt: 1, code: 'cancelled', output_tokens: 4, priced: true },
    },
  ]);
  expect((await typesOf(acme, runId)).at(-1)).toBe('run_cancelled');
  expect(await rowOf(acme, runId)).toMatchObject({ total_cost_usd: '0.04', last_event_type: 'run_cancelled' });
});

// Guards: each attempt is paid for, including the one that gives a reply.
test('replies that cannot be used', async () => {
  provider.script(truncate('Once upon a time'), truncate('Once'), answer('The end.'));
  const run = await acme.run(limited('5'));
  expect(run).toMatchObject({ status: 'succeeded', output: 'The end.' });
  expect(await costsOf(run.run_id)).toEqual(costing(0.08));
  expect(await abortedOf(run.run_id)).toMatchObject([
    { cost_usd: '0.04', payload: { attempt: 1, code: 'model_malformed_reply' } },
    { cost_usd: '0.01', payload: { attempt: 2, code: 'model_malformed_reply' } },
  ]);
});

// Guards: the cost of an aborted attempt counts against the budget before the next attempt.
test('a budget that an aborted attempt used up', async () => {
  provider.script(truncate('Once upon a time'), answer('never asked for'));
  const run = await acme.run(limited('1.03'));
  expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^budget_exceeded/) });
  expect(provider.requests).toHaveLength(1);
  expect(await costsOf(run.run_id)).toEqual(costing(0.04));
});

/** A second attempt at a turn whose first one is still under way, as after a heartbeat that did not arrive. */
function takeTurnAgain(runId: string, heartbeatDetails?: unknown) {
  const { services, runtime } = service;
  const { stores, engine, tools, models } = services;
  const activities = createTurnActivities({
    runs: stores.runs,
    agents: stores.agents,
    tools,
    models,
    log: runtime.log,
    settings: runtime.config,
    modelCredentials: services.modelCredentials,
    loadBeginning: services.loadBeginning,
    findRecordedReply: services.samples.findReply,
    loadPictures: services.loadPictures,
    noteTurn: engine.noteTurn,
    tariffOf: services.tariffOf,
    startFollowing: async () => {},
    wakeRun: async () => {},
    scribe: services.scribe,
    makeQuickCalls: async (_, calls) => ({ calls: [...calls], results: [] }),
  });
  const context = {
    info: { attempt: 2, heartbeatDetails },
    heartbeat() {},
    cancellationSignal: new AbortController().signal,
  } as unknown as Context;
  const limits = { maxTurns: 10, maxTokens: 1_000_000 };
  return asyncLocalStorage.run(context, () => activities.takeTurn({ runId, turn: 1, limits } as never));
}

// Guards: where two attempts both give a reply, both are paid for and one is used.
test('a reply that another attempt was quicker with', async () => {
  let finish = () => {};
  provider.script((response, request) => (finish = () => answer('Too late.')(response, request)), answer('First.'));
  const runId = await dispatch(acme, limited('5'));
  await provider.received(1);
  expect(await takeTurnAgain(runId)).toEqual({ kind: 'ended', status: 'succeeded' });
  expect(await costsOf(runId)).toEqual(costing(0.03));
  finish();
  await eventually(async () => expect(await costsOf(runId)).toEqual(costing(0.06)));
  expect(await abortedOf(runId)).toMatchObject([{ payload: { attempt: 1, code: 'superseded', output_tokens: 3 } }]);
  expect(await acme.waitForRun(runId)).toMatchObject({ output: 'First.' });
});

// Guards: a call whose worker died is booked once, by the next attempt, as far as its cost is known.
test('a call whose worker was killed', async () => {
  provider.script(hang(), answer('Again.'));
  const runId = await dispatch(acme, limited('5'));
  await provider.received(1);
  await takeTurnAgain(runId, { turn: 1, attempt: 1 });
  expect(await abortedOf(runId)).toMatchObject([
    { payload: { attempt: 1, code: 'worker_lost', input_tokens: expect.any(Number), output_tokens: 0 } },
  ]);
  expect(await costsOf(runId)).toEqual(costing(0.03));
});

const turn = (runId: string, n: number) => ({
  run: {
    id: runId,
    customerId: acme.caller.customerId,
    parentRunId: null,
    attemptId: null,
    agent: 'assistant',
    conversation: null,
    modelProvider: null,
    budgetIds: [`run:${runId}`],
  },
  turn: n,
  usage: { inputTokens: 1, outputTokens: 50 },
  costUsd: '0.5',
  wallet: {
    customerId: acme.caller.customerId,
    charge: {
      customerId: acme.caller.customerId,
      key: `run:${runId}:${n}`,
      kind: 'run' as const,
      deltaUsdMicros: -500_000,
    },
  },
});

// Guards: repeating a record whose answer was lost books nothing again: for a run in flight, for one that has ended,
// and for an aborted call.
test.each(['running', 'cancelled'])('a turn of a %s run that is recorded twice', async (status) => {
  provider.script(hang());
  const runId = await dispatch(acme, limited('5'));
  await provider.received(1);
  if (status === 'cancelled') await service.services.stores.runs.endRun(runId, { status: 'cancelled' });
  const { runs } = service.services.stores;
  const record = {
    ...turn(runId, 1),
    model: 'scripted',
    reply: [],
    toolCalls: [],
    events: [{ key: 'turn:1', type: 'claude_iteration' as const, costUsd: '0.5', payload: { attempt: 1 } }],
  };
  await runs.recordTurn(record);
  const once = { run: 0.5, budget: 0.5, wallet: 0.5, held: 0, events: status === 'running' ? 0.5 : 0 };
  expect(await costsOf(runId)).toEqual(once);
  await runs.recordTurn(record);
  expect(await costsOf(runId)).toEqual(once);
  if (status === 'running') await service.services.stores.runs.endRun(runId, { status: 'failed' });
});

test('an aborted call that is recorded twice', async () => {
  provider.script(answer('Done.'));
  const { run_id: runId } = await acme.run(limited('5'));
  const { runs } = service.services.stores;
  const aborted = (attempt: number) => {
    const call = turn(runId, 2);
    call.wallet.charge.key += `:${attempt}`;
    const key = `turn:2:attempt:${attempt}`;
    return { ...call, attempt, event: { key, type: 'claude_request' as const, status: 'aborted', payload: {} } };
  };
  for (const attempt of [1, 1, 2, 2]) await runs.recordAbortedCall(aborted(attempt));
  expect(await costsOf(runId)).toMatchObject({ run: 1.03, budget: 1.03, wallet: 1.03 });
});
