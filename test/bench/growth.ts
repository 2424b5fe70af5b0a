/**
 * What a run and each read cost with 1,000, 10,000, 100,000 and 1,000,000 archived runs. Beside the time, which a busy
 * machine shakes, stand the pages of the database that were looked at, which it does not.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { loadConfig } from '../../src/platform/core/config.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { createDatabase } from '../../src/platform/db/client.ts';
import { connectTemporal } from '../../src/platform/temporal/client.ts';
import { allRoutes } from '../../src/resources/index.ts';
import { STATEMENTS } from '../../src/resources/retention/store.ts';
import { foldAllTallies } from '../../src/resources/tallies/store.ts';
import { createServices } from '../../src/services.ts';
import { deploy, type Deployment } from '../support/deployment.ts';
import { readsOf, type Read } from '../support/reads.ts';
import { explain, isLook, recordStatements } from '../support/statements.ts';
import { TEST_SECRETS } from '../support/service.ts';
import { fillArchive } from './fill-archive.ts';
import { machine, percentile, sum } from './report.ts';

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
const CALLS = 5;
/** Live runs at each size. */
const RUNS = 60;
const MOST = 1.5;

/** What one thing costs at one size. */
interface Cost {
  /** Median of the calls, as their caller sees them; milliseconds. */
  p50: number;
  /** Of its statements together. */
  blocks: number;
}
const costs = new Map<string, Cost[]>();
const note = (name: string, cost: Cost) => costs.set(name, [...(costs.get(name) ?? []), cost]);
const startedAt = Date.now();
const say = (text: string) =>
  process.stderr.write(`[${String(Math.round((Date.now() - startedAt) / 1_000)).padStart(4)} s] ${text}\n`);

const deployment = await deploy({
  ...{ apis: 1, workers: 1, settings: { HOUSEKEEPING_INTERVAL: '10m' } },
  postgresSettings: [
    'max_connections=100',
    'shared_buffers=1GB',
    'fsync=off',
    'max_wal_size=8GB',
    'maintenance_work_mem=256MB',
    'jit=off',
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
    ...{ db, services, routes: allRoutes(services) },
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
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const from = performance.now();
    await call().catch(() => {});
    times.push(performance.now() - from);
  }
  let blocks = 0;
  for (const statement of statements.filter(isLook)) blocks += (await explain(client, statement)).blocks;
  note(isAnswered ? name : `${name} (refused)`, { p50: percentile(times, 50), blocks });
}

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
    { name: 'housekeeping: runs unstarted', call: () => stores.runs.listUnstarted(15_000, 200) },
    { name: 'housekeeping: runs unchecked', call: () => stores.runs.claimUnchecked(60_000, 200) },
    { name: 'housekeeping: reservations forgotten', call: () => stores.runs.releaseForgotten() },
    { name: 'housekeeping: projects unstarted', call: () => stores.projects.listUnstarted(15_000, 200) },
    {
      name: 'housekeeping: deliveries pending',
      call: () => stores.webhooks.listPending({ olderThanS: 15, limit: 200, after: undefined }),
    },
    { name: 'housekeeping: fold of counts', call: () => foldAllTallies(reader.db) },
    { name: 'metrics: backlog', call: () => system.backlog() },
    ...retained,
  ];
}

/** One after another, from the request to the terminal event; pages are those of the whole database meanwhile. */
async function measureRuns(): Promise<void> {
  const times: number[] = [];
  const one = async () => {
    const from = performance.now();
    const { body } = await deployment.api('POST', '/v1/runs', { agent: 'writer', prompt: 'What is new?' });
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
  note('run, request to terminal event', {
    p50: percentile(times, 50),
    blocks: ((await databaseBlocks()) - before) / RUNS,
  });
}

/** Backends tell of theirs when they have been idle for ten seconds. */
async function databaseBlocks(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const [row] = await deployment.db.rows<{ blocks: number }>(
    sql`select (blks_hit + blks_read)::float8 as blocks from pg_stat_database where datname = current_database()`,
  );
  return row!.blocks;
}

function printed(): string {
  const last = SIZES.length - 1;
  const rows = [...costs].filter(([, all]) => all.length === SIZES.length);
  const ratio = (of: keyof Cost) => (all: Cost[]) => all[last]![of] / Math.max(all[0]![of], of === 'blocks' ? 1 : 0.1);
  const isFlat = (all: Cost[]) => Math.min(ratio('blocks')(all), ratio('p50')(all)) <= MOST;
  const shown = (value: number, digits = 1) => value.toLocaleString('en', { maximumFractionDigits: digits });
  const lines = rows.map(
    ([name, all]) =>
      `| ${name} | ${all.map((cost) => shown(cost.blocks, 0)).join(' | ')} | ${ratio('blocks')(all).toFixed(2)} x | ${all.map((cost) => shown(cost.p50)).join(' | ')} | ${ratio('p50')(all).toFixed(2)} x | ${isFlat(all) ? 'yes' : 'no'} |`,
  );
  const sizes = SIZES.map((size) => shown(size, 0));
  const { date, cores, cpu, load } = machine();
  return [
    `${date.slice(0, 10)}, ${cores} cores (${cpu}), load ${load}. ${rows.length} costs, ${rows.filter(([, all]) => isFlat(all)).length} within ${MOST} x; together ${SIZES.map((_, i) => `${shown(sum(rows.map(([, all]) => all[i]!.blocks)), 0)} pages`).join(', ')}.`,
    '',
    `| | ${sizes.map((size) => `pages, ${size}`).join(' | ')} | ratio | ${sizes.map((size) => `ms, ${size}`).join(' | ')} | ratio | within ${MOST} x |`,
    `| --- |${' ---: |'.repeat(SIZES.length * 2 + 2)} --- |`,
    ...lines,
    '',
  ].join('\n');
}
