/** A breached budget has a word for clients in three places, and one name in the code: BUDGET_BREACH. */
import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUDGET_BREACH } from '../../src/resources/projects/stops/model.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Each declares one of the words, among others of its kind; the last one makes the error. */
const DECLARED = [
  'src/platform/core/problem.ts',
  'src/resources/projects/model.ts',
  'src/resources/projects/stops/model.ts',
  'activities/spending.ts',
];

// Guards against: a place that asks for a breached budget by a word that is another one's.
test('the words of a breached budget are written once', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));
  const words = Object.values(BUDGET_BREACH).map((word) => `'${word}'`);
  const found = files
    .filter((file) => !file.startsWith('src/cli/'))
    .filter((file) => words.some((word) => readFileSync(`${ROOT}/${file}`, 'utf8').includes(word)));
  expect(found.toSorted()).toEqual(DECLARED.toSorted());
});
