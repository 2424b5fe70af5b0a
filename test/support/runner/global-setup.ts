/**
 * Once a test run: one Temporal server for all files, and a migrated database that each file clones. The databases are on
 * the server of `TEST_DATABASE_URL`; else on a native Postgres of this run, which costs each file two seconds less than the
 * embedded one. `TEST_DATABASE=embedded` asks for the embedded one, which also serves where there is no native one.
 */
import { startTemporal, findTemporalCli, type EmbeddedTemporal } from '../../../src/embedded/temporal.ts';
import { connectTemporal } from '../../../src/platform/temporal/client.ts';
import { registerSearchAttributes } from '../../../src/platform/temporal/search-attributes.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { makeTemplate } from '../database/database-template.ts';
import { FOR_TESTS, quickestFolder, startNativePostgres, type PostgresServer } from '../database/native-postgres.ts';

/** A deleted workflow is gone when the queues have acknowledged its end, which is every 30 seconds by default. */
const DYNAMIC_CONFIG = [
  'history.transferProcessorUpdateAckInterval="500ms"',
  'history.visibilityProcessorUpdateAckInterval="500ms"',
];

export interface Servers {
  temporal?: EmbeddedTemporal;
  postgres?: PostgresServer;
}
const servers: Servers = ((globalThis as { testServers?: Servers }).testServers = {});

export default async function globalSetup(): Promise<void> {
  const cliPath = await findTemporalCli(process.env);
  if (!cliPath) throw new Error('no Temporal CLI: run `npm run setup` first');
  const [server] = await Promise.all([startTemporal({ cliPath, dynamicConfig: DYNAMIC_CONFIG }), startDatabase()]);
  servers.temporal = server;
  process.env.TEST_TEMPORAL_ADDRESS = server.address;
  // A test may put something in between, by another address.
  process.env.TEST_TEMPORAL_SERVER = server.address;

  const temporal = await connectTemporal(
    { TEMPORAL_ADDRESS: server.address },
    // Where the tests run in this process, it is its first connection that decides whether the SDK counts.
    { log: createLog({ level: 'warn', pretty: false }), withMetrics: true },
  );
  await registerSearchAttributes(temporal);
  await temporal.close();
}

async function startDatabase(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return makeTemplate(process.env.TEST_DATABASE_URL);
  if (process.env.TEST_DATABASE === 'embedded') return;
  const postgres = await startNativePostgres(FOR_TESTS, quickestFolder());
  if (typeof postgres === 'string') return void process.stderr.write(`tests use the embedded Postgres: ${postgres}\n`);
  servers.postgres = postgres;
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_DATABASE_BINARIES = postgres.binaries;
  await makeTemplate(postgres.url);
}
