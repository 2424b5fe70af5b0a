/** How much memory a process keeps of what it has worked on. */
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { quickStart } from '../../../src/embedded/quick-start.mjs';

const PROGRAM = fileURLToPath(new URL('./fixtures/queue-of-long-lives.ts', import.meta.url));

async function mostOld(how: 'tuned' | 'as it is'): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-semi-space-size=1', PROGRAM, how]);
  return Number(stdout);
}

// Guards: what lives for a while and goes is not kept until it is four times what is needed.
test('the old generation is collected before it has doubled', async () => {
  const [tuned, untuned] = [await mostOld('tuned'), await mostOld('as it is')];
  expect(untuned).toBeGreaterThan(0);
  expect(tuned).toBeLessThan(untuned / 1.8);
});

// Guards: a process that npm or `aos` starts has a bound for its young generation, unless somebody has given it another.
test('the young generation has a bound', () => {
  const bound = (NODE_OPTIONS = '') => quickStart({ NODE_OPTIONS }).NODE_OPTIONS.match(/--max-semi-space-size=\d+/g);
  expect(bound()).toEqual(['--max-semi-space-size=16']);
  expect(bound('--max-semi-space-size=64')).toEqual(['--max-semi-space-size=64']);
  expect(bound(quickStart({}).NODE_OPTIONS)).toEqual(['--max-semi-space-size=16']);
});
