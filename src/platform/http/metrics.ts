/**
 * What Prometheus reads of a process: what it counted itself, and what is asked of the outside at a scrape. It names no
 * tenant. What a process counts is its own, so that the sum over processes is right; what it is told of the deployment
 * (`aos_backlog*`) is the same in each, and is to be taken once: `max`.
 */
import type { RequestHandler } from 'express';
import { Gauge, Registry } from 'prom-client';
import type { PoolUse } from '../db/pool.ts';
import type { Meters } from '../observability/meters.ts';
import type { Stalls } from '../observability/stalls.ts';
import { orAfter } from '../temporal/problems.ts';
import { notFound } from './app.ts';

/** So many things of one kind are in a state, and the oldest has been there for so long. */
export interface Backlog {
  kind: string;
  status: string;
  count: number;
  oldestS: number;
}

/** Tells how far behind a chore of housekeeping is. */
export interface ChoreBehind {
  chore: string;
  due: number;
  overdueS: number;
}

interface Recorders {
  meters: Pick<Meters, 'requests'>;
  stalls: Pick<Stalls, 'begin'>;
}

/** Times the requests of a listener, and knows which are under way. */
export const recordRequests =
  ({ meters: { requests }, stalls }: Recorders, listener: string): RequestHandler =>
  (request, response, next) => {
    const end = requests.startTimer({ listener, method: request.method });
    // The label is the pattern of an address: with the address itself each id would be a series of its own.
    const route = (): string => (response.locals as { route?: string }).route ?? 'other';
    let isTimed = false;
    const answered = () => {
      if (!isTimed) end({ route: route(), status: response.statusCode });
      isTimed = true;
    };
    // A stream counts as answered when it begins, because how long somebody listens is not how long they waited.
    response.locals.beginsStream = answered;
    response.once('finish', answered);
    response.once(
      'close',
      stalls.begin(() => `${request.method} ${route()}`),
    );
    next();
  };

export interface PageOptions {
  meters: Meters;
  poolUse: () => PoolUse;
  /** A rejection means that Temporal cannot be reached. */
  askTemporal: () => Promise<unknown>;
  /** A rejection means that the database cannot be reached. */
  askDatabase: () => Promise<unknown>;
  /** @returns free bytes; undefined in a process that keeps nothing on a disk */
  freeOnDisk?: () => Promise<number | undefined>;
  /** Reads what is not done in the whole deployment; only some processes tell of it. */
  readBacklog?: (() => Promise<readonly Backlog[]>) | undefined;
  readChores?: (() => Promise<readonly ChoreBehind[]>) | undefined;
  /** The Temporal SDK shows its own counts at this address. */
  sdkUrl?: string | undefined;
}

/** Answers a scrape of Prometheus. Mount it at the address of the page. */
export function metricsPage({ meters, ...outside }: PageOptions): RequestHandler {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const isDatabaseUp = gauge('aos_database_up', '1 while the database answers this process');
  const isTemporalUp = gauge('aos_temporal_up', '1 while Temporal answers this process');
  const connections = gauge(
    'aos_database_connections',
    'Connections of this process to the database by use, and queries that wait for one',
    ['state'],
  );
  const { readBacklog, readChores } = outside;
  const backlog =
    readBacklog && gauge('aos_backlog', 'Runs, projects, gates and deliveries that are not done', ['kind', 'status']);
  const oldest = readBacklog && gauge('aos_backlog_oldest_seconds', 'Age of the oldest of them', ['kind', 'status']);

  const choreDue =
    readChores && gauge('aos_chore_due', 'What a chore of housekeeping is to look after and has not yet', ['chore']);
  const choreOverdue =
    readChores && gauge('aos_chore_overdue_seconds', 'For how long the oldest of that has been due', ['chore']);

  const freeOnDisk = gauge('aos_disk_free_bytes', 'Of the disk that the data directory is on');

  async function lookOutside(): Promise<void> {
    const [database, temporal, rows, chores, free] = await Promise.allSettled([
      inTime(outside.askDatabase()),
      inTime(outside.askTemporal()),
      inTime(readBacklog?.() ?? Promise.resolve([])),
      inTime(readChores?.() ?? Promise.resolve([])),
      inTime(outside.freeOnDisk?.() ?? Promise.resolve(undefined)),
    ]);
    freeOnDisk.reset();
    if (free.status === 'fulfilled' && free.value !== undefined) freeOnDisk.set(free.value);
    isDatabaseUp.set(database.status === 'fulfilled' ? 1 : 0);
    isTemporalUp.set(temporal.status === 'fulfilled' ? 1 : 0);
    for (const [state, count] of Object.entries(outside.poolUse())) connections.set({ state }, count);
    backlog?.reset();
    oldest?.reset();
    for (const { kind, status, count, oldestS } of rows.status === 'fulfilled' ? rows.value : []) {
      backlog?.set({ kind, status }, count);
      oldest?.set({ kind, status }, oldestS);
    }
    choreDue?.reset();
    choreOverdue?.reset();
    for (const { chore, due, overdueS } of chores.status === 'fulfilled' ? chores.value : []) {
      choreDue?.set({ chore }, due);
      choreOverdue?.set({ chore }, overdueS);
    }
  }

  return async (request, response, next) => {
    if (request.method !== 'GET' || request.path !== '/') return notFound(request, response, next);
    await lookOutside();
    const [own, found, sdk] = await Promise.all([
      meters.registry.metrics(),
      registry.metrics(),
      outside.sdkUrl && readSdk(outside.sdkUrl),
    ]);
    response.type(registry.contentType).send([own, found, sdk].filter(Boolean).join('\n'));
  };
}

/**
 * A scrape has ten seconds. The part that says that the database is silent must not wait for it as long as the rest
 * does.
 */
const LOOK_MS = 4_000;
const inTime = <T>(look: Promise<T>): Promise<T> =>
  orAfter(LOOK_MS, look, () => {
    throw new Error(`no answer within ${LOOK_MS} ms`);
  });

/**
 * The SDK serves its page on this machine's loopback address. Where it does not answer, the rest is given without it.
 */
const readSdk = (url: string): Promise<string> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    (answer) => (answer.ok ? answer.text() : ''),
    () => '',
  );
