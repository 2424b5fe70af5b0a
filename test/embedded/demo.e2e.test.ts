/** The demo is the first thing a newcomer runs: it must pass as a whole, and fail in one line. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SAMPLE_NOTE } from '../../src/resources/samples/model.ts';
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
  expect(demo.stderr()).toContain('the demo failed: Temporal ended with code 1');
});
