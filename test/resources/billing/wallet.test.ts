/** The ledger, spoken to directly: what the database itself guarantees of it. Parallel where TEST_DATABASE_URL is set. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { chargeOf, ROUTER_MARKUP } from '../../../src/resources/billing/model.ts';
import { createWalletStore, type Posting, type WalletStore } from '../../../src/resources/billing/wallet/store.ts';
import { createRunStore } from '../../../src/resources/runs/store/index.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let wallets: WalletStore;
beforeAll(async () => {
  database = await openTestDatabase();
  wallets = createWalletStore(database.db);
});
afterAll(() => database?.close());

const credit = (customerId: string, key: string, deltaUsdMicros: number): Posting => ({
  customerId,
  key,
  kind: 'topup',
  deltaUsdMicros,
});
const charge = (customerId: string, key: string, micros: number): Posting => ({
  customerId,
  key,
  kind: 'run',
  deltaUsdMicros: -micros,
});
const ledgerOf = async (customerId: string) =>
  (await wallets.list(customerId, { limit: 500, offset: 0 })).rows.toReversed();

// Guards: a posting with one key counts once, however many send it at the same time.
test('a key is posted once', async () => {
  const posted = await Promise.all(
    Array.from({ length: 20 }, () => wallets.post(credit('once', 'session:cs_1', 5_000_000))),
  );
  expect(posted.filter((outcome) => outcome.posted)).toHaveLength(1);
  expect(new Set(posted.map(({ balanceUsdMicros }) => balanceUsdMicros))).toEqual(new Set([5_000_000]));
  expect(await ledgerOf('once')).toMatchObject([{ delta_usd_micros: 5_000_000, balance_after_usd_micros: 5_000_000 }]);
  // The same key of another workspace is another one.
  expect(await wallets.post(credit('other', 'session:cs_1', 1))).toEqual({ posted: true, balanceUsdMicros: 1 });
  expect(await wallets.balance('once')).toBe(5_000_000);
});

// Guards: charges and credits in parallel add up, and each row's balance is that of the row before plus its own amount.
test('the balance is the sum of its ledger', async () => {
  const amounts = Array.from({ length: 50 }, (_, i) => (i % 2 ? -(i * 1_001) : i * 999 + 1));
  await Promise.all(
    amounts.map((micros, i) =>
      wallets.post(micros > 0 ? credit('busy', `session:${i}`, micros) : charge('busy', `run:${i}:1`, -micros)),
    ),
  );
  const rows = await ledgerOf('busy');
  expect(rows).toHaveLength(50);
  const sum = amounts.reduce((a, b) => a + b, 0);
  let balance = 0;
  for (const row of rows) expect(row.balance_after_usd_micros).toBe((balance += row.delta_usd_micros));
  expect([balance, await wallets.balance('busy')]).toEqual([sum, sum]);
});

// Guards: a page is the newest rows with what the reader is shown of them; nobody sees another workspace's.
test('the ledger can be read', async () => {
  expect(await wallets.list('reader', { limit: 50, offset: 0 })).toEqual({ rows: [], total: 0 });
  expect([await wallets.balance('reader'), await wallets.totalToppedUp('reader')]).toEqual([0, 0]);
  const paid = { paidIdrCents: 16_250_000, fxUsdIdr: '16250', meta: { session_id: 'cs_2' } };
  await wallets.post({ ...credit('reader', 'session:cs_2', 10_000_000), ...paid });
  await wallets.post({ ...credit('reader', 'gift', 700), kind: 'adjustment' });
  await wallets.post({ ...charge('reader', 'run:a:1', 1_500), meta: { run_id: 'a' } });
  const { rows, total } = await wallets.list('reader', { limit: 2, offset: 1 });
  expect(total).toBe(3);
  expect(rows).toMatchObject([
    { kind: 'adjustment', delta_usd_micros: 700, paid_idr_cents: null, fx_usd_idr: null, meta: {} },
    {
      id: expect.any(Number),
      kind: 'topup',
      delta_usd_micros: 10_000_000,
      balance_after_usd_micros: 10_000_000,
      paid_idr_cents: 16_250_000,
      fx_usd_idr: '16250.0000',
      meta: { session_id: 'cs_2' },
      created_at: expect.any(Date),
    },
  ]);
  // What was given is not what was bought.
  expect(await wallets.totalToppedUp('reader')).toBe(10_000_000);
});

// Guards: a posting is part of the transaction in which it is made.
test('a posting that is rolled back never was', async () => {
  const failing = database.db.transaction(async () => {
    await wallets.post(credit('undone', 'session:cs_3', 100));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await wallets.balance('undone')).toBe(0);
  expect(await wallets.post(credit('undone', 'session:cs_3', 100))).toEqual({ posted: true, balanceUsdMicros: 100 });
});

describe('nothing but a posting moves a balance', () => {
  const attempt = (statement: ReturnType<typeof sql>) => database.db.rows(statement);
  const refused = async (statement: ReturnType<typeof sql>, why: RegExp) => {
    const failure = await attempt(statement).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(String(failure?.cause)).toMatch(why);
  };
  beforeAll(async () => void (await wallets.post(credit('fixed', 'session:cs_4', 1_000_000))));

  // Guards: rows of the ledger cannot be changed.
  test.each([
    ['an update', sql`update wallet_ledger set delta_usd_micros = 9 where customer_id = 'fixed'`],
    ['an update of nothing that counts', sql`update wallet_ledger set meta = '{}'`],
    ['a deletion', sql`delete from wallet_ledger where customer_id = 'fixed'`],
    ['a truncation', sql`truncate wallet_ledger`],
  ])('%s of the ledger is refused', async (_, statement) => {
    await refused(statement, /append-only/);
    expect(await ledgerOf('fixed')).toHaveLength(1);
  });

  // Guards: the balance follows from the ledger alone, whoever writes SQL.
  test.each([
    ['raised', sql`update budgets set limit_usd = limit_usd + 5 where id = 'wallet:fixed'`, /kept by wallet_ledger/],
    ['deleted', sql`delete from budgets where id = 'wallet:fixed'`, /kept by wallet_ledger/],
    ['renamed', sql`update budgets set id = 'gone' where id = 'wallet:fixed'`, /kept by wallet_ledger/],
    ['made unlimited', sql`update budgets set limit_usd = null where id = 'wallet:fixed'`, /budgets_wallet_is/],
    ['spent from', sql`update budgets set spent_usd = 1 where id = 'wallet:fixed'`, /budgets_wallet_is/],
    [
      'made with something in it',
      sql`insert into budgets (id, customer_id, limit_usd) values ('wallet:rich', 'rich', 5)`,
      /kept by wallet_ledger/,
    ],
    [
      'given to another',
      sql`update budgets set customer_id = 'thief' where id = 'wallet:fixed'`,
      /budgets_wallet_is_its_balance/,
    ],
  ])('a wallet cannot be %s by hand', async (_, statement, why) => {
    await refused(statement, why);
    expect(await wallets.balance('fixed')).toBe(1_000_000);
  });

  // Guards: the database computes the balance, not the code that posts.
  test('a balance and a number that are given are not taken', async () => {
    await attempt(sql`
      insert into wallet_ledger (id, customer_id, key, kind, delta_usd_micros, balance_after_usd_micros)
      values (1, 'fixed', 'forged', 'topup', 1, 999)`);
    const [first, forged] = await ledgerOf('fixed');
    expect(forged).toMatchObject({ balance_after_usd_micros: 1_000_001 });
    expect(present(forged).id).toBeGreaterThan(present(first).id);
  });

  // Guards: a wrong sign in the code cannot create money.
  test.each([
    ['topup', -1],
    ['topup', 0],
    ['run', 1],
    ['model_router', 1],
    ['managed_infra', 1],
    ['adjustment', 0],
  ])('a %s of %p is refused', async (kind, delta) => {
    await refused(
      sql`insert into wallet_ledger (customer_id, key, kind, delta_usd_micros)
        values ('fixed', 'wrong', ${kind}::ledger_kind, ${delta}::bigint)`,
      /charges_are_negative/,
    );
  });
});

// Guards: simultaneous calls of one project take their locks in one order, whatever order their budgets are named in,
// so that none deadlocks and nothing is lost or left held.
test('calls that share a project and a wallet do not wait for each other in a circle', async () => {
  const { db } = database;
  const runs = createRunStore(db);
  const { customerId } = await makeWorkspace(db, 'acc_shared');
  const budgetIds = ['task:shared', 'project:shared'];
  for (const id of budgetIds) await db.rows(sql`insert into budgets (id, customer_id) values (${id}, ${customerId})`);
  await wallets.post(credit(customerId, 'session:cs_5', 1_000_000_000));
  const turns = [1, 2, 3, 4, 5];
  const play = async (id: string, ids: string[]) => {
    const run = { id, customerId, agent: 'assistant', parentRunId: null, conversation: null, modelProvider: null };
    const parent = { runId: 'parent', callId: id, depth: 1, budgetIds: ids, attemptId: null };
    const said = { prompt: 'Hello', threadId: null, channelId: null, override: null };
    await runs.acceptRun({ ...run, ...said, transport: 'rest', parent });
    await db.rows(sql`update runs set status = 'running', started_at = now() where id = ${id}`);
    for (const turn of turns) {
      const wallet = { customerId, micros: 500_000 };
      expect(await runs.reserve({ runId: id, turn, budgetIds: ids, amountUsd: '0.5', wallet })).toEqual([]);
      if (turn === 3) await runs.release(id);
      await runs.recordTurn({
        run: { ...run, attemptId: null, budgetIds: ids },
        turn,
        model: 'offline',
        reply: [],
        toolCalls: [],
        costUsd: '0.000123',
        usage: { inputTokens: 1, outputTokens: 1 },
        events: [{ key: `turn:${turn}`, type: 'claude_iteration' }],
        wallet: { customerId, charge: charge(customerId, `run:${id}:${turn}`, 123) },
      });
    }
  };
  const ids = Array.from({ length: 20 }, (_, i) => `run-${i}`);
  await Promise.all(ids.map((id, i) => play(id, i % 2 ? budgetIds : budgetIds.toReversed())));
  const left = await db.rows(sql`
    select id, (spent_usd * 1000000)::int as spent, reserved_usd::float8 as held
    from budgets where customer_id = ${customerId} order by id`);
  const spent = ids.length * turns.length * 123;
  expect(left).toEqual([
    { id: 'project:shared', spent, held: 0 },
    { id: 'task:shared', spent, held: 0 },
    { id: `wallet:${customerId}`, spent: 0, held: 0 },
  ]);
  expect(await wallets.balance(customerId)).toBe(1_000_000_000 - spent);
});

// Guards: a charge is exact, whatever its size: no floating point, and half a millionth of a dollar is rounded up.
test.each([
  ['0', '1', 0],
  ['0.00000049', '1', 0],
  ['0.0000005', '1', 1],
  ['0.00000149', '1', 1],
  ['0.0000015', '1', 2],
  ['0.03', '1', 30_000],
  ['0.03', ROUTER_MARKUP, 36_000],
  ['0.00000041', ROUTER_MARKUP, 0],
  ['0.00000042', ROUTER_MARKUP, 1],
  ['1', ROUTER_MARKUP, 1_200_000],
  ['123456789.12345678', '1', 123_456_789_123_457],
  ['1.1', ROUTER_MARKUP, 1_320_000],
])('%s USD at a markup of %s are %p millionths', (usd, markup, micros) => {
  expect(chargeOf(usd, markup)).toBe(micros);
});
