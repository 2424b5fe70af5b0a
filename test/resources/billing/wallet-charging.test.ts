/**
 * What runs take from the wallet in live billing. The model costs nothing for input and a cent a token of output, of
 * which a reply may have a hundred: before each call a dollar is held, and three cents are charged.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chargeOf } from '../../../src/resources/billing/model.ts';
import { routerKeyOwner } from '../../../src/resources/billing/model-router/store.ts';
import { routerKeys } from '../../../src/resources/billing/table.ts';
import { doBehind } from '../../support/database/locks.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { confirmed } from '../../support/service/otp.ts';
import {
  agentStep,
  command,
  makeTemplate,
  phaseSpec,
  projectOf,
  startProject,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { dispatch, rowOf } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let folder: string;
let service: TestService;
let acme: Tenant;
let count = 0;

const LIVE = { BILLING_MODE: 'live', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };

async function startService(env: Record<string, string>, worker = true): Promise<TestService> {
  return startTestService({
    worker,
    env: {
      MODEL_PRICES: join(folder, 'prices.json'),
      MODEL_MAX_OUTPUT_TOKENS: '100',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      EGRESS_ALLOWLIST: new URL(provider.baseUrl).host,
      MODEL_ROUTER_URL: provider.baseUrl,
      MODEL_ROUTER_PROVISIONING_KEY: 'provisioning',
      ...env,
    },
  });
}

beforeAll(async () => {
  provider = await startOpenAiServer();
  folder = await mkdtemp(join(tmpdir(), 'aos-prices-'));
  const price = { input_usd_per_mtok: 0, output_usd_per_mtok: 10_000 };
  const cached = { input_usd_per_mtok: 1, output_usd_per_mtok: 1, cache_read_usd_per_mtok: 0.1 };
  await writeFile(join(folder, 'prices.json'), JSON.stringify({ scripted: price, 'openrouter/auto': price, cached }));
  service = await startService(LIVE);
});
beforeEach(async () => {
  provider.reset();
  acme = await service.tenant(`acc_charged_${++count}`);
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

const wallets = () => service.services.stores.wallets;
const credit = (micros: number, key = 'session:cs_1', of = acme) =>
  wallets().post({ customerId: of.caller.customerId, key, kind: 'topup', deltaUsdMicros: micros });
const balance = (of = acme) => wallets().balance(of.caller.customerId);
/** Charges, oldest first. */
const chargesOf = async (of = acme) => {
  const { rows } = await wallets().list(of.caller.customerId, { limit: 500, offset: 0 });
  return rows.filter(({ kind }) => kind !== 'topup').toReversed();
};
async function heldBy(of = acme) {
  const [row] = await service.runtime.db.rows<{ held: number; spent: number }>(sql`
    select reserved_usd::float8 as held, spent_usd::float8 as spent
    from budgets where id = ${`wallet:${of.caller.customerId}`}`);
  return row;
}
const ask = (of = acme, override = {}) => of.run({ agent: 'assistant', prompt: 'Do as scripted', override });
const time = callTools({ id: 'time', name: 'current_time', arguments: {} });

