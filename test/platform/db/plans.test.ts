/**
 * What lists cost, by their plans on an archive of some thousand runs: no statement of any read looks at more rows than a
 * page and its window have, so none costs more as the archive grows. `npm run bench:growth` has the figures.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { STATEMENTS } from '../../../src/resources/retention/store.ts';
import { foldAllTallies } from '../../../src/resources/tallies/store.ts';
import { fillArchive, TALLIES } from '../../bench/fill-archive.ts';
import { endpoints } from '../../support/http/endpoints.ts';
import { NOT_READ, READS, readsOf, type Read } from '../../support/database/reads.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import {
  explain,
  isLook,
  nodesOf,
  recordStatements,
  rowsTouched,
  type Statement,
} from '../../support/database/statements.ts';

/** Half of them one workspace's; what a read may touch of them is a page of 500 and what stands beside its rows. */
const RUNS = 8_000;
const MOST_ROWS = 2_600;
/** Those that runs add to. Of the others a small one is rightly read from end to end. */
const GROWING = [
  ...['runs', 'run_events', 'run_messages', 'run_tool_calls', 'run_artifacts', 'webhook_deliveries', 'audit_log'],
  ...[
    'webhook_events',
    'webhook_delivery_attempts',
    'output_deliveries',
    'projects',
    'tasks',
    'subtasks',
    'attempts',
    'artifacts',
  ],
  ...['search_documents', 'waits', 'project_events', 'wallet_ledger', 'budgets', 'memory_entries', 'chat_threads'],
];

let service: TestService;
/** The connections of the service: the embedded database has one. */
let pool: pg.Pool;
let reads: Read[];
beforeAll(async () => {
  service = await startTestService({ worker: false });
  await service.tenant('acc_internal', 'internal');
  pool = (service.runtime.db.orm as unknown as { $client: pg.Pool }).$client;
  await connected((client) => fillArchive(client, { from: 0, to: RUNS }));
  reads = await readsOf(service.routes, service.runtime.db);
});
afterAll(async () => {
  await service?.close();
});

async function connected<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  return work(client).finally(() => client.release());
}
const rows = async <Row>(text: string): Promise<Row[]> => (await pool.query(text)).rows as Row[];
/** As with a million rows: a table is not read from end to end because it is small. */
const LARGE = ['enable_seqscan = off'];

/** What is wrong with how it is done; empty when nothing is. */
async function faultsOf(statement: Statement): Promise<string[]> {
  const { root } = await connected((client) => explain(client, statement, LARGE));
  const touched = rowsTouched(root);
  const scans = nodesOf(root).filter(
    (node) =>
      node['Node Type'] === 'Seq Scan' && GROWING.includes(node['Relation Name'] ?? '') && node['Actual Loops'] > 0,
  );
  return [
    ...scans.map((node) => `reads all of ${node['Relation Name']}: ${statement.text}`),
    ...(touched > MOST_ROWS ? [`looks at ${touched} rows: ${statement.text}`] : []),
  ];
}

// Guards: every endpoint that reads is listed here, or in the figures of growth, with the statements that it uses.
test('every endpoint that reads is looked at, or says why not', () => {
  const gets = endpoints.filter(({ method }) => method === 'get').map(({ id }) => id);
  expect([...Object.keys(READS), ...Object.keys(NOT_READ)].sort()).toEqual(gets.sort());
});

// Guards: no list, count or sum becomes slower with the size of the archive: each has an index that reads no rows in
// vain.
test('reads touch no more than their page and their window', async () => {
  const faults: string[] = [];
  for (const read of reads) {
    const statements = await recordStatements(() => read.call().catch(() => undefined));
    for (const statement of statements.filter(isLook)) {
      faults.push(...(await faultsOf(statement)).map((fault) => `${read.name} ${fault}`));
    }
  }
  expect(faults).toEqual([]);
  expect(reads.length).toBeGreaterThan(100);
});

/** Rows like one of the archive, which wait and are not due for an hour. */
const fillWaiting = (table: string, status: string) =>
  rows(`
    insert into ${table}
    select (jsonb_populate_record(one.kept, jsonb_build_object(
      'id', md5('${table}' || n)::uuid, 'seq', 900000000 + n, 'event_key', 'waiting:' || n, 'artifact_id', md5('a' || n)::uuid,
      'status', '${status}', 'completed_at', null,
      'checked_at', now(), 'start_due_at', now() + interval '1 hour', 'due_at', now() + interval '1 hour'))).*
    from (select kept from ${table} kept where customer_id = 'internal' limit 1) one, generate_series(1, ${MOST_ROWS + 400}) n`);

