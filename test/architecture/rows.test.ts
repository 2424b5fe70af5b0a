/**
 * The checks that run when the whole suite is over (`test/support/rows`): what raw SQL gave, as it was recorded, against the
 * types that the product says its rows have, and whether it can be what was before. Here they judge lines of which it is
 * known what is wrong with them.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadModule } from 'libpg-query';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { inherited } from '../support/processes/inherited.ts';
import { checkRows, readFacts, readWritings } from '../support/rows/check.ts';
import { describeValue } from '../support/rows/describe.ts';
import type { Fact } from '../support/rows/record.ts';
import { checkWritings, staleReads } from '../support/rows/stale.ts';

const FILE = 'src/lines.ts';
const DECLARATIONS = `
  declare const db: { rows<Row>(statement: unknown): Promise<Row[]> };
  declare function sql<T>(texts: TemplateStringsArray, ...values: unknown[]): T;
  interface PgColumn { name: string }
  declare const runs: { status: PgColumn };`;
const [TEXT, INT, JSONB] = [25, 23, 3802];

/** Asks the database once by each of the two ways, and writes once, in a process of its own: the embedded one has a single connection. */
const ASKING = `
  import { createDatabase } from './src/platform/db/client.ts';
  import { createCustomerStore } from './src/resources/customers/store.ts';
  import { makeWorkspace } from './test/support/fixtures/workspaces.ts';
  import { statsOfLastDay } from './src/resources/runs/store/queries.ts';
  import { noteEvents } from './src/resources/runs/store/turns.ts';
  const db = createDatabase({ url: process.env.DATABASE_URL, poolSize: 1 });
  await makeWorkspace(db, 'acme');
  await createCustomerStore(db).list(undefined, {}, { limit: 10, offset: 0 });
  await statsOfLastDay(db, 'acme');
  await noteEvents(db, 'none', [{ key: 'a', type: 'tool_call' }]);
  await db.close();`;

/** The faults of one line, of which the values of these columns were seen. */
function faultsOf(line: string, columns: Record<string, [oid: number, ...values: unknown[]]>, isFragment = false) {
  const source = `${DECLARATIONS}\n${line}`;
  const place = `${FILE}:${source.split('\n').length}:${line.indexOf('rows') + 1}`;
  const facts = Object.entries(columns).flatMap(([column, [oid, ...values]]): Fact[] => {
    const at = isFragment ? { place: column, column: '', oid: 0 } : { place, column, oid };
    return [at, ...values.map((value) => ({ ...at, type: describeValue(value) }))];
  });
  return checkRows(facts, { all: true, sources: { [FILE]: source } }).map((fault) => fault.replace(/^\S+ /, ''));
}

describe('a line of raw SQL', () => {
  // Guards against: a check that finds fault with correct statements, which nobody would keep.
  test('is right', () => {
    const said = `{ id: string; n: number; kind: 'a' | 'b'; gone: Date | null; more: { x?: number; y: string[] } }`;
    const seen: Parameters<typeof faultsOf>[1] = {
      id: [TEXT, 'x', 'y'.repeat(1_000)],
      n: [INT, 1, 2],
      kind: [TEXT, 'a'],
      gone: [1184, null],
      more: [JSONB, { x: 1, y: [] }, { y: ['z'] }],
    };
    expect(faultsOf(`db.rows<${said}>(0)`, seen)).toEqual([]);
    expect(faultsOf(`const all = async (): Promise<${said}[]> => db.rows(0)`, seen)).toEqual([]);
  });

  // Guards: the check finds each kind of wrong row type that the compiler accepts.
  test.each<[string, string, Parameters<typeof faultsOf>[1], RegExp]>([
    ['a large number comes as text', '{ n: number }', { n: [20, '12'] }, /n is said to be number, and is "12"/],
    ['a time comes as text', '{ at: Date }', { at: [1184, '2026-01-01 00:00:00+00'] }, /at is said to be Date/],
    ['there may be none', '{ id: string }', { id: [TEXT, 'x', null] }, /id is said to be string, and is "x" \| null/],
    ['there are more kinds', `{ kind: 'a' | 'b' }`, { kind: [TEXT, 'a', 'c'] }, /kind is said to be "a" \| "b"/],
    [
      'there is no such column',
      '{ id: string; runId: string }',
      { id: [TEXT, 'x'] },
      /runId is said to be a column, and is none/,
    ],
    ['another column', '{ id: string }', { id: [TEXT, 'x'], n: [INT, 1] }, /n is a column, and is not said to be one/],
    ['inside of JSON', '{ a: { n: number } }', { a: [JSONB, { n: '1' }] }, /a is said to be { n: number; }/],
    ['a list that is text', '{ a: string[] }', { a: [99_999, '{x,y}'] }, /a is said to be string\[\]/],
    [
      'no value, and of no such type',
      '{ a: number; b: string }',
      { a: [TEXT], b: [TEXT, 'x'] },
      /a is said to be number/,
    ],
  ])('%s', (_, said, seen, fault) => {
    expect(faultsOf(`db.rows<${said}>(0)`, seen)).toEqual([expect.stringMatching(fault)]);
  });

  // Guards: rows are checked also where their type is declared by where they go, and not at the query.
  test('is typed by what it is given to', () => {
    const line = 'const all = async (): Promise<{ n: number }[]> => db.rows(0)';
    expect(faultsOf(line, { n: [20, '12'] })).toEqual([expect.stringContaining('n is said to be number')]);
  });

  // Guards: a statement that no test runs is reported, because nobody knows what rows it gives.
  test('is run by nothing', () => {
    expect(faultsOf('db.rows<{ n: number }>(0)', {})).toEqual(['nothing in the suite runs it']);
    expect(faultsOf('db.rows(0)', {})).toEqual([]);
  });
});

