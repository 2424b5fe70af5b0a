/**
 * R2: every link between two parts is slowed, cut into bits, reset, silenced and taken down while mixed work goes
 * through all of them. What was promised holds during each fault, and everything is as it should be after.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { removeWithUs } from '../bench/processes.ts';
import { deploy, type Deployment, type Replica } from '../support/processes/deployment.ts';
import { startToxiproxy, type Fault, type Wire } from '../support/faults/toxiproxy.ts';
import { inspect, successRateOf } from './invariants.ts';
import { modelSettings, startModelProvider } from '../support/fakes/model-provider.ts';
import { createPromises } from './network-promises.ts';
import { between, pick, seeded, shuffled } from './random.ts';
import { isReadyWithin } from './ready.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { startWatchers } from './watchers.ts';
import { prepareWorkload, workloadSettings, type Workload } from './workload.ts';

const LINKS = ['api-temporal', 'api-postgres', 'worker-temporal', 'worker-postgres', 'worker-model'] as const;
export type Link = (typeof LINKS)[number];
const FAULT_KINDS: readonly Fault['kind'][] = ['latency', 'reset', 'silence', 'trickle', 'down'];

/** A proxy's silence drops bytes out of the middle of a connection that goes on, which no network does to a stream. */
const WATCHER_FAULTS: readonly Fault['kind'][] = ['latency', 'reset', 'trickle', 'down'];
/** The names of wires between those who follow and the APIs begin with it. */
const WATCHER = 'watcher-';

interface Sizes {
  /** Of each link and kind, how long it lasts. */
  faultS: readonly [least: number, most: number];
  downS: number;
  restS: readonly [least: number, most: number];
  /** Each kind once on each link, or one kind a link. */
  all: boolean;
}
const FULL: Sizes = { faultS: [10, 20], downS: 60, restS: [8, 14], all: true };
const SMALL: Sizes = { faultS: [5, 8], downS: 10, restS: [3, 5], all: false };

/** Longer than any wait between two tries to connect. */
const BACK_MS = 30_000;

interface Planned {
  link: Link;
  fault: Fault;
  lastsMs: number;
  restMs: number;
  /** Of the replicas of the link's part; all of them, or one. */
  isAll: boolean;
}

await prove(
  { name: 'network', claim: 'R2', title: 'slow, cut, silent and broken links between all parts' },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const proxy = await startToxiproxy();
    if (typeof proxy === 'string') throw new Error(proxy);
    const [sink, provider] = await Promise.all([startSink(), startModelProvider()]);
    const wires = new Map<string, Wire>();
    const wire = async (name: string, to: string): Promise<string> => {
      const made = await proxy.wire(name, to);
      wires.set(name, made);
      return made.address;
    };
    const folder = await mkdtemp(join(tmpdir(), 'aos-network-'));
    removeWithUs(folder);
    const modelAddress = await wire('worker-model', new URL(provider.baseUrl).host);
    const deployment = await deploy({
      settings: { ...workloadSettings(sink), ...(await modelSettings(`http://${modelAddress}/v1`, folder)) },
      through: ({ from, to, address }) => wire(`${from.name}-${to}`, address),
    });
    say('up');
    const workload = await prepareWorkload({ deployment, sink, random });
    const watched = await wiresToApis(deployment, wire);
    const watchers = await startWatchers(deployment, workload, (url) => `http://${present(watched.get(url))}`);
    const promises = createPromises({ deployment, workload, random });
    workload.begin();
    const ended = watchProcesses(deployment);

    let longestBackMs = 0;
    for (const planned of planOf(random, small ? SMALL : FULL)) {
      await wait(planned.restMs);
      longestBackMs = Math.max(longestBackMs, await inflict(planned));
    }
    await wait(5_000);
    await workload.finish();
    say('the faults are over');

    /** @returns how long the APIs took to be ready again */
    async function inflict({ link, fault, lastsMs, isAll }: Planned): Promise<number> {
      const affected = link === 'worker-model' ? [] : affectedBy(deployment, link, isAll, random);
      const names = link === 'worker-model' ? [link] : affected.map(({ name }) => `${name}-${link.split('-')[1]}`);
      say(`${names.join(', ')}: ${JSON.stringify(fault)} for ${lastsMs / 1_000} s`);
      workload.faultBegins();
      // Those who follow lose their connections at the same time, and resume.
      const ofWatchers = faultOf(random, pick(random, WATCHER_FAULTS));
      const brokenWires = [
        ...names.map((name) => [present(wires.get(name)), fault] as const),
        ...[...wires].filter(([name]) => name.startsWith(WATCHER)).map(([, each]) => [each, ofWatchers] as const),
      ];
      await Promise.all(brokenWires.map(([each, how]) => each.break(how)));
      await promises.during({ link, fault, affected, lastsMs });
      await Promise.all(brokenWires.map(([each]) => each.mend()));
      const backMs = await untilReady(deployment);
      if (backMs >= BACK_MS) promises.violations.push(`not ready ${BACK_MS / 1_000} s after ${link} ${fault.kind}`);
      workload.faultEnds();
      return backMs;
    }

    const { did, violations, settledMs } = await inspect({ db: deployment.db, workload, sink, say });
    const found = await watchers.finish();
    const failures = await failuresOf(deployment, workload);
    const lost = [...failures].filter(([code]) => code === 'internal_error');
    return {
      did: {
        ...promises.did,
        ...did,
        ...found.did,
        'runs failed by': [...failures].map(([code, count]) => `${code} ${count}`).join(', '),
        'bad calls outside faults':
          [...workload.calls.bad].map(([what, count]) => `${what} (${count})`).join(', ') || 0,
        'longest until ready again': `${longestBackMs} ms`,
        'all ended after': `${settledMs} ms`,
      },
      successRate: successRateOf(workload),
      violations: [
        ...promises.violations,
        ...ended,
        ...lost.map(([, count]) => `${count} runs failed with internal_error, by a fault that they should outlive`),
        ...violations,
        ...found.violations,
      ].map((what) => ({ what, repeat })),
    };
  },
);

