/** Reading a workspace in one snapshot: where there are other connections, and where there is only one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { createArchiveSource, type NextLines } from '../../../src/resources/exports/archive/source.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const PATIENCE_MS = 3_000;
let database: TestDatabase;
let only: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  only = createDatabase({ url: database.url, poolSize: 1, patienceMs: PATIENCE_MS });
  await only.rows(sql`create table written (n int)`);
  await only.rows(sql`insert into written select generate_series(1, 3000)`);
});
afterAll(async () => {
  await only?.close();
  await database?.close();
});

const upTo = (to: number) => sql`select n::text as line from generate_series(1, ${to}::int) n order by n`;
const WRITTEN = sql`select n::text as line from written order by n desc`;
const NOTHING = sql`select 'x' as line where false`;
const facts = async () => 'facts';

async function all(next: NextLines): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of next()) lines.push(...page);
  return lines;
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

// Guards: each statement's rows are its own, in its order, over pages of any size; of one moment, whatever is written.
test.each([true, false])(
  'rows come in the order of the statements (the only connection: %s)',
  async (isOnlyConnection) => {
    // A connection beside the one of the test, so that it can write meanwhile.
    const db = isOnlyConnection ? only : database.db;
    const source = createArchiveSource(db, { isOnlyConnection });
    const statements = [upTo(5), NOTHING, WRITTEN, NOTHING, upTo(16), upTo(0), upTo(1)];
    const write = afterwards(() => only.rows(sql`insert into written values (0)`));
    const read = await source.inSnapshot({ statements, facts }, async (found, next) => {
      const first = await all(next);
      await write();
      const lines = [first];
      for (const _statement of statements.slice(1)) lines.push(await all(next));
      return { found, lines };
    });
    expect(read).toEqual({
      found: 'facts',
      lines: [numbers(1, 5), [], numbers(1, 3_000).reverse(), [], numbers(1, 16), [], ['1']],
    });
    await only.rows(sql`delete from written where n = 0`);
  },
);

// Guards against: everything else that stands still while rows are read, where there is one connection.
test('others are answered between two pages', async () => {
  const source = createArchiveSource(only, { isOnlyConnection: true });
  const ask = afterwards(() => only.rows(sql`select 1 as one`));
  await source.inSnapshot({ statements: [WRITTEN], facts }, async (_facts, next) => {
    for await (const _page of next()) expect(await ask()).toEqual([{ one: 1 }]);
  });
});

// Guards: two workspaces that are read at once, or one after a try that broke, each get their own rows.
test('one is read after another', async () => {
  const source = createArchiveSource(only, { isOnlyConnection: true });
  const broken = source.inSnapshot({ statements: [WRITTEN], facts }, async (_facts, next) => {
    await next().next();
    throw new Error('broken off');
  });
  const read = (to: number) => source.inSnapshot({ statements: [upTo(to)], facts }, (_facts, next) => all(next));
  const both = Promise.all([read(2_000), read(20)]);
  await expect(broken).rejects.toThrow('broken off');
  expect(await both).toEqual([numbers(1, 2_000), numbers(1, 20)]);
});

/** Does something outside of whatever transaction it is asked for in. */
function afterwards<T>(work: () => Promise<T>): () => Promise<T> {
  let asked = Promise.withResolvers<void>();
  let done: Promise<T>;
  const wait = () => {
    asked = Promise.withResolvers();
    done = asked.promise.then(work);
    // Each time it is asked for it waits anew, still outside.
    void done.finally(() => wait());
  };
  wait();
  return () => {
    const answer = done;
    asked.resolve();
    return answer;
  };
}
