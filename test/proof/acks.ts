/**
 * R7: what was asked is carried out, and the answer never arrives. A connection to Postgres ends when it has committed
 * and before the process hears of it, for each statement that writes; one to Temporal when it has carried a call out.
 * Nobody lists the statements: each that is met is cut off, the first time that it is met and some times more.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { removeWithUs } from '../bench/processes.ts';
import { deploy, type Deployment, type Replica } from '../support/processes/deployment.ts';
import { createCoverage, nameOf, shapeOf, sum, tablesOf, type Coverage } from './acks-coverage.ts';
import { ACK_KINDS, prepareAcks } from './acks-kinds.ts';
import { inspect, successRateOf } from './invariants.ts';
import { modelSettings, startModelProvider } from '../support/fakes/model-provider.ts';
import { seeded } from './random.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { startTemporalWire, type TemporalWire } from './temporal-wire.ts';
import { startWire, type Wire } from './wire.ts';
import { KINDS } from './workload-kinds.ts';
import { prepareWorkload, workloadSettings } from './workload.ts';

/** How often each is cut off, and how long work goes on: so long, and then until nothing new was met for a while. */
const FULL = { times: 4, workS: 420, quietS: 60, longestS: 1_200, apis: 2, workers: 2 };
const SMALL = { times: 1, workS: 20, quietS: 5, longestS: 30, apis: 1, workers: 1 };

/** Connections of Postgres tell what they wrote when they have been idle for so long. */
const TOLD_MS = 12_000;

/** For so long calls of an API that lost an answer count as made during a fault. */
const FAULT_MS = 1_000;

/** Written by triggers, in the statements of what they count, or what they make to be found. */
const BY_TRIGGERS = ['tally_deltas', 'search_documents'];

await prove(
  { name: 'acks', claim: 'R7', title: 'answers lost between the parts after what was asked was carried out' },
  async ({ seed, small, say, repeat }) => {
    const { times, workS, quietS, longestS, apis, workers } = small ? SMALL : FULL;
    const random = seeded(seed);
    const [sink, provider] = await Promise.all([startSink(), startModelProvider()]);
    const wires = new Map<Replica, Wire>();
    const temporalWires = new Map<Replica, TemporalWire>();
    const deployment = await deploy({
      apis,
      workers,
      settings: { ...workloadSettings(sink), ...(await modelSettings(provider.baseUrl, await makeFolder())) },
      async through({ from, to, address }) {
        const wire = await (to === 'postgres' ? startWire(address) : startTemporalWire(address));
        if ('written' in wire) wires.set(from, wire);
        else temporalWires.set(from, wire);
        return wire.address;
      },
    });
    const workload = await prepareWorkload({ deployment, sink, random, kinds: [...KINDS, ...ACK_KINDS] });
    await prepareAcks(workload, sink);

    const statements = createCoverage(times);
    const calls = createCoverage(times);
    for (const [replica, wire] of wires) {
      wire.written = (texts) => lose(replica, statements, [...new Set(texts.map(shapeOf))]);
    }
    for (const [replica, wire] of temporalWires) wire.carriedOut = (call) => lose(replica, calls, [call]);
    // What was written before answers are lost is told by now, so that what is told later was written while they are.
    await wait(TOLD_MS);
    const before = await writtenRows(deployment);
    say('everything is up; work begins');
    workload.begin();

    function lose({ part }: Replica, coverage: Coverage, what: readonly string[]): boolean {
      if (!coverage.meet(what)) return false;
      // Who asks a worker does not notice.
      if (part === 'api') {
        workload.faultBegins();
        setTimeout(() => workload.faultEnds(), FAULT_MS);
      }
      return true;
    }

    for (let s = 0; s < longestS; s += 5) {
      await wait(5_000);
      const quiet = Math.min(statements.quietMs(), calls.quietMs()) / 1_000;
      say(`${statements.cut.size} of ${statements.met.size} statements, ${calls.cut.size} of ${calls.met.size} calls`);
      if (s >= workS && quiet >= quietS) break;
    }
    const tables = await tablesWritten(deployment, before);
    for (const wire of wires.values()) wire.written = undefined;
    for (const wire of temporalWires.values()) wire.carriedOut = undefined;
    await workload.finish();

    const { did, violations, settledMs } = await inspect({ db: deployment.db, workload, sink, say });
    const named = [...statements.cut.keys()].flatMap(tablesOf);
    const missed = [
      ...[...statements.met.keys()].filter((text) => !statements.cut.has(text)).map(nameOf),
      ...[...calls.met.keys()].filter((call) => !calls.cut.has(call)),
      ...tables.filter((table) => !named.includes(table) && !BY_TRIGGERS.includes(table)).map((t) => `writes to ${t}`),
    ];
    const bad = [...workload.calls.bad].map(([what, count]) => `${what} (${count})`);
    return {
      did: {
        'answers of Postgres lost': sum(statements.cut),
        'statements that write, all': `${statements.cut.size} of ${statements.met.size}`,
        ...Object.fromEntries([...statements.cut].map(([text, n]) => [`- ${nameOf(text)}`, n]).sort()),
        'tables written': tables.length,
        'answers of Temporal lost': sum(calls.cut),
        'calls that change something, all': `${calls.cut.size} of ${calls.met.size}`,
        ...Object.fromEntries([...calls.cut].map(([call, n]) => [`- ${call}`, n]).sort()),
        ...did,
        'bad calls outside faults': bad.join(', ') || 0,
        'settled after': `${(settledMs / 1_000).toFixed(1)} s`,
      },
      successRate: successRateOf(workload),
      violations: [...missed.map((what) => `${what}: no answer of it was lost`), ...violations].map((what) => ({
        what,
        repeat,
      })),
    };
  },
);

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-acks-'));
  removeWithUs(folder);
  return folder;
}

async function writtenRows({ db }: Deployment): Promise<Map<string, number>> {
  const rows = await db.rows<{ table: string; rows: number }>(sql`
    select relname as table, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as rows from pg_stat_user_tables`);
  return new Map(rows.map(({ table, rows }) => [table, rows]));
}

async function tablesWritten(deployment: Deployment, before: ReadonlyMap<string, number>): Promise<string[]> {
  const now = await writtenRows(deployment);
  return [...now].filter(([table, rows]) => rows > (before.get(table) ?? 0)).map(([table]) => table);
}