// Guards: fragments in the builder's queries are checked too, each known by its text.
test.each<[string, string, unknown, RegExp | undefined]>([
  ['sql<number>`count(*) of ${1}`', 'count(*) of \u0000', '12', /it is said to be number, and is "12"/],
  ['sql<string>`count(*) of ${1}`', 'count(*) of \u0000', '12', undefined],
  ["sql<'a'>`${runs.status}`", '\u0000status', 'b', /it is said to be "a"/],
])('the fragment %s', (line, text, value, fault) => {
  const faults = faultsOf(line, { [text]: [0, value] }, true);
  expect(faults).toEqual(fault ? [expect.stringMatching(fault)] : []);
});

describe('a statement that writes', () => {
  beforeAll(() => loadModule());

  // Guards: an answer that was true before somebody else's change, for which the statement waited, is found in whatever form.
  test.each<[string, string, string[]]>([
    [
      'as the status of a run that another had ended',
      `with ended as (update runs set status = 'failed' where id = $1 and status = 'running' returning id)
       select exists (select from ended), r.status from runs r where r.id = $1`,
      ['runs r'],
    ],
    [
      'as the row that another had inserted',
      `with added as (insert into files (id) values ($1) on conflict do nothing returning id)
       select id from added union all select id from files where id = $1`,
      ['files'],
    ],
    ['in what it returns', `delete from runs where id = $1 returning (select count(*) from runs)`, ['runs']],
    [
      'through a query between',
      `with gone as (delete from runs where id = $1), left_over as (select id from runs) select id from left_over`,
      ['runs'],
    ],
    [
      'or with what it wrote itself, and with other tables',
      `with ended as (update runs set status = 'failed' where id = $1 returning id)
       select e.id, a.slug from ended e join agents a on true`,
      [],
    ],
    [
      'or with a row that it has locked',
      `with before as (select id from runs where id = $1 for update),
       moved as (update runs set n = n + 1 where id in (select id from before) returning id) select id from moved`,
      [],
    ],
    ['or writes nothing', `with r as (select id from runs) select id from runs join r using (id)`, []],
  ])('answers %s', (_, text, tables) => {
    expect(staleReads(text)).toEqual(tables);
  });

  // Guards: it is said where it is, once, and not of what has a reason; a reason that nothing needs any more is said, too.
  test('is told of with its place', () => {
    const text = `with ended as (update runs set n = 1) select id from runs`;
    const [other, turns] = ['src/other.ts:3:4', 'src/resources/runs/store/turns.ts:1:2'];
    const next = `with ended as (update runs set n = 1) select id from runs later`;
    const writings = [other, other, turns].map((place) => ({ place, text }));
    expect(checkWritings([...writings, { place: turns, text: next }])).toEqual([
      expect.stringMatching(/^src\/other\.ts:3:4: it writes runs and answers from it \(runs\) as it was before/),
      expect.stringMatching(/^src\/resources\/runs\/store\/turns\.ts:1:2: it writes runs/),
    ]);
    const unused = checkWritings([{ place: turns, text: next }], { all: true });
    expect(unused).toContainEqual(expect.stringContaining('turns.ts: runs earlier'));
    expect(unused).not.toContainEqual(expect.stringContaining('turns.ts: runs later'));
  });
});

describe('the record', () => {
  let database: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'aos-rows-'));
  });
  afterAll(async () => {
    await database?.close();
    await rm(folder, { recursive: true, force: true });
  });

  // Guards against: a recorder that records nothing, which would make every check pass.
  test('has the places of the product with what they gave', async () => {
    const preload = `${new URL('../support/rows/preload.mjs', import.meta.url).href}?to=${folder}`;
    await promisify(execFile)(process.execPath, ['--import', preload, '--input-type=module', '--eval', ASKING], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      // Of the options of a whole run one is a recorder: there would be two.
      env: { ...inherited(), NODE_OPTIONS: undefined, DATABASE_URL: database.url },
    });
    const facts = readFacts(folder);
    const columns = facts.filter(({ place }) => /^src\/resources\/customers\/store\.ts:\d+:\d+$/.test(place));
    expect(columns).toContainEqual(expect.objectContaining({ column: 'customerId', type: '"acme"' }));
    expect(columns).toContainEqual(expect.objectContaining({ column: 'members', oid: INT, type: 'number' }));
    expect(columns).toContainEqual(expect.objectContaining({ column: 'archivedAt', type: 'null' }));
    const fragments = facts.filter(({ place }) => place === 'coalesce(sum(\u0000costUsd), 0)::text');
    expect(fragments).toContainEqual(expect.objectContaining({ type: '"0"' }));
    expect(readWritings(folder)).toContainEqual({
      place: expect.stringMatching(/^src\/resources\/runs\/store\/turns\.ts:\d+:\d+$/),
      text: expect.stringMatching(/insert into/i),
    });
  });
});
