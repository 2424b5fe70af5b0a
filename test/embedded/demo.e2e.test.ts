/** The demo is the first thing a newcomer runs: it must pass as a whole, and fail in one line. */
import { expect, test } from '@jest/globals';
import { startCli } from './service-process.ts';

// Guards: the demo goes through all its steps on an empty machine and ends with 0.
test('passes', async () => {
  const demo = startCli(['demo']);
  expect({ code: await demo.ended, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' });
  for (const part of [
    'Created the API key',
    'tool_call',
    '397.8',
    'its signature is valid',
    'Cost',
    'workflows/run-',
    'Stopped',
  ]) {
    expect(demo.stdout()).toContain(part);
  }
}, 40_000);

// Guards: a part that fails makes the demo fail, with one clear line.
test('fails with one line when a part fails', async () => {
  const demo = startCli(['demo'], { TEMPORAL_CLI_PATH: '/bin/false' });
  expect(await demo.ended).toBe(1);
  expect(demo.stderr()).toContain('the demo failed: Temporal ended with code 1');
}, 40_000);
