/** Starts the servers that no setting names, embedded Postgres and Temporal, side by side, and keeps them running. */
import { join } from 'node:path';
import { ConfigError, type Config } from '../platform/core/config.ts';
import type { Log } from '../platform/core/log.ts';
import { present } from '../platform/core/present.ts';
import { killedLine } from './memory.mjs';
import { embeddedPort, keptUiPort } from './ports.ts';
import { startPostgres, type EmbeddedPostgres } from './postgres.ts';
import { preparedDatabase } from './prepared-database.mjs';
import { stopServersOn, type DataDirClaim } from './stale.ts';
import { supervise, type EmbeddedServer, type Loss, type Supervised } from './supervise.ts';
import { findTemporalCli, startTemporal, type EmbeddedTemporal } from './temporal.ts';
import { removeUnfinishedDatabase } from './temporal-file.ts';

export const temporalFile = (dataDir: string): string => join(dataDir, 'temporal.db');

export interface Servers {
  databaseUrl: string;
  /** The address as host:port. */
  temporalAddress: string;
  temporalUiUrl: string | undefined;
  /** The service is given these settings. */
  settings: Record<string, string>;
}

export interface ServersOptions {
  config: Config;
  dataDir: string;
  claim: DataDirClaim;
  log: Log;
  /** Takes what has to be done at the end, also where this fails half-way. */
  defer: (cleanUp: () => unknown) => void;
  /** Takes a line on a server that ended by itself. */
  onEnd: (line: string) => void;
  timed: <T>(part: string, work: () => Promise<T>) => Promise<T>;
}

/** The database is at the current schema when this resolves. @throws ConfigError */
export async function startServers(env: NodeJS.ProcessEnv, options: ServersOptions): Promise<Servers> {
  const { config, claim, log, defer, onEnd, timed } = options;
  const servers: { postgres?: Supervised<EmbeddedPostgres>; temporal?: Supervised<EmbeddedTemporal> } = {};
  defer(() => Promise.all([servers.temporal?.stop(), servers.postgres?.stop()]));

  const onStart = async (name: string, pid: number) => {
    await claim.remember(name, pid);
    // Postgres outlives a killed parent long enough to take Temporal with it; each may have been started again.
    if (servers.temporal) servers.postgres?.current().watch(servers.temporal.current().pid);
  };
  const onLost = ({ name }: EmbeddedServer, loss: Loss) => {
    if ('error' in loss) {
      const { error } = loss;
      if (error instanceof ConfigError) return log.error(error.message);
      return log.error({ err: error }, `${name} does not start again`);
    }
    const [code, signal] = loss.end;
    const line = signal === 'SIGKILL' ? killedLine(name) : `${name} ended by itself`;
    onEnd(line);
    log.error({ code, signal }, `${line}; starting it again`);
  };

  const database = async () => {
    if (!env.DATABASE_URL) {
      servers.postgres = await timed('postgres', () => supervise(postgresStarter(env, options, onStart), onLost));
    }
    const url = servers.postgres?.current().url ?? config.DATABASE_URL;
    const { migrate } = await import('../platform/db/migrate.ts');
    if (!servers.postgres) {
      const { requireDatabase } = await import('../platform/db/startable.ts');
      await timed('postgres', () => requireDatabase(config, { log, willMigrate: true }));
    }
    await timed('migrate', () => migrate(url));
    return url;
  };
  const cluster = async () => {
    if (env.TEMPORAL_ADDRESS) return { address: env.TEMPORAL_ADDRESS, uiUrl: env.TEMPORAL_UI_URL || undefined };
    const starter = await temporalStarter(env, options, onStart);
    servers.temporal = await timed('temporal', () => supervise(starter, onLost));
    return servers.temporal.current();
  };

  const both = [database(), cluster()] as const;
  // Where one fails, the other is waited for, because what it started has to be stopped.
  await Promise.allSettled(both);
  const [databaseUrl, { address, uiUrl }] = await Promise.all(both);
  if (servers.temporal) servers.postgres?.current().watch(servers.temporal.current().pid);
  return {
    databaseUrl,
    temporalAddress: address,
    temporalUiUrl: uiUrl,
    settings: {
      DATABASE_URL: databaseUrl,
      ...(servers.postgres ? { DATABASE_POOL_SIZE: '1' } : {}),
      TEMPORAL_ADDRESS: address,
      ...(uiUrl ? { TEMPORAL_UI_URL: uiUrl } : {}),
    },
  };
}

type OnStart = (name: string, pid: number) => Promise<void>;

/** Takes any free port the first time unless a setting fixes it, and that same one from then on. */
function postgresStarter(env: NodeJS.ProcessEnv, { dataDir }: ServersOptions, onStart: OnStart) {
  let port = embeddedPort(env, 'PGLITE_PORT');
  return async () => {
    const server = await startPostgres({ dataDir: join(dataDir, 'postgres'), port, from: preparedDatabase() });
    port = Number(new URL(server.url).port);
    await onStart('postgres', server.pid);
    return server;
  };
}

async function temporalStarter(env: NodeJS.ProcessEnv, { dataDir, log }: ServersOptions, onStart: OnStart) {
  const cliPath = await findTemporalCli(env);
  if (!cliPath) {
    throw new ConfigError(
      'no Temporal CLI was found: run `npm run setup`, or set TEMPORAL_CLI_PATH or TEMPORAL_ADDRESS',
    );
  }
  let port = embeddedPort(env, 'TEMPORAL_PORT');
  let uiPort = embeddedPort(env, 'TEMPORAL_UI_PORT') || (await keptUiPort(dataDir, log));
  return async (lost?: EmbeddedTemporal) => {
    const dbFile = temporalFile(dataDir);
    // The server has no lock of its own. Before the first one the start itself has looked.
    if (lost) await stopServersOn(dbFile);
    await removeUnfinishedDatabase(dbFile);
    const server = await startTemporal({ cliPath, dbFile, port, uiPort });
    port = Number(server.address.split(':')[1]);
    uiPort = Number(new URL(present(server.uiUrl)).port);
    await onStart('temporal', server.pid);
    return server;
  };
}
