/** The range of Node versions that the product says it runs on. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { fieldsOf } from '../../src/platform/core/record.ts';

const read = (path: string) => fieldsOf(JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')));

/** @returns the oldest version of an open range, as one number; undefined if the range has an end */
function oldestOf(range: string): number | undefined {
  const [, major, minor = 0, patch = 0] = /^>=\s*v?(\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?$/.exec(range.trim()) ?? [];
  return major === undefined ? undefined : Number(major) * 1e6 + (Number(minor) || 0) * 1e3 + (Number(patch) || 0);
}

// Guards against: a package that needs a newer Node than package.json asks for, and is found by a crash.
test('are those that all packages of the product run on', () => {
  const own = String(fieldsOf(read('package.json').engines).node);
  const oldest = oldestOf(own) ?? NaN;
  const packages = Object.entries(fieldsOf(read('package-lock.json').packages));
  const narrower = packages.flatMap(([name, found]) => {
    const { dev, optional, engines } = fieldsOf(found);
    const { node = '*' } = fieldsOf(engines);
    if (dev || optional || node === '*') return [];
    const isWithin = String(node)
      .split('||')
      .some((range) => (oldestOf(range) ?? Infinity) <= oldest);
    return isWithin ? [] : [`${name}: ${String(node)}`];
  });
  expect(packages.length).toBeGreaterThan(100);
  expect({ own, narrower }).toEqual({ own, narrower: [] });
});
