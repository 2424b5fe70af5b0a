/** The embedded service as the oracle of projects drives it: from outside, and with its processes to be killed and stopped. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeSession } from '../../src/embedded/credentials.ts';
import type { Part, Rig } from '../oracle/client.ts';
import type { World } from '../oracle/world.ts';
import { TEST_SECRETS } from '../support/service/service.ts';
import { createEmbeddedService, plainDisk, SERVERS } from './embedded-service.ts';
import { isReadyWithin } from './ready.ts';

const READY_MS = 120_000;

export async function startProjectsRig(world: World): Promise<Rig & { folder: string; close(): Promise<void> }> {
  const service = await createEmbeddedService(
    plainDisk,
    {
      OPENAI_COMPATIBLE_BASE_URL: world.modelUrl,
      OPENAI_COMPATIBLE_MODEL: 'oracle',
      OPENAI_COMPATIBLE_PRICE: '0',
      EGRESS_ALLOWLIST: world.hostAndPort,
      HOUSEKEEPING_INTERVAL: '1s',
    },
    async () => {},
  );
  async function start(): Promise<void> {
    if (!(await service.start())) throw new Error(`it does not start: ${await service.lastWords()}`);
    await untilReady();
  }
  async function untilReady(): Promise<void> {
    if (!(await isReadyWithin(READY_MS, service.replica.url))) throw new Error('it is not ready after a kill');
  }
  await start();
  const credentials = JSON.parse(await readFile(join(service.disk.inside, 'credentials.json'), 'utf8'));
  const sessions = new Map<string, string>();

  return {
    url: service.replica.url,
    apiKey: credentials.api_key,
    temporalAddress: service.temporalAddress,
    folder: service.folder,
    sessionOf(email) {
      const session = sessions.get(email) ?? makeSession(TEST_SECRETS.SESSION_SECRET, { email, ttlMs: 3_600_000 });
      sessions.set(email, session);
      return session;
    },
    async killAll() {
      await Promise.all([...SERVERS.map((name) => service.killServer(name)), service.end('SIGKILL')]);
      await start();
    },
    async kill(part) {
      if (part === 'service') {
        await service.end('SIGKILL');
        return start();
      }
      await service.killServer(part);
      await untilReady();
    },
    async freeze(part: Part, ms) {
      const pids = await service.pidsOf(part);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await wait(ms);
      for (const pid of pids) if (await isAlive(pid)) process.kill(pid, 'SIGCONT');
    },
    close: () => service.close(),
  };
}

const isAlive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`).then(
    () => true,
    () => false,
  );
