/** The demo is the first thing a newcomer runs: it must pass as a whole, and fail in one line. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withoutModels } from '../../src/cli/demo-model.ts';
import { modelsIn } from '../../src/cli/models.ts';
import { PROVIDERS } from '../../src/platform/models/catalogue.ts';
import { SAMPLE_NOTE } from '../../src/resources/samples/model.ts';
import { portOf } from '../support/processes/listening.ts';
import { startCli } from './service-process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-demo-out-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Guards: the demo goes through all its steps on an empty machine, leaves a page that opens, and ends with 0.
test('passes', async () => {
  const demo = startCli(['demo', '--out', folder]);
  expect({ code: await demo.ended, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' });
  for (const part of [
    'Created the API key',
    'workflows/project-',
    'gate_awaiting',
    'draft/approve asked: "Read the draft.',
    'The demo approved it, as a person would with: aos project approve',
    'Followed it: 6 phases, completed',
    'Received project.completed; its signature is valid',
    join(folder, 'post.html'),
    'Cost',
    SAMPLE_NOTE,
    'Stopped',
  ]) {
    expect(demo.stdout()).toContain(part);
  }
  expect(await readFile(join(folder, 'post.html'), 'utf8')).toMatch(/^<!doctype html>[^]*<h1/i);
});

// Guards: a failing part makes the demo fail with one clear line.
test('fails with one line when a part fails', async () => {
  const demo = startCli(['demo', '--out', folder], { TEMPORAL_CLI_PATH: '/bin/false' });
  expect(await demo.ended).toBe(1);
  expect(demo.stderr()).toContain('the demo failed: the embedded Temporal ended with code 1');
});

/** @returns a server that speaks no model's protocol, and what was printed when it was first asked */
async function startPaidServer(printed: () => string) {
  const asked: string[] = [];
  const server = createServer((_request, response) => {
    asked.push(printed());
    response.writeHead(400).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${portOf(server)}/v1`,
    OPENAI_COMPATIBLE_MODEL: 'dear-one',
    OPENAI_COMPATIBLE_PRICE: '1,2',
  };
  return { env, asked, server };
}

// Guards: whose settings name a model learns which one is used, before it is asked for the first time, and how to do without.
test('says which model it uses before it spends', async () => {
  let printed = () => '';
  const { env, asked, server } = await startPaidServer(() => printed());
  const first = once(server, 'request');
  const demo = startCli(['demo', '--out', folder], env);
  printed = demo.stdout;
  await first;
  demo.child.kill('SIGINT');
  expect(asked[0]).toContain('the demo uses dear-one (OpenAI-compatible), for $2 at most');
  expect(asked[0]).toContain('npm run demo -- --offline');
  await demo.ended;
  server.close();
});

// Guards against: a demo that starts everything to be refused each call, and says so among its steps.
test('says what is missing where no price is known', async () => {
  const { env, asked, server } = await startPaidServer(() => '');
  const { OPENAI_COMPATIBLE_PRICE: _, ...unpriced } = env;
  const demo = startCli(['demo', '--out', folder], unpriced);
  expect({ code: await demo.ended, stdout: demo.stdout(), stderr: demo.stderr() }).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: no price is known for dear-one, .*OPENAI_COMPATIBLE_PRICE.*--offline\n$/),
  });
  expect(asked).toEqual([]);
  server.close();
});

// Guards: whoever wants it for nothing is not charged, whichever provider the settings name.
test('--offline asks no model', async () => {
  const { env, asked, server } = await startPaidServer(() => '');
  const demo = startCli(['demo', '--offline', '--out', folder], env);
  expect({ code: await demo.ended, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' });
  expect([asked, demo.stdout()]).toEqual([[], expect.stringContaining(SAMPLE_NOTE)]);
  server.close();
  const all = Object.fromEntries(Object.values(PROVIDERS).map(({ setting }) => [setting, 'x']));
  expect(modelsIn(withoutModels(all))).toEqual([]);
});
