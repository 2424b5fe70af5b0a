/** The database's network: connections that break or fall silent, seen from the client. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { isDatabaseAway } from '../../../src/platform/db/away.ts';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { eventually } from '../../support/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';

let opened: TestDatabase;
let wire: TcpProxy;
let db: Database;
beforeAll(async () => {
  opened = await openTestDatabase();
  const url = new URL(opened.url);
  wire = await startTcpProxy(url.host);
  url.host = wire.address;
  db = createDatabase({
    url: url.href,
    poolSize: 2,
    patienceMs: 500,
    deadlines: { urgentMs: 300, otherMs: 2_000 },
  });
});
/** Until it has noticed what was broken. */
const connectAnew = () => eventually(async () => expect(await one()).toEqual([{ one: 1 }]));
afterEach(async () => {
  await wire.restore();
  await connectAnew();
});
afterAll(async () => {
  await db.close();
  await wire.close();
  await opened.close();
});

const one = () => db.rows(sql`select 1 as one`);
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe.each(['refuse', 'hang'] as const)('when the database is away (connections %s)', (how) => {
  // Guards: a connection that breaks inside a transaction fails that transaction, with the name of what is away, and
  // not the process.
  test('a transaction under way fails', async () => {
    const failure = await failureOf(
      db.transaction(async () => {
        await one();
        await wire.cut(how);
        await one();
      }),
    );
    expect(isDatabaseAway(failure)).toBe(true);
  });

  // Guards: attempts that cannot begin cost the pool nothing, however often they are made.
  test('no connection is lost', async () => {
    for (let round = 0; round < 3; round++) {
      await wire.cut(how);
      const failures = await Promise.all([failureOf(db.transaction(one)), failureOf(one())]);
      expect(failures.map(isDatabaseAway)).toEqual([true, true]);
      await wire.restore();
      await connectAnew();
    }
    await expect(db.transaction(one)).resolves.toEqual([{ one: 1 }]);
    expect(db.use()).toMatchObject({ used: 0, waiting: 0 });
  });
});

// Guards: a database that falls silent during a statement is given up in time, and the next statement works.
test('a statement that is not answered is given up', async () => {
  await one();
  wire.silence();
  expect(isDatabaseAway(await failureOf(db.transaction(one)))).toBe(true);
  expect(isDatabaseAway(await failureOf(one()))).toBe(true);
});

// Guards: an error in a statement is not mistaken for an absent database.
test('a wrong statement is no absence', async () => {
  expect(isDatabaseAway(await failureOf(db.rows(sql`select nothing from nowhere`)))).toBe(false);
  expect(isDatabaseAway(await failureOf(db.transaction(() => Promise.reject(new Error('no')))))).toBe(false);
});

// Guards: the server releases the locks of a client that was cut off and cannot end its own connection.
test('the server limits what a lost client can hold', async () => {
  const [limits] = await db.rows(sql`select current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as transaction`);
  expect(limits).toEqual({ statement: '2s', transaction: '4s' });
});