describe('a run in live billing', () => {
  // Guards: a run stops before a call that its credit does not cover, with no credit and with too little.
  test.each([undefined, 999_999])('needs credit: %p is too little', async (micros) => {
    if (micros) await credit(micros);
    const run = await ask();
    expect(run).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^budget_exceeded: .*may cost 1 USD and the wallet has .*buy credit/),
    });
    expect(provider.requests).toHaveLength(0);
    expect([await balance(), await chargesOf()]).toEqual([micros ?? 0, []]);
    expect((await heldBy())?.held ?? 0).toBe(0);
  });

  // Guards: the charge says what the cache of the provider took off it; one that took nothing off says nothing.
  test('is told what was saved', async () => {
    await credit(30_000_000);
    const cached = { inputTokens: 1_000_000, outputTokens: 3, cachedTokens: 900_000 };
    provider.script(callTools({ id: 'time', name: 'current_time', arguments: {} }), answer('It is late.', cached));
    expect(await ask(acme, { model_override: 'cached' })).toMatchObject({ status: 'succeeded' });
    const saved = (await chargesOf()).map(({ meta }) => meta.saved_usd);
    expect(saved).toEqual([undefined, '0.81']);
  });

  // Guards: each call is charged its cost in the record of its turn, and the next one is refused when credit is short.
  test('is charged for each call', async () => {
    await credit(1_050_000);
    provider.script(time, answer('It is late.'));
    const run = await ask();
    expect(run).toMatchObject({ status: 'succeeded', output: 'It is late.' });
    const meta = { run_id: run.run_id, agent: 'assistant', model: 'scripted' };
    expect(await chargesOf()).toMatchObject([
      { kind: 'run', delta_usd_micros: -30_000, balance_after_usd_micros: 1_020_000, meta },
      { kind: 'run', delta_usd_micros: -30_000, balance_after_usd_micros: 990_000, meta },
    ]);
    expect(await heldBy()).toEqual({ held: 0, spent: 0 });
    expect((await rowOf(acme, run.run_id)).total_cost_usd).toBe('0.06');
    expect((await ask()).error).toMatch(/^budget_exceeded/);
    expect(provider.requests).toHaveLength(2);
  });

  // Guards: what calls under way may cost is held, so runs at the same time never spend more than there is.
  test('shares the wallet with others that run at the same time', async () => {
    await credit(3_500_000);
    const open: (() => void)[] = [];
    provider.otherwise((response, request) => open.push(() => answer('Done.')(response, request)));
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => dispatch(acme, { agent: 'assistant', prompt: 'Do as scripted' })),
    );
    await eventually(async () => {
      const { body } = await acme.cp('GET', '/v1/runs');
      const statuses = body.data.map(({ last_status }: { last_status: string }) => last_status).sort();
      expect(statuses).toEqual([...Array(5).fill('failed'), ...Array(3).fill('running')]);
      expect(open).toHaveLength(3);
    });
    expect(await heldBy()).toEqual({ held: 3, spent: 0 });
    for (const reply of open) reply();
    await Promise.all(ids.map((id) => acme.waitForRun(id)));
    expect([await balance(), await heldBy()]).toEqual([3_410_000, { held: 0, spent: 0 }]);
  });

  // Guards: a run with its own budget is held to both limits, and its budget counts the price without the wallet's
  // markup.
  test('is held to its own budget too', async () => {
    await credit(10_000_000);
    provider.otherwise(answer('Done.'));
    expect((await ask(acme, { cost_budget_usd: '0.5' })).error).toMatch(/^budget_exceeded: .*budget of run/);
    expect(await heldBy()).toEqual({ held: 0, spent: 0 });
    const run = await ask(acme, { cost_budget_usd: '1.5' });
    expect(run.status).toBe('succeeded');
    const [own] = await service.runtime.db.rows(sql`
      select spent_usd::float8 as spent, reserved_usd::float8 as held from budgets where id = ${`run:${run.run_id}`}`);
    expect(own).toEqual({ spent: 0.03, held: 0 });
    expect(await balance()).toBe(9_970_000);
  });

  // Guards: a model without a price is refused, because nobody could be charged for it.
  test('is refused on a model without a price', async () => {
    await credit(10_000_000);
    const run = await ask(acme, { model_override: 'mystery' });
    expect(run.error).toMatch(/^model_unpriced: .*mystery.*wallet.*OPENAI_COMPATIBLE_PRICE \(0 if it.*MODEL_PRICES/);
    expect(provider.requests).toHaveLength(0);
  });

  // Guards: a failed attempt that is repeated holds and charges once.
  test('is charged once for a call that was repeated', async () => {
    await credit(1_000_000);
    provider.script((response) => void response.writeHead(503).end(), answer('Now.'));
    expect(await ask()).toMatchObject({ status: 'succeeded', output: 'Now.' });
    expect([await balance(), await heldBy()]).toEqual([970_000, { held: 0, spent: 0 }]);
  });

  // Guards: a refused or cancelled call leaves nothing held and nothing charged.
  test('that comes to nothing costs nothing', async () => {
    await credit(1_000_000);
    provider.otherwise((response) => void response.writeHead(400).end('{}'));
    expect((await ask()).error).toMatch(/^model_refused_request/);
    expect(await heldBy()).toEqual({ held: 0, spent: 0 });
    provider.otherwise(() => {});
    const runId = await dispatch(acme, { agent: 'assistant', prompt: 'Do as scripted' });
    await provider.received(2);
    expect(await heldBy()).toEqual({ held: 1, spent: 0 });
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
    await eventually(async () => expect(await heldBy()).toEqual({ held: 0, spent: 0 }));
    expect([await balance(), await chargesOf()]).toEqual([1_000_000, []]);
  });

  // Guards: what runs spawn is paid from the same wallet.
  test('pays for the runs that it spawns', async () => {
    await credit(10_000_000);
    const spawn = { id: 'spawn', name: 'spawn_run', arguments: { agent: 'writer', prompt: 'A part' } };
    provider.script(callTools(spawn), answer('A part.'), answer('All done.'));
    expect((await ask()).status).toBe('succeeded');
    expect((await chargesOf()).map(({ meta }) => meta.agent)).toEqual(['assistant', 'writer', 'assistant']);
  });
});

