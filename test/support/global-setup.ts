/** Once a test run: one Temporal server for all files, and a migrated database that each file clones. */
import { startTemporal, findTemporalCli, type EmbeddedTemporal } from '../../src/embedded/temporal.ts';
import { connectTemporal } from '../../src/platform/temporal/client.ts';
import { registerSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { makeTemplate } from './database-template.ts';

/** A deleted workflow is gone when the queues have acknowledged its end, which is every 30 seconds by default. */
const DYNAMIC_CONFIG = [
  'history.transferProcessorUpdateAckInterval="500ms"',
  'history.visibilityProcessorUpdateAckInterval="500ms"',
];

export default async function globalSetup(): Promise<void> {
  const cliPath = await findTemporalCli(process.env);
  if (!cliPath) throw new Error('no Temporal CLI: run `npm run setup` first');
  const [server] = await Promise.all([startTemporal({ cliPath, dynamicConfig: DYNAMIC_CONFIG }), makeTemplate()]);
  (globalThis as { temporalServer?: EmbeddedTemporal }).temporalServer = server;
  process.env.TEST_TEMPORAL_ADDRESS = server.address;

  const temporal = await connectTemporal(
    { TEMPORAL_ADDRESS: server.address },
    { log: createLog({ level: 'warn', pretty: false }) },
  );
  await registerSearchAttributes(temporal);
  await temporal.close();
}
