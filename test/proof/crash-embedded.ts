/**
 * R10: the embedded service in trouble, as it comes to a machine that somebody runs for real: it and each of its servers
 * killed, at any moment and while it starts; its disk full, and freed again; files gone; one upon the other, in random
 * order. What was accepted ends, once; and never do two processes write one server's data.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../src/platform/core/present.ts';
import { mountSmallDisk } from '../support/faults/small-disk.ts';
import { createEmbeddedService, SERVERS, type EmbeddedService, type ServerName } from './embedded-service.ts';
import { untilSettled } from './embedded-settled.ts';
import { successRateOf } from './invariants.ts';
import { keepLogs } from './keep-logs.ts';
import { between, pick, seeded, shuffled } from './random.ts';
import { isReadyWithin } from './ready.ts';
import { prove } from './report.ts';
import { startSink } from './sink.ts';
import { waitsOverApi } from './waits.ts';
import { createWorkload, makeProofTenant, workloadSettings } from './workload.ts';

const MB = 1_024 ** 2;
const DISK = 1_500 * MB;
/** How long it may take to be ready again. */
const READY_MS = 120_000;
/** How long it may take until all that was accepted has ended. One database serves it all, slowly. */
const RECOVERY_MS = 240_000;
/** How long something stays away, or full, at most. */
const AWAY_MS = 4_000;

interface Context {
  service: EmbeddedService;
  random: () => number;
  violations: string[];
}
type Trouble = (context: Context) => Promise<void>;

const aMoment = ({ random }: Context) => wait(between(random, 0, AWAY_MS));

/** Kills it, does something while it is away, and starts it. */
const whileAway =
  (signal: 'SIGKILL' | 'SIGTERM', meanwhile: Trouble): Trouble =>
  async (context) => {
    await context.service.end(signal);
    await meanwhile(context);
    await startAgain(context);
  };

/** Nothing can be proved of what does not start. */
async function startAgain({ service }: Pick<Context, 'service'>): Promise<void> {
  if (!(await service.start())) throw new Error(`it does not start: ${await service.lastWords()}`);
}

const killServers =
  (...names: ServerName[]): Trouble =>
  async ({ service }) => {
    await Promise.all(names.map((name) => service.killServer(name)));
  };

/** Nothing can be written while something else happens, and for a moment after. */
const whileFull =
  (trouble: Trouble): Trouble =>
  async (context) => {
    const { disk } = context.service;
    await disk.leave(0);
    await trouble(context);
    await aMoment(context);
    // What was freed meanwhile, by a server that ended, is taken as well.
    await disk.leave(0);
    await aMoment(context);
    await disk.makeRoom();
  };

/** Killed a second time on its way up. */
const killStarting: Trouble = async (context) => {
  const { service, random } = context;
  await service.end('SIGKILL');
  const started = service.start();
  await wait(between(random, 100, 5_000));
  await (random() < 0.5 ? service.end('SIGKILL') : service.killServer(pick(random, SERVERS)));
  const isUp = await started;
  if (isUp && service.replica.running) return;
  await service.end('SIGKILL');
  await startAgain(context);
};

/** Started on a full disk it works, or says why not. */
const startFull: Trouble = async (context) => {
  const { service, violations } = context;
  await service.end('SIGKILL');
  await service.disk.leave(0);
  const started = service.start();
  const outcome = await Promise.race([started, wait(30_000, 'waits' as const)]);
  if (outcome === false && !/disk is full|ENOSPC|No space left|no space left/.test(await service.lastWords())) {
    violations.push(`it does not say that the disk is full: ${await service.lastWords()}`);
  }
  await service.disk.makeRoom();
  if (!(await started)) await startAgain(context);
};

const removing =
  (...names: string[]): Trouble =>
  async ({ service: { disk } }) => {
    const all = await readdir(disk.inside);
    for (const name of all.filter((each) => names.some((prefix) => each.startsWith(prefix)))) {
      await rm(join(disk.inside, name));
    }
  };

/** Without the keys it does not start, and says so; with them it does. */
const withoutSecrets: Trouble = async (context) => {
  const { service, violations } = context;
  const secrets = join(service.disk.inside, 'secrets.json');
  await service.end('SIGTERM');
  await rename(secrets, `${secrets}.aside`);
  if (await service.start()) violations.push('it starts without its secrets');
  else if (!(await service.lastWords()).includes('secrets.json')) {
    violations.push(`it does not say that its secrets are gone: ${await service.lastWords()}`);
  }
  await service.end('SIGTERM');
  await rename(`${secrets}.aside`, secrets);
  await startAgain(context);
};

interface Place {
  name: string;
  trouble: Trouble;
  isSmall?: boolean;
}

