/**
 * A table belongs to the resource whose `table.ts` declares it. Another resource that needs its rows asks the owner's
 * service, or puts a fragment of the owner into its statement (as `insertLogEvent` is), so that the owner can change the
 * table and find everything that depends on it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { edgesOf, foreignTables, mutualPairs, readTables, type Source } from '../support/architecture/named-tables.ts';

const ROOT = fileURLToPath(new URL('../../src/resources/', import.meta.url));

/** Resources whose statements name tables of others, with the owners of these. The list may only shrink. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  agents: ['workspaces'],
  'api-keys': ['workspaces'],
  attachments: ['chat', 'projects', 'runs', 'scheduled-jobs'],
  billing: ['runs', 'workspaces'],
  chat: ['runs'],
  cost: ['projects', 'runs'],
  'crm-admin': ['workspaces'],
  customers: ['runs', 'workspaces'],
  'event-log': ['projects', 'runs'],
  heartbeats: ['workspaces'],
  inbox: ['events', 'projects', 'runs'],
  members: ['workspaces'],
  miniapps: ['inbox', 'runs'],
  'output-destinations': ['inbox', 'members', 'projects', 'workspaces'],
  projects: ['attachments', 'events', 'inbox', 'runs'],
  'run-artifacts': ['runs'],
  runs: ['agents', 'attachments', 'inbox', 'projects', 'run-texts'],
  samples: ['projects'],
  'scheduled-jobs': ['workspaces'],
  skills: ['memory'],
  tools: ['memory', 'runs'],
  'webhook-gates': ['projects'],
  'webhook-subscriptions': ['events', 'runs', 'workspaces'],
  workspaces: ['audit-log'],
};

/** Resources that name tables of each other. */
const MUTUAL: readonly string[] = [
  'attachments = projects',
  'attachments = runs',
  'inbox = projects',
  'inbox = runs',
  'projects = runs',
];

const SOURCES: readonly Source[] = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }));
const TABLES = readTables(SOURCES);
const NAMINGS = SOURCES.flatMap((source) => foreignTables(source, TABLES));
const FOUND = edgesOf(NAMINGS);
const ALLOWED = Object.entries(EDGES).flatMap(([from, owners]) => owners.map((to) => `${from} > ${to}`));

// Guards against: a statement that reads or writes a table of another resource behind the owner's back.
test('no statement names a table of another resource, but for those of the list', () => {
  // If this fails: let the owner export a fragment or a query. Never extend the list.
  const places = NAMINGS.filter(({ from, to }) => !ALLOWED.includes(`${from} > ${to}`));
  expect(places.map(({ path, to, table }) => `${path} names ${table} of ${to}`)).toEqual([]);
});

// Guards: the list only shrinks, since an entry that is not needed any more has to go.
test('the list has no edge that is gone', () => {
  expect(ALLOWED.filter((edge) => !FOUND.includes(edge))).toEqual([]);
});

// Guards against: two resources that can be understood and changed only together.
test('no two resources name tables of each other, but for those of the list', () => {
  expect(mutualPairs(FOUND)).toEqual(MUTUAL);
});

// Guards: the search sees each way to name a table, so that the tests above cannot pass because it looks past one.
describe('the search', () => {
  const tables = readTables([
    { path: 'runs/table.ts', text: `export const runs = pgTable('runs', {});` },
    { path: 'events/table.ts', text: `export const projectEvents = pgTable('project_events', {});` },
    { path: 'chat/table.ts', text: `export const chatThreads = pgTable('chat_threads', {});` },
  ]);
  const found = (text: string, path = 'chat/store.ts') =>
    foreignTables({ path, text }, tables).map(({ table }) => table);

  test.each([
    ['db.rows(sql`select id from runs`);', ['runs']],
    ['db.rows(sql<string>`update runs set status = ${status}`);', ['runs']],
    ['db.rows(sql`select from chat_threads t left join runs r on true`);', ['runs']],
    ['db.rows(sql`select 1 from chat_threads t, project_events e, runs`);', ['project_events', 'runs']],
    ['db.rows(sql`delete from chat_threads using runs where ${id}`);', ['runs']],
    ['db.rows(sql`with gone as (delete from runs returning 1) select count(*) from gone`);', ['runs']],
    ['db.rows(sql`insert into project_events (id) values (${id})`);', ['project_events']],
    ['const from = sql`runs r join chat_threads t on t.id = r.thread_id`;', ['runs']],
    ['const from = sql.raw(`select id from runs where id = ${id}`);', ['runs']],
    ["const from = sql`select 1 from ${sql.identifier('runs')}`;", ['runs']],
    [
      "const all = (table: string) => sql`select 1 from ${sql.identifier(table)}`; all('project_events');",
      ['project_events'],
    ],
    ["import { runs as all } from '../runs/table.ts';\ndb.orm.select().from(all);", ['runs']],
    ["import { runs } from '../runs/table.ts';\nsql`select ${runs.id} from ${runs}`;", ['runs']],
  ])('finds %s', (text, names) => {
    expect(found(text)).toEqual(names);
  });

  test.each([
    'db.rows(sql`select id from chat_threads`);',
    'db.rows(sql`with runs as (select 1) select 1 from runs`);',
    "import type { runs } from '../runs/table.ts';\ntype Row = typeof runs.$inferSelect;",
    "const text = 'from runs'; // from project_events",
    "const right = 'project_events';",
  ])('finds nothing in %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('finds nothing in the foreign keys of a table', () => {
    expect(
      found("import { runs } from '../runs/table.ts';\nconst t = { run: () => runs.id };", 'chat/table.ts'),
    ).toEqual([]);
  });

  test('tells pairs', () => {
    expect(mutualPairs(['a > b', 'a > c', 'b > a'])).toEqual(['a = b']);
  });
});
