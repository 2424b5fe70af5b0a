/**
 * The whole service in one process, with what the settings do not give: Postgres, Temporal and secrets of its own, kept
 * in the data directory. Each part starts as soon as what it needs is there, and all stop in the reverse order: requests
 * and workers drain first, the servers under them go last.
 */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { ConfigError, type Config } from '../platform/core/config.ts';
import { createLog, type Log } from '../platform/core/log.ts';
import { present } from '../platform/core/present.ts';
import { freeBytes, isStorageFull } from '../platform/files/disk.ts';
import { makeDirectoryDurably } from '../platform/files/durable.ts';
import type { Services } from '../compose/services.ts';
import type { RunningWorker } from '../worker.ts';
import { LOCAL_OWNER, makeSession, readCredentials, writeCredentials, type Credentials } from './credentials.ts';
import { localIdentity } from './identity.ts';
import { inMB, isMemoryLittle, LEAST_MEMORY, memoryLimit } from './memory.mjs';
import { requireFreePorts, wantedPorts } from './ports.ts';
import { loadSecrets } from './secrets.ts';
import { startServers, temporalFile } from './servers.ts';
import { checkSettings } from './settings.ts';
import { claimDataDir, stopServersOn } from './stale.ts';

export interface EmbeddedServers {
  config: Config;
  log: Log;
  credentials: Credentials;
  /** Milliseconds that each part took; parts overlap. */
  timings: Record<string, number>;
  /**
   * @returns an address that signs the owner in and opens the console, once; null where this process does not serve it
   */
  newConsoleLink(): string | null;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  /** Deletes the data directory at the end. */
  throwAway?: boolean;
}

const SESSION_TTL_MS = 30 * 24 * 3_600_000;
/** In little memory. A workflow that is kept takes 200 kB; whatever is busy beyond these is replayed at each of its tasks. */
const FEW_WORKFLOWS = '400';
/** In percent of what is in use, after which the heap is looked through. */
const GROWING_SLOWLY = '--heap-growing-percent=20';
const BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));

/** @throws ConfigError when a setting is wrong, a port is busy or the directory is in use */
export async function startEmbedded(env: NodeJS.ProcessEnv, options: EmbeddedOptions): Promise<EmbeddedServers> {
  const dataDir = resolve(options.dataDir);
  const { timings, timed } = stopwatch();
  const cleanUps: (() => unknown)[] = [];
  const defer = (cleanUp: () => unknown) => void cleanUps.push(cleanUp);
  let areServersAsked = false;
  let ended: string | undefined;
  const onEnd = (line: string) => void (ended ??= line);
  let log = createLog({ pretty: false });
  const stop = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) {
      try {
        await cleanUp();
      } catch (err) {
        // The parts below must still be stopped.
        log.error({ err }, 'a part of the service failed to stop');
      }
    }
  };

  try {
    const config = checkSettings(env);
    await makeDataDir(dataDir);
    if (options.throwAway) defer(() => rm(dataDir, { recursive: true, force: true }));
    const claim = await claimDataDir(dataDir);
    defer(claim.release);
    // A killed service may have left something running that holds its ports.
    await stopServersOn(temporalFile(dataDir));
    await requireFreePorts(wantedPorts(config, env));
    const secrets = await loadSecrets(env, dataDir);
    const identity = await localIdentity(env, dataDir);

    log = createLog({ level: config.LOG_LEVEL });
    if (memoryLimit() < LEAST_MEMORY)
      log.warn(`${inMB(memoryLimit())} of memory are here, and the service needs ${inMB(LEAST_MEMORY)} or more`);
    areServersAsked = true;
    const [modules, servers] = await settled([
      timed('modules', loadModules),
      startServers(env, { config, dataDir, claim, log, defer, onEnd, timed }),
    ]);
    const { openRuntime, createServices, prepare, startWorker, startApi } = modules;

    const runtime = await timed('connect', () =>
      openRuntime({
        ...(isMemoryLittle() ? { WORKER_MAX_CACHED_WORKFLOWS: FEW_WORKFLOWS } : {}),
        ...env,
        ...secrets,
        ...identity,
        ...servers.settings,
        DATA_DIR: dataDir,
        WORKER_BUNDLE: bundleOf(env),
      }),
    );
    defer(() => runtime.close());
    if (isMemoryLittle()) v8.setFlagsFromString(GROWING_SLOWLY);
    const services = createServices(runtime);
    defer(() => services.close());

    // They are deferred in this order, so that requests drain before the worker does, whichever of the two is up first.
    let worker: RunningWorker | undefined;
    let isAnnounced = false;
    const requireAnnounced = () => {
      if (!isAnnounced) throw new Error('credentials.json is not written yet');
    };
    const up: RunningWorker[] = [];
    const metrics = await modules.openMetrics(runtime, services, up);
    defer(() => metrics?.close(0));
    defer(() => worker?.close());
    const work = async () => {
      worker = await timed('worker', () => startWorker(runtime, services));
    };
    const serve = async () => {
      await timed('seed', () => prepare(runtime));
      // If all was killed, Temporal has lost the last moments: what the record has of them is looked for at once.
      const { runs, projects } = services.stores;
      await Promise.all([runs, projects].map((store) => store.askAboutAll(runtime.config.LOST_WORK_INTERVAL)));
      // Without a mail server the log shows the code of whoever signs in.
      await services.members.seedOwner('internal', LOCAL_OWNER);
      const key = await firstKey(services, dataDir);
      const api = await timed('api', () => startApi(runtime, services, requireAnnounced));
      defer(() => api.close());
      return { api, key };
    };
    const [{ api, key }] = await settled([serve(), work()]);
    up.push(present(worker));

    const credentials: Credentials = {
      base_url: runtime.config.BASE_URL ?? api.gatewayUrl ?? null,
      control_plane_url: api.controlPlaneUrl ?? null,
      temporal_address: servers.temporalAddress,
      temporal_ui_url: servers.temporalUiUrl ?? null,
      database_url: servers.databaseUrl,
      api_key: key,
      session_cookie: makeSession(secrets.SESSION_SECRET, { ttlMs: SESSION_TTL_MS }),
      operator_token: secrets.OPERATOR_TOKEN,
    };
    await writeCredentials(dataDir, credentials);
    isAnnounced = true;
    return {
      config: runtime.config,
      log: runtime.log,
      credentials,
      timings,
      newConsoleLink: () =>
        api.gatewayUrl ? `${api.gatewayUrl}/login/local?token=${services.signIn.localLinks.issue(LOCAL_OWNER)}` : null,
      stop,
    };
  } catch (error) {
    const isFull = isStorageFull(error) || (await freeBytes(dataDir).catch(() => Infinity)) < NOTHING_FREE;
    // What was asked of a server fails before it is known that the server has ended.
    if (areServersAsked && !ended) await setTimeout(END_IS_KNOWN_MS);
    await stop();
    if (isFull && !(error instanceof ConfigError)) throw new ConfigError(unwritable(dataDir, FULL));
    throw ended ? new ConfigError(ended) : error;
  }
}

