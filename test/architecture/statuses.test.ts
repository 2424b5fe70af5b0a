/**
 * Statuses that belong together have a name: a predicate of the model, and a list of `statuses.ts` for SQL. A list by hand
 * would miss a status that is added.
 */
import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  ATTEMPT_STATUSES,
  isAttemptOpen,
  isDone,
  isGoing,
  isInFlight,
  isTaskOpen,
} from '../../src/resources/projects/model.ts';
import { isTerminal, PROJECT_STATUSES, TASK_STATUSES } from '../../src/resources/projects/model.ts';
import { OPEN_STATUSES, TERMINAL_STATUSES } from '../../src/resources/runs/model.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NAMED: Record<string, readonly string[]> = {
  OPEN_RUN: OPEN_STATUSES,
  TERMINAL_RUN: TERMINAL_STATUSES,
  OPEN_PROJECT: PROJECT_STATUSES.filter((status) => !isTerminal(status)),
  GOING_PROJECT: PROJECT_STATUSES.filter(isGoing),
  DONE: TASK_STATUSES.filter(isDone),
  IN_FLIGHT: TASK_STATUSES.filter(isInFlight),
  OPEN_TASK: TASK_STATUSES.filter(isTaskOpen),
  OPEN_ATTEMPT: ATTEMPT_STATUSES.filter(isAttemptOpen),
};

/** A schema of the database says its statuses itself, and other things than runs and projects have such words too. */
const ELSEWHERE = /^src\/resources\/(exports\/|[\w-]+\/table\.ts$)/;
/** Runs may know nothing of projects, and workspaces nothing of either. */
const ALLOWED = ['src/resources/runs/store/lost.ts: OPEN_ATTEMPT'];

const keyOf = (words: readonly string[]): string => words.toSorted().join(' ');
const NAMES = new Map(Object.entries(NAMED).map(([name, words]) => [keyOf(words), name]));

/** @returns the names of those lists of words that have one */
const listsIn = (text: string): string[] =>
  [...text.matchAll(/[([]\s*('\w+'(?:,\s*'\w+')+),?\s*[)\]]/g)].flatMap(([, list]) => {
    const name = NAMES.get(
      keyOf(
        String(list)
          .split(',')
          .map((word) => word.trim().slice(1, -1)),
      ),
    );
    return name === undefined ? [] : [name];
  });

// Guards: a status that is added reaches every statement and branch that asks what kind of status it is.
test('no list of statuses is written by hand', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));
  expect(files.length).toBeGreaterThan(500);
  const found = files
    .filter((file) => !ELSEWHERE.test(file))
    .flatMap((file) => listsIn(readFileSync(`${ROOT}/${file}`, 'utf8')).map((name) => `${file}: ${name}`));
  expect(found.toSorted()).toEqual(ALLOWED.toSorted());
});

test('finds a list in SQL and in code, in any order', () => {
  expect(listsIn("where status in ('running', 'queued')")).toEqual(['OPEN_RUN']);
  expect(listsIn("['running', 'blocked',\n  'review'].includes(status)")).toEqual(['IN_FLIGHT']);
  expect(listsIn("where status in ('succeeded', 'running')")).toEqual([]);
});
