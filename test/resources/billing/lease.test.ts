/** One change at a time for a workspace, whatever becomes of who makes it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eq, sql } from 'drizzle-orm';
import { createLease, type Lease } from '../../../src/resources/billing/lease.ts';
import { billingLeases } from '../../../src/resources/billing/table.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let lease: Lease;

beforeAll(async () => {
  database = await openTestDatabase();
  lease = createLease(database.db);
});
afterAll(() => database?.close());

const rowOf = async (customerId: string) =>
  (await database.db.orm.select().from(billingLeases).where(eq(billingLeases.customerId, customerId)))[0];

// Guards: work of one workspace does not overlap, that of two does, and a failure lets the next one in.
test('one after another', async () => {
  const order: string[] = [];
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const first = lease('acme', async () => {
    order.push('first');
    take();
    await held;
    order.push('first is done');
    throw new Error('failed');
  });
  await taken;
  await lease('other', async () => void order.push('other'));
  const second = lease('acme', async () => void order.push('second'));
  letGo();
  await expect(first).rejects.toThrow('failed');
  await second;
  expect(order).toEqual(['first', 'other', 'first is done', 'second']);
  expect(await rowOf('acme')).toBeUndefined();
});

// Guards: when the holder of a lease dies, the next one takes over after its time, and the old holder cannot release
// the new lease.
test('outlives its holder', async () => {
  /** A holder that ends when it is told to. */
  const hold = () => {
    const { promise: taken, resolve: take } = Promise.withResolvers<string>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const ended = lease('dead', (attempt) => {
      take(attempt);
      return over;
    });
    return { taken, end, ended };
  };
  const late = hold();
  await late.taken;
  await database.db.orm.update(billingLeases).set({ expiresAt: sql`now() - interval '1 second'` });
  const next = hold();
  const token = await next.taken;
  late.end();
  await late.ended;
  expect((await rowOf('dead'))?.token).toBe(token);
  next.end();
  await next.ended;
  expect(await rowOf('dead')).toBeUndefined();
});
