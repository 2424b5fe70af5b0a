/** The bounds of memory that the embedded mode gives its servers: without them each takes what it likes, and keeps it. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { findTemporalCli, startTemporal } from '../../src/embedded/temporal.ts';
import { present } from '../../src/platform/core/present.ts';

const argumentsOf = async (pid: number): Promise<string[]> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
const onLinux = process.platform === 'linux' ? test : test.skip;

// Guards: the database's process keeps no large heap beside Postgres' own memory.
onLinux('the embedded Postgres is given its bound', async () => {
  const postgres = await startPostgres({ dataDir: 'memory://' });
  try {
    expect(await argumentsOf(postgres.pid)).toContain('--max-semi-space-size=4');
  } finally {
    await postgres.stop();
  }
});

// Guards: Temporal forgets executions that have ended.
onLinux('the embedded Temporal is given its bounds', async () => {
  const temporal = await startTemporal({ cliPath: present(await findTemporalCli(process.env)) });
  try {
    const given = await argumentsOf(temporal.pid);
    expect(given).toEqual(expect.arrayContaining(['history.hostLevelCacheMaxSize=512', 'history.cacheTTL="5m"']));
  } finally {
    await temporal.stop();
  }
});
