import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('../', import.meta.url));
const [, USUAL] = /testTimeout: ([\d_]+)/.exec(readFileSync(`${TESTS}../jest.config.mjs`, 'utf8')) ?? [];
const numberOf = (text = ''): number => Number(text.replaceAll('_', ''));
/** A call that waits, or a test, with a limit. */
const LIMITED = /\b(?:eventually|until\w+)\(.*, ([\d_]{4,})\)|^ *\},\s+([\d_]{4,}),?\s*\);$/gm;
/** It hands a time to something else. */
const OTHERS = ['platform/egress/patience.test.ts: 2_500'];

// Guards against: a test that fails on a machine that is slow and busy, since somebody thought that a minute is enough.
test('no test waits for less time than all others do', () => {
  const found = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(`${TESTS}${file}`, 'utf8').matchAll(LIMITED)].map(([, of, at]) => ({
        file,
        ms: of ?? at ?? '',
      })),
    )
    .filter(({ ms }) => numberOf(ms) < numberOf(USUAL))
    .map(({ file, ms }) => `${file}: ${ms}`);
  expect(numberOf(USUAL)).toBeGreaterThan(0);
  expect(found.sort()).toEqual(OTHERS);
});