const nothing: Trouble = async () => {};

const PLACES: readonly Place[] = [
  { name: 'Postgres killed', trouble: killServers('postgres'), isSmall: true },
  { name: 'Temporal killed', trouble: killServers('temporal'), isSmall: true },
  { name: 'both killed', trouble: killServers('postgres', 'temporal') },
  { name: 'all killed', trouble: whileAway('SIGKILL', aMoment), isSmall: true },
  { name: 'killed, and started at once', trouble: whileAway('SIGKILL', nothing) },
  { name: 'stopped', trouble: whileAway('SIGTERM', aMoment) },
  { name: 'killed while it starts', trouble: killStarting },
  { name: 'disk full', trouble: whileFull(aMoment), isSmall: true },
  { name: 'disk full, Postgres killed', trouble: whileFull(killServers('postgres')), isSmall: true },
  { name: 'disk full, Temporal killed', trouble: whileFull(killServers('temporal')) },
  { name: 'disk full, both killed', trouble: whileFull(killServers('postgres', 'temporal')) },
  { name: 'started on a full disk', trouble: startFull },
  {
    name: 'notes of its processes gone',
    trouble: whileAway('SIGKILL', removing('processes.json')),
    isSmall: true,
  },
  { name: 'credentials gone', trouble: whileAway('SIGTERM', removing('credentials.json')) },
  { name: 'what Temporal knew gone', trouble: whileAway('SIGKILL', removing('temporal.db')), isSmall: true },
  { name: 'secrets gone', trouble: withoutSecrets },
];
/** Of the full run. */
const ROUNDS = 4;

await prove(
  { name: 'crash-embedded', claim: 'R10', title: 'The embedded service killed, without room and without files' },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const sink = await startSink();
    const service = await createEmbeddedService(
      (directory) => mountSmallDisk(directory, DISK),
      workloadSettings(sink),
      makeProofTenant,
    );
    const tenant = service.prepared;
    const violations: string[] = [];
    const context: Context = { service, random, violations };
    await startAgain(context);
    for (const name of SERVERS) {
      if ((await service.writersOf(name)) !== 1) throw new Error(`who writes the data of ${name} cannot be seen here`);
    }
    const workload = await createWorkload({
      target: { replicas: [service.replica], temporalAddress: service.temporalAddress },
      tenant,
      sink,
      random,
      waits: waitsOverApi,
      perSecond: 1,
      maxOpen: 20,
    });
    say('everything is up; work begins');
    workload.begin();

    const places = PLACES.filter(({ isSmall }) => isSmall || !small).flatMap((place) =>
      Array<Place>(small ? 1 : ROUNDS).fill(place),
    );
    const done = new Map<string, number>();
    let longestBackMs = 0;
    for (const [i, { name, trouble }] of shuffled(random, places).entries()) {
      await wait(between(random, 2_000, 8_000));
      say(`${i + 1} of ${places.length}: ${name}`);
      workload.faultBegins();
      await trouble(context);
      const overAt = Date.now();
      const isReady = await isReadyWithin(READY_MS, service.replica.url);
      longestBackMs = Math.max(longestBackMs, Date.now() - overAt);
      workload.faultEnds();
      if (hasEnded(service)) {
        violations.push(`${name}: the service ended by itself: ${await service.lastWords()}`);
        await startAgain(context);
      } else if (!isReady) violations.push(`not ready ${READY_MS / 1_000} s after: ${name}`);
      done.set(name, (done.get(name) ?? 0) + 1);
    }
    say('no more troubles');
    await workload.finish();

    const startedAt = Date.now();
    const { did, found } = await untilSettled(service, workload, sink, say, RECOVERY_MS);
    const settledMs = Date.now() - startedAt;
    violations.push(...found, ...service.tooManyWriters);
    const bad = [...workload.calls.bad].map(([what, count]) => `${what} (${count})`).join(', ');
    if (violations.length > 0) say(`the log is in ${await keepLogs(service.folder, `crash-embedded-${seed}`)}`);
    await service.close();
    return {
      did: {
        troubles: places.length,
        ...Object.fromEntries([...done].sort().map(([name, count]) => [`- ${name}`, count])),
        ...did,
        'bad calls outside faults': bad || 0,
        'longest until ready again': `${(longestBackMs / 1_000).toFixed(1)} s`,
        'settled after': `${(settledMs / 1_000).toFixed(1)} s`,
      },
      successRate: successRateOf(workload),
      violations: violations.map((what) => ({ what, repeat })),
    };
  },
);

/** Without being told to. */
function hasEnded({ replica: { running } }: EmbeddedService): boolean {
  const { exitCode, signalCode } = present(running).child;
  return exitCode !== null || signalCode !== null;
}
