import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { embeddedPort, keptUiPort, requireFreePorts, wantedPorts } from '../../src/embedded/ports.ts';
import { checkSettings } from '../../src/embedded/settings.ts';
import { loadConfig } from '../../src/platform/core/config.ts';
import { supervise, type EmbeddedServer, type End, type Loss } from '../../src/embedded/supervise.ts';
import { portOf } from '../support/processes/listening.ts';

// Guards: no setting is required, and every bad one is named at once with what it expects.
test('needs no setting and names each bad one', () => {
  expect(checkSettings({})).toMatchObject({ PORT: 8080, OPERATOR_TOKEN: '' });
  expect(() => checkSettings({ PORT: 'eighty', SESSION_SECRET: 'short', SURFACES: 'both' })).toThrow(
    /^PORT: .*0 to 65535[\s\S]*^SURFACES: .*gateway[\s\S]*^SESSION_SECRET: .*16 characters/m,
  );
  expect(() => embeddedPort({ TEMPORAL_PORT: '70000' }, 'TEMPORAL_PORT')).toThrow(/^TEMPORAL_PORT: expects/);
});

// Guards against: an operator's token that can be guessed. The message says what is expected and not what was given.
test('takes an operator token of 32 characters, or none', () => {
  for (const token of ['x', ' '.repeat(40), 'canary-token-of-thirty-one-char']) {
    const env = { OPERATOR_TOKEN: token };
    expect(() => checkSettings(env)).toThrow(/^OPERATOR_TOKEN: expects at least 32 characters, or nothing.*$/);
    expect(() => checkSettings(env)).not.toThrow(/canary/);
    const all = { ...env, DATABASE_URL: 'postgres://x', SESSION_SECRET: S, ADMIN_SECRET: S, SECRETS_KEY: S };
    expect(() => loadConfig(all)).toThrow(/^OPERATOR_TOKEN: expects at least 32 characters/);
  }
  expect(checkSettings({ OPERATOR_TOKEN: 'x'.repeat(32) })).toMatchObject({ OPERATOR_TOKEN: 'x'.repeat(32) });
  expect(checkSettings({ OPERATOR_TOKEN: '' })).toMatchObject({ OPERATOR_TOKEN: '' });
});
const S = 'a secret of sixteen characters';

// Guards: a busy port is a message that names the setting to change.
test('names the setting of a busy port', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = portOf(taken);
  const env = { PORT: '0', CONTROL_PLANE_PORT: String(port) };
  await expect(requireFreePorts(wantedPorts(checkSettings(env), env))).rejects.toThrow(
    `CONTROL_PLANE_PORT: port ${port} is in use; set CONTROL_PLANE_PORT to another`,
  );
  taken.close();
  await once(taken, 'close');
  await expect(requireFreePorts(wantedPorts(checkSettings(env), env))).resolves.toBeUndefined();
});

// Guards: the address of the Temporal Web UI stays from start to start, and gives way, saying so, to whoever has its port.
test('keeps the port of the Temporal Web UI', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'aos-ports-'));
  const said: string[] = [];
  const log = { warn: (_about: object, message: string) => void said.push(message) };
  const first = await keptUiPort(dataDir, log);
  expect([await keptUiPort(dataDir, log), said]).toEqual([first, []]);
  const taken = createServer().listen(first, '127.0.0.1');
  await once(taken, 'listening');
  const second = await keptUiPort(dataDir, log);
  expect(second).not.toBe(first);
  expect(said).toEqual([expect.stringMatching(`^port ${first}, .* is in use: it is at ${second} from now on`)]);
  taken.close();
  await once(taken, 'close');
  expect(await keptUiPort(dataDir, log)).toBe(second);
  await rm(dataDir, { recursive: true });
});

const KILLED: End = [null, 'SIGKILL'];

interface FakeServer extends EmbeddedServer {
  number: number;
  die(): void;
}

// Guards: a server that died is started again, even where the first tries fail, and never after stop.
test('starts a lost server again until it is stopped', async () => {
  const started: FakeServer[] = [];
  const startedAgain = Promise.withResolvers<void>();
  const lost: Loss[] = [];
  let failures = 1;
  const start = async (): Promise<FakeServer> => {
    if (started.length === 1 && failures-- > 0) throw new Error('not yet');
    const { promise: exited, resolve } = Promise.withResolvers<End>();
    const die = () => resolve(KILLED);
    const server = {
      name: 'server',
      number: started.length,
      pid: 1,
      exited,
      die,
      stop: async () => resolve([0, null]),
    };
    started.push(server);
    if (started.length === 2) startedAgain.resolve();
    return server;
  };
  const supervised = await supervise(start, (_, loss) => lost.push(loss));
  supervised.current().die();
  await startedAgain.promise;
  await supervised.stop();
  expect(supervised.current().number).toBe(1);
  expect(started).toHaveLength(2);
  expect(lost).toEqual([{ end: KILLED }, { error: new Error('not yet') }]);
});