/** The system tells of the end of a child at once; this process may be busy. */
const END_IS_KNOWN_MS = 500;

const unwritable = (dataDir: string, reason: string): string =>
  `DATA_DIR: ${dataDir} cannot be written to: ${reason}; correct that or set another directory`;

/** @throws ConfigError where nothing can be written there */
async function makeDataDir(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.written-by-${process.pid}`);
  try {
    await makeDirectoryDurably(dataDir, { mode: 0o700 });
    await writeFile(probe, 'x');
    await rm(probe);
  } catch (error) {
    await rm(probe, { force: true }).catch(() => {});
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(unwritable(dataDir, isStorageFull(error) ? FULL : (REFUSALS[code ?? ''] ?? message)));
  }
}

const FULL = 'its disk is full';
/** Counted in bytes: less is of no use to a database, whichever way it says so. */
const NOTHING_FREE = 1_024 ** 2;
const REFUSALS: Record<string, string> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of its path is no directory',
  EEXIST: 'it is no directory',
};

/** The modules are loaded while the servers start, as they are most of the code of the service. */
async function loadModules() {
  const [runtime, services, migrate, worker, api, observability] = await Promise.all([
    import('../runtime.ts'),
    import('../compose/services.ts'),
    import('../migrate.ts'),
    import('../worker.ts'),
    import('../api.ts'),
    import('../observability.ts'),
  ]);
  return { ...runtime, ...services, ...migrate, ...worker, ...api, ...observability };
}

const bundleOf = (env: NodeJS.ProcessEnv): string | undefined =>
  env.WORKER_BUNDLE || (existsSync(BUNDLE) ? BUNDLE : undefined);

/**
 * The key is the local owner's, so that the key and a session of the owner are one voter. If the owner was removed, nobody is
 * its maker: a key of the removed owner would be refused.
 * @returns the API key of the last start for as long as it is valid, otherwise a new one
 */
async function firstKey({ apiKeys, stores }: Services, dataDir: string): Promise<string> {
  const kept = (await readCredentials(dataDir))?.api_key;
  if (kept && (await apiKeys.caller(kept).catch(() => undefined))) return kept;
  const memberships = await stores.members.membershipsOf(LOCAL_OWNER);
  const isMember = memberships.some(({ customerId }) => customerId === 'internal');
  return (await apiKeys.create('internal', { name: 'first key' }, isMember ? LOCAL_OWNER : null)).key;
}

/** Waits for all even where one fails, so that what the others started is known and can be stopped. */
async function settled<T extends readonly Promise<unknown>[]>(
  work: readonly [...T],
): Promise<{ [I in keyof T]: Awaited<T[I]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

function stopwatch() {
  const timings: Record<string, number> = {};
  return {
    timings,
    async timed<T>(part: string, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        timings[part] = Math.round(performance.now() - from);
      }
    },
  };
}
