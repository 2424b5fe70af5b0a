/** Once a test run: one Temporal server for all files, and a migrated database that each file clones. */
import { startTemporal, findTemporalCli, type EmbeddedTemporal } from '../../src/embedded/temporal.ts';
import { connectTemporal } from '../../src/platform/temporal/client.ts';
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { makeTemplate } from './database-template.ts';

export default async function globalSetup(): Promise<void> {
  const cliPath = await findTemporalCli(process.env);
  if (!cliPath) throw new Error('no Temporal CLI: run `npm run setup` first');
  const [server] = await Promise.all([startTemporal({ cliPath }), makeTemplate()]);
  (globalThis as { temporalServer?: EmbeddedTemporal }).temporalServer = server;
  process.env.TEST_TEMPORAL_ADDRESS = server.address;

  const temporal = await connectTemporal(
    { TEMPORAL_ADDRESS: server.address },
    { log: createLog({ level: 'warn', pretty: false }) },
  );
  await registerSearchAttributes(temporal);
  await temporal.close();
}
