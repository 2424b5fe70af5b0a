/** What is said when the system, out of memory, kills one of the servers that the service has started. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pidsWith } from '../../src/embedded/stale.ts';
import { drawn } from '../support/runner/sizes.ts';
import { runCli, readyLine, startCli, type CliProcess } from './service-process.ts';

const SERVER = fileURLToPath(new URL('../../src/embedded/postgres-server.ts', import.meta.url));
const PARTS = {
  Postgres: (dataDir: string) => [SERVER, join(dataDir, 'postgres')],
  Temporal: (dataDir: string) => ['--db-filename', join(dataDir, 'temporal.db')],
};
type Part = keyof typeof PARTS;
const lineOf = (part: Part) =>
  `the embedded ${part} was killed \\(SIGKILL\\), most likely because memory ran out: \\d+ MB are here, and the service needs 768 MB or more; give it more`;

let folder: string;
let service: CliProcess;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-killed-'));
  service = startCli(['start'], { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: folder });
});
afterEach(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

/** @returns its process as soon as there is one; once it listens, which is when the service notes it */
async function processOf(part: Part, since: 'begins' | 'listens'): Promise<number> {
  for (;;) {
    const noted = await readFile(join(folder, 'processes.json'), 'utf8').catch(() => '{}');
    const [pid] = await pidsWith(PARTS[part](folder));
    if (pid && (since === 'begins' || noted.includes(`"pid": ${pid},`))) return pid;
    await setTimeout(5);
  }
}

const MOMENTS = (['Postgres', 'Temporal'] as const).flatMap((part) =>
  (
    [
      [0, 'begins'],
      [500, 'begins'],
      [0, 'listens'],
      [100, 'listens'],
      [400, 'listens'],
      [900, 'listens'],
    ] as const
  ).map(([ms, since]) => [part, ms, since] as const),
);

// Guards: a server that is killed before the service is ready ends the start in one line that names it and says what to do, whatever was being
// asked of the server just then; or it is started again in time.
test.each(drawn('moments of a start', MOMENTS, 5))('%s is killed %i ms after it %s', async (part, ms, since) => {
  const isReady = readyLine(service).then(
    () => true,
    () => false,
  );
  const pid = await processOf(part, since);
  await setTimeout(ms);
  process.kill(pid, 'SIGKILL');
  if (await isReady) {
    while (!service.stdout().includes('starting it again')) await setTimeout(20);
    expect(service.stdout()).toMatch(new RegExp(`"msg":"${lineOf(part)}; starting it again"`));
  } else {
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toMatch(new RegExp(`^error: ${lineOf(part)}\\n$`));
  }
});

// Guards: the log tells of a server that was killed while the service runs by its name, and the service goes on.
test.each(['Postgres', 'Temporal'] as const)('%s is killed while the service runs', async (part) => {
  await readyLine(service);
  process.kill(await processOf(part, 'listens'), 'SIGKILL');
  while (!service.stdout().includes('starting it again')) await setTimeout(20);
  expect(service.stdout()).toMatch(new RegExp(`"msg":"${lineOf(part)}; starting it again"`));
  const env = { DATA_DIR: folder };
  const again = async () => (await runCli(['run', 'assistant', 'What is 2 + 3?', '--follow'], env)).code === 0;
  while (!(await again())) await setTimeout(200);
});
