/** Who gets a connection, and when: the embedded database has one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createDatabase, urgently, type Database } from '../../../src/platform/db/client.ts';
import { forWorkspace } from '../../../src/platform/fairness/workspace-context.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let opened: TestDatabase;
let db: Database;

beforeAll(async () => {
  opened = await openTestDatabase();
  // It lets one client in at a time; the other one has never been asked anything.
  db = createDatabase({ url: opened.url, poolSize: 1, patienceMs: 1_000 });
});
afterAll(async () => {
  await db.close();
  await opened.close();
});

/** Holds the one connection until it is told otherwise. */
async function holdConnection() {
  let letGo = (): void => {};
  const isHeld = Promise.withResolvers<void>();
  const done = db.transaction(async () => {
    await db.rows(sql`select 1`);
    isHeld.resolve();
    await new Promise<void>((resolve) => (letGo = resolve));
  });
  await isHeld.promise;
  return async () => {
    letGo();
    await done;
  };
}

// Guards: requests that a person waits for go before pipelines that run by themselves, each in the order of asking.
test('lets the urgent in first', async () => {
  const letGo = await holdConnection();
  const order: string[] = [];
  const ask = (name: string) => db.rows(sql`select 1`).then(() => void order.push(name));
  const asked = [
    ask('first'),
    ask('second'),
    urgently(() => ask('urgent')),
    urgently(() => db.transaction(() => ask('urgent transaction'))),
    ask('third'),
  ];
  await letGo();
  await Promise.all(asked);
  expect(order.slice(0, 2).sort()).toEqual(['urgent', 'urgent transaction']);
  expect(order.slice(2)).toEqual(['first', 'second', 'third']);
});

// Guards: clients that poll for progress do not slow down the work that they wait for.
test('lets the others in between many urgent ones', async () => {
  const letGo = await holdConnection();
  const order: string[] = [];
  const ask = (name: string) => db.rows(sql`select 1`).then(() => void order.push(name));
  const other = ask('other');
  const urgent = Array.from({ length: 10 }, () => urgently(() => ask('urgent')));
  await letGo();
  await Promise.all([other, ...urgent]);
  expect(order.indexOf('other')).toBeGreaterThan(0);
  expect(order.indexOf('other')).toBeLessThan(6);
});

// Guards: a failed statement or transaction gives its connection back.
test('gives the connection back after a failure', async () => {
  await expect(db.rows(sql`select nothing from nowhere`)).rejects.toThrow();
  await expect(
    db.transaction(async () => {
      await db.rows(sql`select 1`);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await expect(db.rows(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }]);
});

// Guards: a query beside an open transaction fails with a message instead of hanging for ever, and leaves no effect.
test('gives up waiting', async () => {
  const outside = AsyncLocalStorage.snapshot();
  await db.transaction(async () => {
    await db.rows(sql`select 1`);
    // Out of the transaction's context, as a stray callback would be.
    const beside = outside(() => db.rows(sql`select 2`));
    const because = { cause: { message: expect.stringContaining('timeout exceeded') } };
    await expect(beside).rejects.toMatchObject(because);
  });
  await expect(db.rows(sql`select 3 as three`)).resolves.toEqual([{ three: 3 }]);
});

// Guards: many statements of one workspace do not hold up one of another, which waits for its turn alone.
test.each([
  ['urgent', urgently],
  ['other', <T>(work: () => T) => work()],
])('workspaces take turns, %s', async (_, doing) => {
  const letGo = await holdConnection();
  const order: string[] = [];
  const ask = (name: string) =>
    doing(() => forWorkspace(name, () => db.rows(sql`select 1`).then(() => void order.push(name))));
  const busy = Array.from({ length: 20 }, () => ask('busy'));
  const other = ask('other');
  await letGo();
  await Promise.all([...busy, other]);
  expect(order.indexOf('other')).toBeLessThan(3);
});
