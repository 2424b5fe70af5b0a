/**
 * What a run and each read cost with 1,000, 10,000, 100,000 and 1,000,000 archived runs. Beside the time, which a busy
 * machine shakes, stand the rows and the pages of the database that were looked at, which it does not.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { loadConfig } from '../../src/platform/core/config.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { first, last } from '../../src/platform/core/present.ts';
import { createDatabase } from '../../src/platform/db/client.ts';
import { connectTemporal } from '../../src/platform/temporal/client.ts';
import { allRoutes } from '../../src/resources/index.ts';
import { STATEMENTS } from '../../src/resources/retention/store.ts';
import { foldAllTallies } from '../../src/resources/tallies/store.ts';
import { createServices } from '../../src/compose/services.ts';
import { deploy, type Deployment } from '../support/processes/deployment.ts';
import { readsOf, type Read } from '../support/database/reads.ts';
import { explain, isLook, recordStatements, rowsTouched } from '../support/database/statements.ts';
import { TEST_SECRETS } from '../support/service/service.ts';
import { fillArchive } from './fill-archive.ts';
import { machine, percentile } from './report.ts';

const { values: options } = parseArgs({
  options: {
    /** Of the largest archive. */
    runs: { type: 'string', default: '1000000' },
    /** Where the table goes beside the output. */
    out: { type: 'string' },
  },
});
const LARGEST = Number(options.runs);
const SIZES = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= LARGEST);
const CALLS = 3;
/** Live runs at each size. */
const RUNS = 60;
const MOST = 1.5;
/** A page more or less, and a row here and there, are no growth. */
const SLACK = { rows: 5, pages: 5, ms: 0.2 } as const;

/** What one thing costs at one size. */
interface Cost {
  /** Of a read the time of its statements in the database, of a run from request to terminal event; medians, milliseconds. */
  ms: number;
  /** Of tables, that its statements looked at; of a run unknown. */
  rows: number;
  pages: number;
}
const costs = new Map<string, Cost[]>();
const note = (name: string, cost: Cost) => costs.set(name, [...(costs.get(name) ?? []), cost]);
const startedAt = Date.now();
const say = (text: string) =>
  process.stderr.write(`[${String(Math.round((Date.now() - startedAt) / 1_000)).padStart(4)} s] ${text}\n`);

const deployment = await deploy({
  apis: 1,
  workers: 1,
  settings: { HOUSEKEEPING_INTERVAL: '10m' },
  postgresSettings: [
    'max_connections=100',
    'shared_buffers=1GB',
    'fsync=off',
    'max_wal_size=8GB',
    'maintenance_work_mem=256MB',
    'jit=off',
    // It would show among what a run looks at; the filling leaves the tables as it would.
    'autovacuum=off',
  ],
});
say('deployed');
const client = new pg.Client({ connectionString: deployment.databaseUrl });
await client.connect();
const reader = await openReader(deployment);

for (const [i, size] of SIZES.entries()) {
  await fillArchive(client, { from: SIZES[i - 1] ?? 0, to: size });
  say(`${size.toLocaleString('en')} archived runs are there`);
  await measureRuns();
  say('runs measured');
  for (const read of await readsOf(reader.routes, reader.db)) await measureRead(read);
  say('reads measured');
  for (const read of sweeps()) await measureRead(read);
  say('sweeps measured');
}
const report = printed();
process.stdout.write(report);
if (options.out) await writeFile(options.out, report);
await client.end();
await reader.close();
await deployment.close();
process.exit(0);

/** The product's own use cases in this process, so that its statements can be had. */
async function openReader({ databaseUrl, temporalAddress, folder }: Deployment) {
  const env = { ...TEST_SECRETS, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress, DATA_DIR: folder };
  const log = createLog({ level: 'error', pretty: false });
  const db = createDatabase({ url: databaseUrl, poolSize: 1 });
  const temporal = await connectTemporal(env, { log });
  const runtime = { config: loadConfig(env), log, db, temporal, close: async () => {} };
  const services = createServices(runtime);
  return {
    db,
    services,
    routes: allRoutes(services),
    async close() {
      await services.close();
      await db.close();
      await temporal.close();
    },
  };
}

async function measureRead({ name, call }: Read): Promise<void> {
  let isAnswered = true;
  const statements = await recordStatements(() => call().catch(() => (isAnswered = false)));
  const cost: Cost = { ms: 0, rows: 0, pages: 0 };
  for (const statement of statements.filter(isLook)) {
    const times: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const { ms, root, blocks } = await explain(client, statement);
      times.push(ms);
      if (n > 0) continue;
      cost.rows += rowsTouched(root);
      cost.pages += blocks;
    }
    cost.ms += percentile(times, 50);
  }
  note(isAnswered ? name : `${name} (refused)`, cost);
}