/** @returns the address at which those who follow reach each API, by its own address */
async function wiresToApis(
  { replicas }: Deployment,
  wire: (name: string, to: string) => Promise<string>,
): Promise<Map<string, string>> {
  const apis = replicas.flatMap(({ name, url }) => (url === undefined ? [] : [{ name, url }]));
  const addresses = apis.map(async ({ name, url }) => [url, await wire(WATCHER + name, new URL(url).host)] as const);
  return new Map(await Promise.all(addresses));
}

function planOf(random: () => number, { faultS, downS, restS, all }: Sizes): Planned[] {
  const kinds = shuffled(random, FAULT_KINDS);
  const pairs = all
    ? LINKS.flatMap((link) => FAULT_KINDS.map((kind) => [link, kind] as const))
    : LINKS.map((link, i) => [link, itemAt(kinds, i)] as const);
  return shuffled(random, pairs).map(([link, kind]) => ({
    link,
    fault: faultOf(random, kind),
    lastsMs: (kind === 'down' ? downS : between(random, ...faultS)) * 1_000,
    restMs: between(random, restS[0] * 1_000, restS[1] * 1_000),
    isAll: kind === 'down' || random() < 0.5,
  }));
}

function faultOf(random: () => number, kind: Fault['kind']): Fault {
  switch (kind) {
    case 'latency': {
      const latency = pick(random, [20, 100, 300]);
      return { kind, latency, jitter: latency / 2 };
    }
    case 'trickle':
      return { kind, rate: pick(random, [20, 100]), sliceBytes: pick(random, [64, 512]) };
    case 'reset':
    case 'silence':
    case 'down':
      return { kind };
  }
}

function affectedBy({ replicas }: Deployment, link: Link, isAll: boolean, random: () => number): Replica[] {
  const ofPart = replicas.filter(({ part }) => link.startsWith(part));
  return isAll ? ofPart : [pick(random, ofPart)];
}

/** Nobody restarts a process here: each has to outlive whatever its links do. */
function watchProcesses({ replicas }: Deployment): string[] {
  const ended: string[] = [];
  for (const { name, running } of replicas) {
    void present(running).ended.then((code) => ended.push(`the process of ${name} ended with ${code}`));
  }
  return ended;
}

/** @returns after how many milliseconds */
async function untilReady({ replicas }: Deployment): Promise<number> {
  const startedAt = Date.now();
  for (const { url } of replicas.filter(({ part }) => part === 'api')) {
    await isReadyWithin(startedAt + BACK_MS - Date.now(), present(url));
  }
  return Date.now() - startedAt;
}

/** By the code that their error begins with. */
async function failuresOf({ db }: Deployment, { customerId }: Workload): Promise<Map<string, number>> {
  const rows = await db.rows<{ code: string; count: number }>(sql`
    select split_part(error, ':', 1) as code, count(*)::int as count from runs
    where customer_id = ${customerId} and status = 'failed' group by 1`);
  return new Map(rows.map(({ code, count }) => [code, count]));
}
