/**
 * The service as the processes that it is in earnest, to be killed and started again, above a database and a Temporal
 * that outlive it. Where the database takes one connection, API and worker are one process; on `TEST_DATABASE_URL` they
 * are two, and each can be killed alone.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSession } from '../../../src/embedded/credentials.ts';
import { findTemporalCli, startTemporal, type EmbeddedTemporal } from '../../../src/embedded/temporal.ts';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { connectTo } from '../temporal/temporal.ts';
import { prepare } from '../../../src/migrate.ts';
import { createApiKeyService } from '../../../src/resources/api-keys/service.ts';
import { createApiKeyStore } from '../../../src/resources/api-keys/store.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { openTestDatabase } from '../database/database.ts';
import { quietPort } from './ports.ts';
import { call, TEST_SECRETS, type Answer } from '../service/service.ts';
import { COMMANDS, startProcess, type Part, type RunningProcess } from './service-process.ts';
import { bundleWorkflows } from '../temporal/workflow-bundle.ts';

export const PARTS: readonly Part[] = process.env.TEST_DATABASE_URL ? ['worker', 'api'] : ['service'];

export interface Processes {
  /** Of the gateway; the same after a restart. */
  url: string;
  /** The public surface, with an API key of the internal workspace. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The control plane through the browser proxy, as its owner. */
  cp(method: string, path: string, body?: unknown): Promise<Answer>;
  apiKey: string;
  temporalAddress: string;
  /** The service keeps its files below it. */
  dataDir: string;
  /** Starts what does not run, and returns when it works. */
  start(): Promise<void>;
  /** Sends the signal to one part, or to all, and returns the exit codes (null: killed). */
  stop(signal: 'SIGKILL' | 'SIGTERM', parts?: readonly Part[]): Promise<(number | null)[]>;
  /** Resolves when each of the running parts has logged this. */
  logged(text: string): Promise<void>;
  /** `kill -9`, and a start on the same file at the same address. */
  killTemporal(): Promise<void>;
  restartTemporal(): Promise<void>;
  /** Only while no process runs that holds the one connection of an embedded database. */
  withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Makes a database, a Temporal and the settings; `start` starts the service on them.
 * @param bundling what its workers run workflows from
 */
export async function prepareProcesses(
  settings: Record<string, string>,
  bundling: () => Promise<{ code: string }> = bundleWorkflows,
): Promise<Processes> {
  const dataDir = await mkdtemp(join(tmpdir(), 'aos-processes-'));
  const [database, { code }, cliPath] = await Promise.all([
    openTestDatabase(),
    bundling(),
    findTemporalCli(process.env),
  ]);
  const ports = { gateway: await quietPort(), controlPlane: await quietPort(), temporal: await quietPort() };
  const openTemporal = () =>
    startTemporal({ cliPath: present(cliPath), dbFile: join(dataDir, 'temporal.db'), port: ports.temporal });
  let temporal: EmbeddedTemporal = await openTemporal();
  const bundle = join(dataDir, 'bundle.js');
  await writeFile(bundle, code);

  const env: Record<string, string> = {
    ...TEST_SECRETS,
    PORT: String(ports.gateway),
    CONTROL_PLANE_PORT: String(ports.controlPlane),
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: String(database.poolSize),
    TEMPORAL_ADDRESS: temporal.address,
    WORKER_BUNDLE: bundle,
    ...settings,
  };
  const url = `http://localhost:${ports.gateway}`;

  async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db = createDatabase({ url: database.url, poolSize: 1 });
    return work(db).finally(() => db.close());
  }
  const log = createLog({ level: 'warn', pretty: false });
  const apiKey = await withDatabase(async (db) => {
    const connection = await connectTo(temporal.address, log);
    await prepare({ config: loadConfig(env), db, temporal: connection });
    await connection.close();
    const keys = createApiKeyService({
      store: createApiKeyStore(db),
      workspaces: createWorkspaceStore(db, TENANT_DATA),
    });
    return (await keys.create('internal', { name: 'test' })).key;
  });
  const session = makeSession(TEST_SECRETS.SESSION_SECRET, { ttlMs: 3_600_000 });

  const running = new Map<Part, RunningProcess>();
  return {
    url,
    apiKey,
    withDatabase,
    temporalAddress: temporal.address,
    dataDir,
    api: (method, path, body) => call(url + path, method, { authorization: `Bearer ${apiKey}` }, body),
    cp: (method, path, body) => call(`${url}/api/v1/cp${path}`, method, { cookie: `service_session=${session}` }, body),
    async start() {
      const missing = PARTS.filter((part) => !running.has(part));
      for (const part of missing) running.set(part, startProcess(COMMANDS[part].args, env, dataDir));
      await Promise.all(missing.map((part) => present(running.get(part)).logged(COMMANDS[part].readyLine)));
    },
    stop: (signal, parts = PARTS) =>
      Promise.all(
        parts.map(async (part) => {
          const process = present(running.get(part));
          running.delete(part);
          process.child.kill(signal);
          return process.ended;
        }),
      ),
    async logged(text) {
      await Promise.all([...running.values()].map((process) => process.logged(text)));
    },
    async killTemporal() {
      process.kill(temporal.pid, 'SIGKILL');
      await temporal.exited;
    },
    async restartTemporal() {
      temporal = await openTemporal();
    },
    async close() {
      for (const { child } of running.values()) child.kill('SIGKILL');
      await Promise.all([...running.values()].map(({ ended }) => ended));
      await temporal.stop();
      await database.close();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
    },
  };
}
