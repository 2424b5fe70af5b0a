/** What the embedded database does for its tables by itself. */
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { first } from '../../src/platform/core/present.ts';
import { keepUp } from '../../src/embedded/upkeep.ts';

let db: PGlite;
beforeAll(async () => {
  db = await PGlite.create('memory://');
  await db.exec(`
    create table "much changed" (n int, words text); create table little (n int); create table grown (n int);
    insert into "much changed" select generate_series(1, 300); insert into little select 1;`);
});
afterAll(() => db?.close());

const numbersOf = async (name: string) =>
  first(
    (
      await db.query<{ dead: number; known: number }>(
        `select n_dead_tup::int as dead, reltuples::int as known
         from pg_stat_user_tables t join pg_class c on c.oid = t.relid where t.relname = $1`,
        [name],
      )
    ).rows,
  );

// Guards: the planner knows tables as they are, dead rows go, and where nothing happens nothing is done.
test('looks after tables in which much has changed, and after no others', async () => {
  expect(await keepUp(db)).toEqual(['"much changed"']);
  expect(await numbersOf('much changed')).toMatchObject({ known: 300 });
  expect(await keepUp(db)).toEqual([]);

  await db.exec(`update "much changed" set words = 'new' where n <= 70`);
  expect(await keepUp(db)).toEqual([]);
  await db.exec(`update "much changed" set words = 'newer'`);
  expect(await keepUp(db)).toEqual(['"much changed"']);
  expect(await numbersOf('much changed')).toMatchObject({ dead: 0, known: 300 });
  expect(await keepUp(db)).toEqual([]);
});

// Guards: the indexes of words take new ones from their waiting lists at a vacuum, also where nothing is ever deleted.
test('vacuums what has grown', async () => {
  await db.exec('insert into grown select generate_series(1, 900)');
  expect(await keepUp(db)).toEqual(['grown']);
  await db.exec('insert into grown select generate_series(1, 900)');
  expect(await keepUp(db)).toEqual(['grown']);
  const { rows } = await db.query(
    `select vacuum_count::int, analyze_count::int from pg_stat_user_tables where relname = 'grown'`,
  );
  expect(rows).toEqual([{ vacuum_count: 1, analyze_count: 2 }]);
  expect(await keepUp(db)).toEqual([]);
});

// Guards: a client's transaction is its own; a vacuum within it would undo it.
test('waits for the end of a transaction', async () => {
  await db.exec('insert into little select generate_series(1, 100)');
  // What has changed is known before the transaction begins.
  await db.exec('select pg_stat_force_next_flush()');
  await db.exec('begin');
  expect(await keepUp(db)).toEqual([]);
  await db.exec('commit');
  expect(await keepUp(db)).toEqual(['little']);
});

const redo = async () =>
  first((await db.query<{ redo: string }>('select redo_lsn as redo from pg_control_checkpoint()')).rows).redo;

// Guards against: a log that grows for as long as the service runs, all of which is replayed after a power loss.
test('makes a checkpoint when the log is long, and not before', async () => {
  const begin = await redo();
  await keepUp(db);
  expect(await redo()).toBe(begin);
  await db.exec(
    `create table long (text text storage plain); insert into long select repeat('x', 7000) from generate_series(1, 11000)`,
  );
  await keepUp(db);
  const after = await redo();
  expect(after).not.toBe(begin);
  await keepUp(db);
  expect(await redo()).toBe(after);
});
