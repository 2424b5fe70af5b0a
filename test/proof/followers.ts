/**
 * R11: those who follow a workspace, while every part of the service is killed with `kill -9` at any moment, most often the
 * APIs that they are connected to. Each connects again after the last event that it has seen. In the end each has seen every
 * event of the log that it asked for, once and in order.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { deploy } from '../support/processes/deployment.ts';
import { inspect, successRateOf } from './invariants.ts';
import { keepLogs } from './keep-logs.ts';
import { killAll, killOne, killPostgres, killTemporal, type Kill } from './kills.ts';
import { between, seeded, shuffled } from './random.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { startWatchers } from './watchers.ts';
import { prepareWorkload, workloadSettings } from './workload.ts';

interface Place {
  name: string;
  kill: Kill;
  /** In the full run, and in the small run. */
  times: readonly [number, number];
}

const PLACES: readonly Place[] = [
  { name: 'API', kill: killOne('api'), times: [40, 2] },
  { name: 'all APIs', kill: killAll('api'), times: [15, 1] },
  { name: 'worker', kill: killOne('worker'), times: [15, 1] },
  { name: 'Postgres', kill: killPostgres, times: [20, 1] },
  { name: 'Temporal', kill: killTemporal, times: [5, 0] },
];

await prove(
  { name: 'followers', claim: 'R11', title: 'those who follow a workspace while its parts are killed' },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const sink = await startSink();
    const deployment = await deploy({ settings: workloadSettings(sink) });
    const workload = await prepareWorkload({ deployment, sink, random });
    const watchers = await startWatchers(deployment, workload);
    say('everything is up; work begins');
    workload.begin();
    const context = { deployment, workload, sink, wires: new Map(), random };
    const places = PLACES.flatMap((place) => Array<Place>(place.times[small ? 1 : 0]).fill(place));
    const killed = new Map<string, number>();
    for (const [i, { name, kill }] of shuffled(random, places).entries()) {
      await wait(between(random, 500, 5_000));
      killed.set(name, (killed.get(name) ?? 0) + (await kill(context)));
      say(`${i + 1} of ${places.length}: ${name}`);
    }
    say('no more kills');
    await workload.finish();
    const inspected = await inspect({ db: deployment.db, workload, sink, say });
    const watched = await watchers.finish();
    const violations = [...inspected.violations, ...watched.violations];
    if (violations.length > 0) say(`logs are in ${await keepLogs(deployment.folder, `followers-${seed}`)}`);
    return {
      did: {
        kills: [...killed.values()].reduce((sum, count) => sum + count, 0),
        ...Object.fromEntries([...killed].sort().map(([name, count]) => [`- ${name}`, count])),
        ...watched.did,
        ...inspected.did,
      },
      successRate: successRateOf(workload),
      violations: violations.map((what) => ({ what, repeat })),
    };
  },
);