// Guards: the cost of each sweep over all workspaces depends on what is due, and not on what is done or waits.
test('sweeps touch no more than what they are to do', async () => {
  await fillWaiting('runs', 'queued');
  await fillWaiting('projects', 'planning');
  await fillWaiting('webhook_deliveries', 'pending');
  await fillWaiting('output_deliveries', 'pending');
  // A round over many workspaces takes many ticks, each of which looks at those that waited longest.
  await rows(`insert into workspaces (identity_workspace_id, customer_id, plan, status, due_at, schedules_checked_at)
    select 'acc_looked-' || n, 'looked-' || n, 'free', 'ready', now() + interval '1 hour', now() from generate_series(1, ${MOST_ROWS + 400}) n`);
  await rows(`update workspaces set schedules_checked_at = now() - interval '1 hour' where customer_id = 'internal'`);
  const { stores } = service.services;
  const { db } = service.runtime;
  const sweeps = await recordStatements(async () => {
    const turn = { after: '', workspaces: 20, each: 5 };
    await stores.runs.takeUnstarted(turn);
    await stores.runs.takeUnchecked(turn, 60_000);
    await stores.runs.releaseForgotten();
    await stores.projects.takeUnstarted(turn);
    await stores.projects.takeUnchecked(turn, 60_000);
    await stores.webhooks.takeDue(turn);
    await service.services.outputs.store.takeDue(turn);
    await stores.workspaces.takeDue('pending', 0);
    await stores.workspaces.takeDue('provisioning', 0);
    await stores.miniapps.listUntold(200);
    await service.services.followRows(AbortSignal.timeout(60_000));
    await stores.miniapps.closeExpired(200);
    await stores.webhooks.listPausesUntold(50);
    await service.services.outputs.store.listPausesUntold(50);
    await service.services.system.choresBehind();
    await foldAllTallies(db);
  });
  const faults = [];
  for (const statement of sweeps.filter(isLook)) faults.push(...(await faultsOf(statement)));
  // Once a day, what is old is looked for in each workspace by its own index.
  await rows(`delete from workspaces where customer_id like 'looked-%'`);
  const retention = Object.values(STATEMENTS).flatMap((statements) =>
    statements.flatMap((statement) =>
      [400, 60].map((days) => db.orm.execute(statement(new Date(Date.now() - days * 24 * 3_600_000), 100))),
    ),
  );
  const deletions = await recordStatements(async () => {
    for (const deletion of retention) await deletion;
  });
  for (const statement of deletions.filter(isLook)) faults.push(...(await faultsOf(statement)));
  expect(faults).toEqual([]);
});

describe('what triggers count', () => {
  const differing = async (list: string) =>
    rows(`select * from (
        select customer_id, dims, sum(rows)::int as rows, sum(usd)::float8 as usd from (
          select customer_id, dims, rows, usd from tallies where list = '${list}' and level = 1 union all
          select customer_id, dims, rows, usd from tally_deltas where list = '${list}') t
        group by 1, 2 having sum(rows) <> 0) kept
      full join (select customer_id, dims, count(*)::int as rows, sum(usd)::float8 as usd from counted_${list} group by 1, 2) there
        using (customer_id, dims, rows, usd)
      where kept is null or there is null`);

  // Guards: totals stay exact through inserts, changes and deletions, whether their rows are folded or not.
  test('is what there is', async () => {
    await rows(`insert into runs (id, customer_id, agent, transport, prompt)
      select 'live-' || n, 'internal', case when n % 2 = 0 then 'writer' end, 'rest', 'Hello' from generate_series(1, 40) n`);
    await rows(`update runs set agent = 'editor' where id like 'live-%' and agent is null`);
    await foldAllTallies(service.runtime.db);
    await rows(`update runs set status = 'succeeded', completed_at = now(), cost_usd = 0.25 where id like 'live-%'`);
    await rows(`update runs set cost_usd = 0.5 where id like 'live-%' and agent = 'editor'`);
    await rows(`delete from runs where id in ('live-1', 'live-2')`);
    await rows(`update projects set status = 'active', pause_reason = null where status = 'paused'`);
    await rows(`delete from audit_log where id in (select id from audit_log order by id limit 30)`);
    await rows(`update webhook_deliveries set status = 'dropped' where status = 'exhausted'`);
    await rows(`delete from memory_entries where id in (select id from memory_entries order by id limit 3)`);
    for (const [list] of TALLIES) expect([list, await differing(list)]).toEqual([list, []]);
    await foldAllTallies(service.runtime.db);
    expect(await rows('select 1 from tally_deltas')).toEqual([]);
    for (const [list] of TALLIES) expect([list, await differing(list)]).toEqual([list, []]);
  });

  // Guards: a page that is found by counting is the same as one that is found by walking over all rows before it.
  test.each([
    ['agent is not null', undefined, undefined],
    [`agent = 'writer'`, 'writer', undefined],
    [`transport = 'rest' and agent = 'editor'`, 'editor', 'rest'],
  ])('finds the rows of a deep page of those with %s', async (where, agent, transport) => {
    for (const offset of [250, 1_000, 1_500, 3_333]) {
      const walked = await rows<{ id: string }>(
        `select id from runs where customer_id = 'internal' and ${where} order by seq desc limit 5 offset ${offset}`,
      );
      const found = await service.services.stores.runs.listRuns('internal', { agent, transport }, { limit: 5, offset });
      expect(found.rows.map((run) => run.run_id)).toEqual(walked.map((run) => run.id));
    }
  });
});
