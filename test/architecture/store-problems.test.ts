/**
 * A store reads and writes, and a service decides what a caller is told: a store that throws a problem holds a rule that nobody
 * looks for there. Today some do, because a rule is checked under a lock. Their list may only shrink.
 */
import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESOURCES = fileURLToPath(new URL('../../src/resources/', import.meta.url));

/** The most that each resource's store may have: lower a number when you can, and raise none. */
const MOST: Readonly<Record<string, number>> = {
  agents: 4,
  exports: 1,
  inbox: 1,
  members: 5,
  memory: 4,
  'output-destinations': 1,
  projects: 4,
  runs: 2,
  skills: 1,
  templates: 3,
  tools: 1,
  'webhook-subscriptions': 3,
  workspaces: 2,
};

const problemsIn = (text: string): number => text.match(/\bnew Problem\(/g)?.length ?? 0;

function countByResource(): Record<string, number> {
  const stores = readdirSync(RESOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^[^/]+\/store(\.ts$|\/.*\.ts$)/.test(name),
  );
  const counts: Record<string, number> = {};
  for (const name of stores) {
    const [resource = ''] = name.split('/');
    const count = problemsIn(readFileSync(`${RESOURCES}${name}`, 'utf8'));
    if (count > 0) counts[resource] = (counts[resource] ?? 0) + count;
  }
  return counts;
}

// Guards against: another rule in a store.
test('stores throw no more problems than they did', () => {
  const tooMany = Object.entries(countByResource()).filter(([resource, count]) => count > (MOST[resource] ?? 0));
  expect(tooMany).toEqual([]);
});

// Guards against: a list that allows what is gone.
test('the list names only stores that throw a problem', () => {
  expect(Object.keys(MOST).filter((resource) => !(resource in countByResource()))).toEqual([]);
});

// Guards: the counting itself.
test('counts problems', () => {
  expect(problemsIn("throw new Problem('a'); return new Problem('b'); type A = Problem; new Problems()")).toBe(2);
});
