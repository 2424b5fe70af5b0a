/** What is followed on the command line is followed on while the service itself is stopped and started again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { jsonOf, readyLine, runCli, startCli, type CliProcess } from '../embedded/service-process.ts';
import { eventually } from '../support/service/service.ts';

let dataDir: string;
let service: CliProcess | undefined;
let port = '0';
let followers: CliProcess[] = [];

async function startService(): Promise<void> {
  service = startCli(['start'], {
    PORT: port,
    CONTROL_PLANE_PORT: '0',
    DATA_DIR: dataDir,
    LIVE_STREAMS_PER_WORKSPACE: '1',
  });
  ({ port } = new URL((await readyLine(service)).base_url));
}
async function stopService(): Promise<void> {
  service?.child.kill('SIGTERM');
  await service?.ended;
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-restarted-'));
  await startService();
});
afterAll(async () => {
  for (const { child } of followers) child.kill();
  await stopService();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

const QUESTION = 'Which? [[tool:ask_human {"question":"Which one?"}]]';
const env = () => ({ DATA_DIR: dataDir });
const aos = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli(args, env());
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
};
const openWaits = async (): Promise<{ id: string }[]> => jsonOf(await runCli(['inbox', '--json'], env())).data;

// Guards against: a follower that ends with an error because the service restarts. One has the stream, for the other there is no
// place, so that it reads lists.
test('a run and a chat', async () => {
  await aos('agents', 'create', 'asker', '--prompt', 'You ask.', '--tools', 'ask_human');
  const [, thread] = present(/^(\S+) has begun/.exec(await aos('chat', 'create', '--agent', 'asker')));
  followers = [
    startCli(['run', 'asker', QUESTION, '--follow', '--json'], env()),
    startCli(['chat', 'say', present(thread), QUESTION], env()),
  ];
  await eventually(async () => expect(await openWaits()).toHaveLength(2));
  await stopService();
  // The stream reconnects without a word.
  await eventually(() =>
    expect(followers.map((one) => one.stderr()).sort()).toEqual([
      '',
      `http://localhost:${port} does not answer; it is tried until it is back\n`,
    ]),
  );
  await startService();
  for (const { id } of await openWaits()) await aos('inbox', 'answer', id, 'submit', '--text', 'The first.', '--yes');
  expect(await Promise.all(followers.map(({ ended }) => ended))).toEqual([0, 0]);
  const [run, chat] = followers.map((one) => one.stdout());
  const lines = present(run)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ids = lines.slice(0, -1).map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(lines.map(({ event_type: type }) => type)).toEqual(
    expect.arrayContaining(['run_received', 'tool_result', 'run_completed']),
  );
  expect(lines.at(-1)).toMatchObject({ status: 'succeeded' });
  expect(chat).toMatch(/\S/);
});