describe('who pays', () => {
  // Guards: a call with the workspace's own credential is neither held nor charged.
  test('the workspace itself, with its own credential', async () => {
    const own = await confirmed(acme, 'PUT', '/v1/integrations/openai-compatible/secrets/server.base_url', {
      value: provider.baseUrl,
    });
    expect(own.status).toBe(200);
    provider.otherwise(answer('Mine.'));
    expect(await ask()).toMatchObject({ status: 'succeeded', output: 'Mine.' });
    expect([await balance(), await chargesOf(), await heldBy()]).toEqual([0, [], undefined]);
  });

  // Guards: through the model router, calls are charged 1.2 times the provider's price, and that much is held. Models
  // without an operator's price have the router's, and the router's key is no credential of the workspace.
  test('the wallet with a markup, through the model router', async () => {
    const { customerId } = acme.caller;
    const sealed = service.services.secretBox.seal('router-key', routerKeyOwner(customerId));
    await service.runtime.db.orm.insert(routerKeys).values({ customerId, keyHash: 'h', limitUsd: '2', sealed });
    provider.otherwise(answer('Routed.'));
    await credit(1_199_999);
    expect((await ask()).error).toMatch(/^budget_exceeded: .*may cost 1.2 USD and the wallet has 1.199999 USD/);
    await credit(1, 'session:cs_2');
    const run = await ask();
    expect(run.status).toBe('succeeded');
    expect(await chargesOf()).toMatchObject([{ kind: 'model_router', delta_usd_micros: -36_000 }]);
    expect((await rowOf(acme, run.run_id)).total_cost_usd).toBe('0.03');

    const other = await ask(acme, { model_override: 'openai/gpt-5' });
    expect(other.status).toBe('succeeded');
    const { total_cost_usd } = await rowOf(acme, other.run_id);
    const micros = chargeOf(total_cost_usd, '1.2');
    expect(micros).toBeGreaterThan(0);
    expect((await chargesOf()).at(-1)).toMatchObject({ kind: 'model_router', delta_usd_micros: -micros });
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer router-key'));
  });

  // Guards: the operator's own workspace has no wallet.
  test('nobody, in the internal workspace', async () => {
    const operator = await service.tenant(`acc_operator_${count}`, 'internal');
    provider.otherwise(answer('On the house.'));
    expect((await ask(operator)).status).toBe('succeeded');
    expect([await balance(operator), await chargesOf(operator), await heldBy(operator)]).toEqual([0, [], undefined]);
  });

  // Guards: where billing is not live costs are recorded, and no wallet is asked.
  test('nobody, where billing is not live', async () => {
    const free = await startService({});
    try {
      const tenant = await free.tenant('acc_acme');
      provider.otherwise(answer('Free.'));
      const run = await ask(tenant);
      expect(run.status).toBe('succeeded');
      expect((await rowOf(tenant, run.run_id)).total_cost_usd).toBe('0.03');
      const [left] = await free.runtime.db.rows(sql`
        select (select count(*)::int from wallet_ledger) as ledger, (select count(*)::int from budgets where id like 'wallet:%') as budgets`);
      expect(left).toEqual({ ledger: 0, budgets: 0 });
    } finally {
      await free.close();
    }
  });
});

// Guards: a project pauses before a call that its workspace cannot pay, and with new credit it goes on.
test('a project without credit pauses', async () => {
  provider.otherwise(answer('Done.'));
  await makeTemplate(acme, 'three', [phaseSpec('text', [agentStep('a'), agentStep('b'), agentStep('c')])]);
  await credit(1_030_000);
  const id = await startProject(acme, 'three');
  expect(await untilProject(acme, id, 'paused')).toMatchObject({
    pause_reason: 'budget_breached',
    cost_total_usd: '0.06',
  });
  expect([provider.requests.length, await balance(), await heldBy()]).toEqual([2, 970_000, { held: 0, spent: 0 }]);
  await credit(5_000_000, 'session:cs_2');
  await command(acme, id, 'resume');
  expect(await untilProject(acme, id, 'completed')).toMatchObject({ cost_total_usd: '0.09' });
  expect(await balance()).toBe(5_940_000);
  const metas = (await chargesOf()).map(({ meta }) => meta);
  expect(metas.map(({ project_id }) => project_id)).toEqual([id, id, id]);
  expect(await projectOf(acme, id)).toMatchObject({ status: 'completed' });
});

