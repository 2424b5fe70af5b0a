/**
 * Types what the pages tell a reader to type, page after page, beside one service. What belongs into a page to be run is in
 * `blocks.ts`; `npm test -- test/docs/commands.e2e.test.ts -t 'docs/guide/runs.md'` runs one page. A run that draws types
 * some of the pages.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliProcess, readyLine, startCli } from '../embedded/service-process.ts';
import { drawn } from '../support/runner/sizes.ts';
import { pages } from './blocks.ts';
import { makeDesk, namesIn, Reader, type Desk } from './shell.ts';

let folder: string;
let service: CliProcess;
let desk: Desk;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-pages-'));
  const dataDir = join(folder, 'data');
  // As the page about webhooks says for a receiver on the same machine.
  const settings = { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: '127.0.0.1:9000' };
  service = startCli(['start'], { PORT: '0', CONTROL_PLANE_PORT: '0', DATA_DIR: dataDir, ...settings });
  await readyLine(service);
  desk = await makeDesk(join(folder, 'desk'), dataDir);
});
afterAll(async () => {
  service?.child.kill('SIGTERM');
  await service?.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

const TYPED = pages().filter(({ blocks }) => blocks.some(({ notRun }) => notRun === undefined));

// Guards against: commands that fail, or print something else, when they are typed as a page shows them, or that leave files in the
// repository.
test.each(drawn('pages', TYPED, 6))('$path', async ({ path, blocks }) => {
  const reader = new Reader(desk, path);
  const before = await namesIn(desk);
  try {
    for (const block of blocks) if (block.notRun === undefined) await reader.type(block);
    expect(await namesIn(desk)).toEqual(before);
  } finally {
    reader.end();
  }
});
