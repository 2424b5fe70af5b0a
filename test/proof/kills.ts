/** The kills of the proof of crashes: who is killed, at which moment, and how everything comes up again. */
import { setTimeout as wait } from 'node:timers/promises';
import { present } from '../../src/platform/core/present.ts';
import type { Deployment, Replica } from '../support/processes/deployment.ts';
import { between, pick } from './random.ts';
import { isReadyWithin } from './ready.ts';
import type { Sink, SinkRequest } from './sink.ts';
import { ownerOf } from './socket-owner.ts';
import type { Trap, Wire } from './wire.ts';
import type { Workload } from './workload.ts';

export interface KillContext {
  deployment: Deployment;
  workload: Workload;
  sink: Sink;
  wires: ReadonlyMap<string, Wire>;
  random: () => number;
}

/** How long a failpoint waits to be met by the work that goes on. */
const PATIENCE_MS = 20_000;
/** How long something killed stays away, at most. */
const AWAY_MS = 3_000;
/** How long the deployment may take to say that it is ready. */
const READY_MS = 120_000;

/** @returns how many processes it killed; 0 where the moment did not come */
export type Kill = (context: KillContext) => Promise<number>;

/** Kills replicas, and returns when they and everything else work again. */
async function killReplicas(
  { deployment, workload, random }: KillContext,
  victims: readonly Replica[],
): Promise<number> {
  workload.faultBegins();
  await Promise.all(victims.map((replica) => deployment.kill(replica)));
  await wait(between(random, 0, AWAY_MS));
  await Promise.all(victims.map((replica) => deployment.start(replica)));
  await untilReady(deployment);
  workload.faultEnds();
  return victims.length;
}

/** Each API says of itself whether it reaches what it needs. */
async function untilReady({ replicas }: Deployment): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (const { url, name } of replicas.filter(({ part }) => part === 'api')) {
    if (await isReadyWithin(deadline - Date.now(), present(url))) continue;
    throw new Error(`${name} is not ready ${READY_MS / 1_000} s after a kill`);
  }
}

const ofPart = ({ deployment }: KillContext, part: Replica['part']): Replica[] =>
  deployment.replicas.filter((replica) => replica.part === part);

/** At any moment. */
export const killOne =
  (part: Replica['part']): Kill =>
  (context) =>
    killReplicas(context, [pick(context.random, ofPart(context, part))]);
export const killAll =
  (part: Replica['part']): Kill =>
  (context) =>
    killReplicas(context, ofPart(context, part));

export const killTemporal: Kill = async ({ deployment, workload, random }) => {
  workload.faultBegins();
  await deployment.killTemporal();
  await wait(between(random, 0, AWAY_MS));
  await deployment.startTemporal();
  await untilReady(deployment);
  workload.faultEnds();
  return 1;
};

export const killPostgres: Kill = async ({ deployment, workload, random }) => {
  workload.faultBegins();
  await deployment.postgres.kill();
  await wait(between(random, 0, AWAY_MS));
  await deployment.postgres.start();
  await untilReady(deployment);
  workload.faultEnds();
  return 1;
};

/** The first process of this part that comes to this statement is killed there. */
export const killAtStatement =
  (part: Replica['part'], when: Trap['when'], statement: RegExp): Kill =>
  async (context) => {
    const met = Promise.withResolvers<Replica>();
    const armed = ofPart(context, part).map((replica) => {
      const wire = present(context.wires.get(replica.name));
      wire.trap = {
        when,
        statement,
        sprung() {
          for (const other of armed) other.trap = undefined;
          // Before anything else can happen in it.
          replica.running?.child.kill('SIGKILL');
          met.resolve(replica);
        },
      };
      return wire;
    });
    const victim = await orNothing(met.promise);
    for (const wire of armed) wire.trap = undefined;
    return victim ? killReplicas(context, [victim]) : 0;
  };

/** The worker whose request has had its effect is killed before it has the answer. */
export const killInRequest =
  (kinds: readonly SinkRequest['kind'][]): Kill =>
  async (context) => {
    const { sink } = context;
    const met = Promise.withResolvers<Replica>();
    const isOver = Promise.withResolvers<void>();
    sink.beforeAnswer = async ({ kind, socket }) => {
      if (!kinds.includes(kind)) return;
      const workers = ofPart(context, 'worker').filter(({ running }) => running);
      const pid = ownerOf(
        socket,
        workers.map(({ running }) => present(present(running).child.pid)),
      );
      const victim = workers.find(({ running }) => present(running).child.pid === pid);
      if (!victim) return;
      sink.beforeAnswer = undefined;
      victim.running?.child.kill('SIGKILL');
      met.resolve(victim);
      await isOver.promise;
    };
    const victim = await orNothing(met.promise);
    sink.beforeAnswer = undefined;
    isOver.resolve();
    return victim ? killReplicas(context, [victim]) : 0;
  };

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  const nothing = wait(PATIENCE_MS, undefined, { signal: late.signal }).catch(() => undefined);
  return Promise.race([work, nothing]).finally(() => late.abort());
}
