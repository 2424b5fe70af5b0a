/**
 * A deployment in earnest, for proofs and load: several API and worker processes above a native Postgres and a Temporal
 * with durable storage. Each part can be killed and started again, and each link can be led through another address.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { makeSession } from '../../../src/embedded/credentials.ts';
import { findTemporalCli, startTemporal, type EmbeddedTemporal } from '../../../src/embedded/temporal.ts';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { connectTemporal } from '../../../src/platform/temporal/client.ts';
import { prepare } from '../../../src/migrate.ts';
import { createApiKeyService } from '../../../src/resources/api-keys/service.ts';
import { createApiKeyStore } from '../../../src/resources/api-keys/store.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { endWithUs, removeWithUs } from '../../bench/processes.ts';
import { withDatabase } from '../database/database-template.ts';
import { startNativePostgres, type PostgresServer } from '../database/native-postgres.ts';
import { quietPort } from './ports.ts';
import { COMMANDS, startProcess, type RunningProcess } from './service-process.ts';
import { call, TEST_SECRETS, type Answer } from '../service/service.ts';
import { bundleWorkflows } from '../temporal/workflow-bundle.ts';

export interface Replica {
  name: string;
  part: 'api' | 'worker';
  /** Of the gateway; undefined for a worker. The same after a restart. */
  url: string | undefined;
  /** Of the control plane's own listener, likewise. */
  controlPlaneUrl: string | undefined;
  /** Where it shows its metrics; undefined for a worker of a deployment without `metrics`. The same after a restart. */
  metricsUrl: string | undefined;
  /** Undefined while it is down. */
  running: RunningProcess | undefined;
}

export interface DeploymentOptions {
  /** Processes of each; 2 each unless said otherwise. */
  apis?: number;
  workers?: number;
  /** Workers show their metrics too. */
  metrics?: boolean;
  /** Of every process. */
  settings?: Record<string, string>;
  postgresSettings?: readonly string[];
  /** Where a replica finds the two, e.g. a fault proxy's address in the place of the real one. */
  through?: (link: { from: Replica; to: 'postgres' | 'temporal'; address: string }) => string | Promise<string>;
}

export interface Deployment {
  replicas: readonly Replica[];
  /** Root processes, for `cpuOf` and `memoryOf` of `test/bench/processes.ts`. */
  pids(): { service: number[]; postgres: number; temporal: number };
  /** The public surface, with an API key of the internal workspace; requests go to the APIs in turn, or to the one named. */
  api(method: string, path: string, body?: unknown, replica?: Replica): Promise<Answer>;
  /** The control plane through the browser proxy, as the internal workspace's owner. */
  cp(method: string, path: string, body?: unknown, replica?: Replica): Promise<Answer>;
  apiKey: string;
  session: string;
  /** Past every proxy, on a pool of its own. */
  db: Database;
  databaseUrl: string;
  temporalAddress: string;
  /** A folder with `<replica>.log` of each process and the data of Temporal; removed with this process. */
  folder: string;
  /** Starts the replica, and returns when it works. */
  start(replica: Replica): Promise<void>;
  kill(replica: Replica, signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  postgres: PostgresServer;
  killTemporal(): Promise<void>;
  startTemporal(): Promise<void>;
  close(): Promise<void>;
}

/** The pages of metrics of the processes that are up. */
export const metricsUrls = ({ replicas }: Pick<Deployment, 'replicas'>): string[] =>
  replicas.flatMap(({ running, metricsUrl }) => (running && metricsUrl) || []);

/**
 * Everything is started when this returns.
 * @throws Error that says why there is no native Postgres
 */
export async function deploy({
  apis = 2,
  workers = 2,
  metrics = false,
  settings = {},
  postgresSettings = ['max_connections=300'],
  through = ({ address }) => address,
}: DeploymentOptions = {}): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-deployment-'));
  removeWithUs(folder);
  const cliPath = await findTemporalCli(process.env);
  if (!cliPath) throw new Error('no Temporal CLI: run `npm run setup` first');
  const [postgres, { code }] = await Promise.all([startNativePostgres(postgresSettings), bundleWorkflows()]);
  if (typeof postgres === 'string') throw new Error(`no native Postgres: ${postgres}`);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('create database aos');
  await admin.end();
  const databaseUrl = withDatabase(postgres.url, 'aos');
  await migrate(databaseUrl);

