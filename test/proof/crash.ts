/**
 * R1: `kill -9` of every part while mixed work goes through all of them, at any moment and at the moments that matter:
 * before a commit, after it and before what it promised is begun, after an effect and before its record, in a delivery.
 * And no piece of that work makes a process stand still.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { deploy, metricsUrls } from '../support/processes/deployment.ts';
import { findStalls, suspectsDuring, watchLoopsAt } from '../support/observability/stall-oracle.ts';
import { inspect, successRateOf } from './invariants.ts';
import { keepLogs } from './keep-logs.ts';
import {
  killAll,
  killAtStatement,
  killInRequest,
  killOne,
  killPostgres,
  killTemporal,
  type Kill,
  type KillContext,
} from './kills.ts';
import { between, seeded, shuffled } from './random.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { startWatchers } from './watchers.ts';
import { startWire, type Wire } from './wire.ts';
import { prepareWorkload, workloadSettings } from './workload.ts';
import { KINDS } from './workload-kinds.ts';

const ACCEPTS = /insert into (runs|projects) /;
const BEGINS_RUN = /update runs set status = 'running'/;
const RECORDS_TURN = /update runs set turn_count = /;
const RECORDS_RESULT = /update run_tool_calls set status = /;
const RECORDS_ATTEMPT = /(insert into|update) "webhook_deliver/;
const COMMITS = /^commit$/i;

interface Place {
  name: string;
  kill: Kill;
  /** In a round of the full run, and in the small run. */
  times: readonly [number, number];
}

/** Of the full run: more than 500 kills, in an hour. */
const ROUNDS = 4;

const PLACES: readonly Place[] = [
  { name: 'worker, any time', kill: killOne('worker'), times: [16, 1] },
  { name: 'all workers, any time', kill: killAll('worker'), times: [4, 0] },
  { name: 'API, any time', kill: killOne('api'), times: [14, 1] },
  { name: 'all APIs, any time', kill: killAll('api'), times: [3, 0] },
  { name: 'Temporal, any time', kill: killTemporal, times: [10, 1] },
  { name: 'Postgres, any time', kill: killPostgres, times: [10, 1] },
  { name: 'API, before the commit', kill: killAtStatement('api', 'before', ACCEPTS), times: [6, 1] },
  { name: 'API, before a later commit', kill: killAtStatement('api', 'before', COMMITS), times: [3, 0] },
  { name: 'API, after the commit, before the start', kill: killAtStatement('api', 'after', ACCEPTS), times: [9, 1] },
  {
    name: 'worker, before the commit of a turn',
    kill: killAtStatement('worker', 'before', RECORDS_TURN),
    times: [5, 1],
  },
  { name: 'worker, before a commit', kill: killAtStatement('worker', 'before', COMMITS), times: [5, 1] },
  { name: 'worker, after the commit of a turn', kill: killAtStatement('worker', 'after', RECORDS_TURN), times: [4, 0] },
  { name: 'worker, after a commit', kill: killAtStatement('worker', 'after', COMMITS), times: [5, 1] },
  { name: 'worker, after a run has begun', kill: killAtStatement('worker', 'after', BEGINS_RUN), times: [3, 0] },
  { name: 'worker, after an effect, before its answer', kill: killInRequest(['put', 'post']), times: [7, 1] },
  {
    name: 'worker, after an effect, before its record',
    kill: killAtStatement('worker', 'before', RECORDS_RESULT),
    times: [6, 1],
  },
  { name: 'worker, in a delivery', kill: killInRequest(['hook']), times: [5, 1] },
  {
    name: 'worker, after a delivery, before its record',
    kill: killAtStatement('worker', 'before', RECORDS_ATTEMPT),
    times: [5, 1],
  },
];

await prove(
  { name: 'crash', claim: 'R1', title: 'kill -9 of every part, at any moment and at those that matter' },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const sink = await startSink();
    const wires = new Map<string, Wire>();
    const deployment = await deploy({
      metrics: true,
      settings: workloadSettings(sink),
      async through({ from, to, address }) {
        if (to === 'temporal') return address;
        const wire = await startWire(address);
        wires.set(from.name, wire);
        return wire.address;
      },
    });
    const workload = await prepareWorkload({ deployment, sink, random });
    const watchers = await startWatchers(deployment, workload);
    say('everything is up; work begins');
    workload.begin();

    const context: KillContext = { deployment, workload, sink, wires, random };
    const places = PLACES.flatMap((place) =>
      Array<Place>(small ? place.times[1] : place.times[0] * ROUNDS).fill(place),
    );
    const killed = new Map<string, number>();
    const missed: string[] = [];
    const killAllPlaces = async () => {
      for (const [i, { name, kill }] of shuffled(random, places).entries()) {
        await wait(between(random, 500, 5_000));
        const count = await kill(context);
        if (count === 0) missed.push(name);
        else killed.set(name, (killed.get(name) ?? 0) + count);
        say(`${i + 1} of ${places.length}: ${name}${count === 0 ? ': the moment did not come' : ''}`);
      }
      say('no more kills');
      await workload.finish();
    };
    const loops = watchLoopsAt(() => metricsUrls(deployment));
    const { suspects: standstills } = await suspectsDuring(loops, () => ['a look'], killAllPlaces());
    // A process that has just started is slow for a while; what is not, is slow when it is alone as well.
    say('each kind of work once more, alone');
    const stalls: string[] = [];
    for (const [kind] of KINDS) {
      for (const { ms } of await findStalls(loops, [kind], () => workload.doAlone(kind))) {
        stalls.push(`work of the kind "${kind.name}" makes a process stand still for ${ms} ms`);
      }
    }
    const inspected = await inspect({ db: deployment.db, workload, sink, say });
    const { did, settledMs } = inspected;
    const watched = await watchers.finish();
    const violations = [...inspected.violations, ...stalls, ...watched.violations];
    const bad = [...workload.calls.bad].map(([what, times]) => `${what} (${times})`);
    if (bad.length > 0) say(`bad calls outside of faults: ${bad.join(', ')}`);
    if (violations.length > 0) say(`logs are in ${await keepLogs(deployment.folder, `crash-${seed}`)}`);
    return {
      did: {
        kills: [...killed.values()].reduce((sum, count) => sum + count, 0),
        ...Object.fromEntries([...killed].sort().map(([name, count]) => [`- ${name}`, count])),
        'moments that did not come': missed.length === 0 ? 0 : missed.join('; '),
        ...did,
        ...watched.did,
        'looks at processes that stood still by their own work': standstills.length,
        'settled after': `${(settledMs / 1_000).toFixed(1)} s`,
      },
      successRate: successRateOf(workload),
      violations: violations.map((what) => ({ what, repeat })),
    };
  },
);
