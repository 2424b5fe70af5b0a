/** Opens what every process of the service holds: settings, log, Postgres, Temporal. */
import { readSettings } from './checked-settings.ts';
import { ConfigError, loadEnvFile, type Config } from './platform/core/config.ts';
import { tuneHeap } from './platform/core/heap.ts';
import { createLog, type Log } from './platform/core/log.ts';
import { misspeltSettings } from './platform/core/misspelt-settings.ts';
import { createDatabase, type Database } from './platform/db/client.ts';
import { requireDatabase } from './platform/db/startable.ts';
import { openTracing } from './platform/observability/tracing.ts';
import { connectTemporal, type Temporal } from './platform/temporal/client.ts';

export interface Runtime {
  config: Config;
  log: Log;
  db: Database;
  temporal: Temporal;
  close(): Promise<void>;
}

/** What a process does, until it is stopped. */
export interface Work {
  /** Reads files of settings anew. @throws Problem that says what is wrong with one; nothing has changed then */
  reload(): unknown;
  close(): Promise<void>;
}

type Opened = Pick<Runtime, 'config' | 'log'>;

/**
 * @param before is awaited before Temporal is: while that is away, nothing would be told of a database that cannot do
 * @throws ConfigError with one line for each bad setting
 */
export async function openRuntime(
  env: Record<string, string | undefined>,
  before: (opened: Opened) => Promise<void> = async () => {},
): Promise<Runtime> {
  tuneHeap();
  const config = readSettings(env);
  const log = createLog({ level: config.LOG_LEVEL });
  for (const line of misspeltSettings()) log.warn(line);
  await before({ config, log });
  const tracing = await openTracing(env, log);
  const db = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    deadlines: deadlinesOf(config),
    onError: ({ message }) =>
      log.warn({ reason: message }, 'a database connection broke; the next query connects anew'),
  });
  const temporal = await connectTemporal(env, {
    log,
    codecKeys: config.TEMPORAL_CODEC_KEYS,
    withMetrics: config.METRICS_PORT !== undefined,
  });
  return {
    config,
    log,
    db,
    temporal,
    async close() {
      await db.close();
      await temporal.close();
      await tracing?.close();
    },
  };
}

/** Somebody waits for a request; half a minute is what a step of a pipeline has (`workflows/shared/activities.ts`). */
const REQUEST_MS = 10_000;

/** None for the embedded database: it runs one statement after the other, and cannot be cut off. */
const deadlinesOf = ({ DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Config) =>
  DATABASE_POOL_SIZE === 1
    ? undefined
    : { urgentMs: Math.min(REQUEST_MS, DATABASE_TIMEOUT), otherMs: DATABASE_TIMEOUT };

/**
 * Runs a process until SIGTERM or SIGINT, then stops it in order; a second signal stops it at once. SIGHUP reloads.
 * Used by the roots.
 * @param open opens the process's work and gives what closes it
 */
export async function runUntilSignalled(open: (runtime: Runtime) => Promise<Work>): Promise<void> {
  loadEnvFile();
  let isReloadDue = false;
  // From the first moment on: by default the signal ends a process, also one that is just starting.
  let reload = () => void (isReloadDue = true);
  process.on('SIGHUP', () => reload());
  const withDatabase = ({ config, log }: Opened) => requireDatabase(config, { log });
  const runtime = await openRuntime(process.env, withDatabase).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
  const work = await open(runtime).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  reload = () => {
    try {
      work.reload();
    } catch (err) {
      runtime.log.error({ err }, 'the files could not be read anew');
    }
  };
  if (isReloadDue) reload();
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    runtime.log.info({ signal }, 'stopping');
    await work.close();
    await runtime.close();
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
}