// Guards: a worker that dies during a call leaves no double hold, and the repeated call is charged once.
test('a call that another worker makes again', async () => {
  const other = await startService(LIVE, false);
  try {
    const tenant = await other.tenant('acc_acme');
    await other.services.stores.wallets.post({
      customerId: 'acme',
      key: 'session:cs_1',
      kind: 'topup',
      deltaUsdMicros: 1_000_000,
    });
    provider.script(() => {}, answer('At last.'));
    const leaving = await other.startWorker();
    const runId = await dispatch(tenant, { agent: 'assistant', prompt: 'Do as scripted' });
    await provider.received(1);
    await leaving.close();
    await other.startWorker();
    expect(await tenant.waitForRun(runId)).toMatchObject({ status: 'succeeded', output: 'At last.' });
    const [left] = await other.runtime.db.rows(sql`
      select limit_usd::float8 as balance, reserved_usd::float8 as held from budgets where id = 'wallet:acme'`);
    expect([left, provider.requests.length]).toEqual([{ balance: 0.97, held: 0 }, 2]);
  } finally {
    await other.close();
  }
});

describe('the record of a turn', () => {
  const reservation = (runId: string, turn = 1) => ({
    runId,
    turn,
    budgetIds: [],
    amountUsd: '1',
    wallet: { customerId: acme.caller.customerId, micros: 1_000_000 },
  });
  const turnOf = (runId: string, turn = 1) => {
    const { customerId } = acme.caller;
    const run = { id: runId, customerId, parentRunId: null, attemptId: null, agent: 'assistant', budgetIds: [] };
    const charge = { customerId, key: `run:${runId}:${turn}`, kind: 'run' as const, deltaUsdMicros: -500_000 };
    return {
      run: { ...run, conversation: null, modelProvider: null },
      turn,
      model: 'offline',
      reply: [],
      toolCalls: [],
      costUsd: '0.5',
      usage: { inputTokens: 1, outputTokens: 1 },
      wallet: { customerId, charge },
      events: [{ key: `turn:${turn}`, type: 'claude_iteration' as const }],
    };
  };
  /** A run that is in a call which never returns. */
  async function inCall(): Promise<string> {
    provider.otherwise(() => {});
    const runId = await dispatch(acme, { agent: 'assistant', prompt: 'Do as scripted' });
    await provider.received(1);
    return runId;
  }
  beforeEach(() => credit(2_000_000));

  // Guards: a call that ends after its run was cancelled is charged once, and its hold is released.
  test('charges a call that came too late', async () => {
    const { runs } = service.services.stores;
    const runId = await inCall();
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
    await eventually(async () => expect(await heldBy()).toEqual({ held: 0, spent: 0 }));
    await runs.reserve(reservation(runId));
    for (const _ of ['late', 'later']) expect(await runs.recordTurn(turnOf(runId))).toBeUndefined();
    expect([await balance(), await heldBy()]).toEqual([1_500_000, { held: 0, spent: 0 }]);
    expect(await chargesOf()).toHaveLength(1);
  });

  // Guards: a hold that a dead worker left is used by the repeated call and released at the end.
  test('a hold whose call was lost is given back', async () => {
    const { runs } = service.services.stores;
    const runId = await inCall();
    for (const _ of ['first', 'again']) expect(await runs.reserve(reservation(runId))).toEqual([]);
    expect(await heldBy()).toEqual({ held: 1, spent: 0 });
    // Another turn finds less, and a budget that is new to the run is held beside what already was.
    expect(
      await runs.reserve({ ...reservation(runId, 2), wallet: { ...reservation(runId).wallet, micros: 1_000_001 } }),
    ).toEqual([{ budgetId: `wallet:${acme.caller.customerId}`, freeUsd: '1', needsUsd: '1.000001' }]);
    await runs.endRun(runId, { status: 'failed' });
    expect([await balance(), await heldBy()]).toEqual([2_000_000, { held: 0, spent: 0 }]);
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  });

  // Guards: two attempts of one turn at one moment hold its money once, and neither takes the other's hold for a short wallet.
  test('a turn that is held by two at once is held once', async () => {
    const runId = await inCall();
    const { wallet, ...turn } = reservation(runId, 2);
    const hold = () => service.services.stores.runs.reserve({ ...turn, wallet: { ...wallet, micros: 900_000 } });
    expect(await doBehind(service.runtime.db, hold, hold)).toEqual([]);
    expect(await heldBy()).toEqual({ held: 1.9, spent: 0 });
    await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  });
});