const TURN = { after: '', workspaces: 20, each: 5 };

/** What ticks do; deletions are taken back. */
function sweeps(): Read[] {
  const { stores, system } = reader.services;
  const retained = Object.entries(STATEMENTS).flatMap(([kind, statements]) =>
    statements.map((statement, n) => ({
      name: `retention: ${kind} ${n + 1}, nothing to delete`,
      call: () => reader.db.orm.execute(statement(new Date('2000-01-01'), 500)),
    })),
  );
  return [
    { name: 'housekeeping: runs unstarted', call: () => stores.runs.takeUnstarted(TURN) },
    { name: 'housekeeping: runs unchecked', call: () => stores.runs.takeUnchecked(TURN, 60_000) },
    { name: 'housekeeping: reservations forgotten', call: () => stores.runs.releaseForgotten() },
    { name: 'housekeeping: projects unstarted', call: () => stores.projects.takeUnstarted(TURN) },
    {
      name: 'housekeeping: deliveries pending',
      call: () => stores.webhooks.takeDue(TURN),
    },
    { name: 'housekeeping: fold of counts', call: () => foldAllTallies(reader.db) },
    { name: 'metrics: backlog', call: () => system.backlog() },
    { name: 'metrics: chores', call: () => system.choresBehind() },
    ...retained,
  ];
}

/** One after another, from the request to the terminal event; pages are those of the whole database meanwhile. */
async function measureRuns(): Promise<void> {
  const times: number[] = [];
  const ids: string[] = [];
  const one = async () => {
    const from = performance.now();
    const { body } = await deployment.api('POST', '/v1/runs', { agent: 'writer', prompt: 'What is new?' });
    ids.push(body.run_id);
    for (;;) {
      const { body: run } = await deployment.api('GET', `/v1/runs/${body.run_id}`);
      if (!['queued', 'running'].includes(run.status)) break;
    }
    times.push(performance.now() - from);
  };
  for (let n = 0; n < 5; n++) await one();
  times.length = 0;
  const before = await databaseBlocks();
  for (let n = 0; n < RUNS; n++) await one();
  const pages = ((await databaseBlocks()) - before) / RUNS;
  note('run, request to terminal event', { ms: percentile(times, 50), rows: 0, pages });
  // Reads of what is new would find more of them at each size.
  await client.query('delete from runs where id = any($1)', [ids]);
}

/** Backends tell of theirs when they have been idle for ten seconds. */
async function databaseBlocks(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const row = first(
    await deployment.db.rows<{ blocks: number }>(
      sql`select (blks_hit + blks_read)::float8 as blocks from pg_stat_database where datname = current_database()`,
    ),
  );
  return row.blocks;
}

function printed(): string {
  const all = [...costs].filter(([, at]) => at.length === SIZES.length);
  const ratio = (at: readonly Cost[], of: keyof Cost) =>
    Math.max(0, last(at)[of] - SLACK[of]) / Math.max(first(at)[of], SLACK[of]);
  // Time is judged where nothing else is known.
  const isFlat = (at: readonly Cost[]) =>
    first(at).rows > 0 ? ratio(at, 'rows') <= MOST : Math.min(ratio(at, 'pages'), ratio(at, 'ms')) <= MOST;
  const shown = (value: number, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });
  const cells = (at: readonly Cost[]) => [
    ...at.map(({ rows }) => shown(rows)),
    ...at.map(({ pages }) => shown(pages)),
    ...at.map(({ ms }) => shown(ms, 2)),
    isFlat(at) ? 'yes' : 'no',
  ];
  const sizes = SIZES.map((size) => shown(size));
  const heads = ['rows', 'pages', 'ms'].flatMap((what) => sizes.map((size) => `${what}, ${size}`));
  const { date, cores, cpu, load } = machine();
  return [
    `${date.slice(0, 10)}, ${cores} cores (${cpu}), load ${load}: ${all.filter(([, at]) => isFlat(at)).length} of ${all.length} within ${MOST} x.`,
    '',
    `| | ${heads.join(' | ')} | within ${MOST} x |`,
    `| --- |${' ---: |'.repeat(heads.length)} --- |`,
    ...all.map(([name, at]) => `| ${name} | ${cells(at).join(' | ')} |`),
    '',
  ].join('\n');
}