  const temporalPort = await quietPort();
  const openTemporal = async () => {
    const server = await startTemporal({ cliPath, dbFile: join(folder, 'temporal.db'), port: temporalPort });
    endWithUs(server.pid);
    return server;
  };
  let temporal: EmbeddedTemporal = await openTemporal();
  const bundle = join(folder, 'bundle.js');
  await writeFile(bundle, code);
  const common = {
    ...TEST_SECRETS,
    DATA_DIR: folder,
    WORKER_BUNDLE: bundle,
    DATABASE_POOL_SIZE: '10',
    ...settings,
  };
  const direct = { ...common, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal.address };

  const db = createDatabase({ url: databaseUrl, poolSize: 4 });
  const connection = await connectTemporal(direct, { log: createLog({ level: 'warn', pretty: false }) });
  await prepare({ config: loadConfig(direct), db, temporal: connection });
  await connection.close();
  const keys = createApiKeyService({ store: createApiKeyStore(db), workspaces: createWorkspaceStore(db, TENANT_DATA) });
  const { key: apiKey } = await keys.create('internal', { name: 'proof' });
  const session = makeSession(TEST_SECRETS.SESSION_SECRET, { ttlMs: 24 * 3_600_000 });

  const environments = new Map<Replica, Record<string, string>>();
  const make = async (part: Replica['part'], n: number): Promise<Replica> => {
    const port = part === 'api' ? await quietPort() : undefined;
    const url = port === undefined ? undefined : `http://127.0.0.1:${port}`;
    const controlPlanePort = part === 'api' ? await quietPort() : undefined;
    const controlPlaneUrl = controlPlanePort === undefined ? undefined : `http://127.0.0.1:${controlPlanePort}`;
    const metricsPort = part === 'worker' && metrics ? await quietPort() : undefined;
    const shown = metricsPort === undefined ? controlPlaneUrl : `http://127.0.0.1:${metricsPort}`;
    const metricsUrl = shown && `${shown}/metrics`;
    const replica: Replica = { name: `${part}-${n}`, part, url, controlPlaneUrl, metricsUrl, running: undefined };
    const databaseLink = new URL(databaseUrl);
    databaseLink.host = await through({ from: replica, to: 'postgres', address: databaseLink.host });
    environments.set(replica, {
      ...common,
      DATABASE_URL: databaseLink.href,
      TEMPORAL_ADDRESS: await through({ from: replica, to: 'temporal', address: temporal.address }),
      ...(metricsPort !== undefined && { METRICS_PORT: String(metricsPort) }),
      ...(part === 'api' && { PORT: String(port), CONTROL_PLANE_PORT: String(controlPlanePort) }),
    });
    return replica;
  };
  const replicas: Replica[] = [];
  for (let n = 1; n <= apis; n++) replicas.push(await make('api', n));
  for (let n = 1; n <= workers; n++) replicas.push(await make('worker', n));

  const start = async (replica: Replica) => {
    const { args, readyLine } = COMMANDS[replica.part];
    const started = startProcess(args, present(environments.get(replica)), folder, join(folder, `${replica.name}.log`));
    endWithUs(present(started.child.pid));
    replica.running = started;
    await started.logged(readyLine);
  };
  const kill = async (replica: Replica, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
    const { running } = replica;
    replica.running = undefined;
    running?.child.kill(signal);
    await running?.ended;
  };
  await Promise.all(replicas.map(start));

  let turn = 0;
  const nextApi = (): Replica => {
    const up = replicas.filter(({ part, running }) => part === 'api' && running);
    return itemAt(up.length > 0 ? up : replicas.filter(({ part }) => part === 'api'), turn++ % Math.max(1, up.length));
  };
  return {
    replicas,
    apiKey,
    session,
    db,
    databaseUrl,
    folder,
    start,
    kill,
    postgres,
    temporalAddress: temporal.address,
    pids: () => ({
      service: replicas.flatMap(({ running }) => running?.child.pid ?? []),
      postgres: postgres.pid(),
      temporal: temporal.pid,
    }),
    api: (method, path, body, replica = nextApi()) =>
      call(`${replica.url}${path}`, method, { authorization: `Bearer ${apiKey}` }, body),
    cp: (method, path, body, replica = nextApi()) =>
      call(`${replica.url}/api/v1/cp${path}`, method, { cookie: `service_session=${session}` }, body),
    async killTemporal() {
      process.kill(temporal.pid, 'SIGKILL');
      await temporal.exited;
    },
    async startTemporal() {
      temporal = await openTemporal();
    },
    async close() {
      await Promise.all(replicas.map((replica) => kill(replica, 'SIGTERM')));
      await db.close();
      await temporal.stop();
      await postgres.stop();
    },
  };
}
