/**
 * Whether a phase is up to date is decided when it ends, by what its attempts were given: the versions that its upstream
 * phases had then, against those that they have now, whatever failed, was retried or was retriggered in between.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { first, last } from '../../../../src/platform/core/present.ts';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import {
  attemptsOf,
  insertProject,
  statusesOf,
  taskOf,
  type InsertedProject,
} from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';
import { createDriver } from '../store/driver.ts';

let database: TestDatabase;
let db: TestDatabase['db'];
let driver: ReturnType<typeof createDriver>;
beforeAll(async () => {
  database = await openTestDatabase();
  db = database.db;
  driver = createDriver(db);
  await makeWorkspace(db, 'acc_acme');
});
afterAll(() => database?.close());

/** a, then b of two steps, then c; each makes an artifact. */
const pipeline = () =>
  insertProject(db, {
    customerId: 'acme',
    phases: [
      { slug: 'a' },
      { slug: 'b', dependsOn: ['a'], artifactStepSlug: 'write', steps: [{ slug: 'plan' }, { slug: 'write' }] },
      { slug: 'c', dependsOn: ['b'] },
    ],
  });

/** Whether the end of a phase is decided in the statement that ends its last step. */
let isTogether = false;
const open = (made: InsertedProject, slug: string) => driver.open(made, slug);
const begin = (made: InsertedProject, path: string) => driver.begin(made, path);
const end = (made: InsertedProject, path: string, how: 'succeeded' | 'failed' = 'succeeded') =>
  driver.end(made, path, how, isTogether);
const run = (made: InsertedProject, slug: string, steps = ['write']) => driver.run(made, slug, steps, isTogether);
const phasesOf = async (made: InsertedProject) => {
  const { a, b, c } = await statusesOf(db, made.id);
  return { a, b, c };
};
const retrigger = (made: InsertedProject, phaseSlug: string, cascade: Cascade) =>
  driver.retrigger(made, phaseSlug, cascade);
const retry = (made: InsertedProject, path: string) => driver.retry(made, path);
const activate = (made: InsertedProject) => driver.activate(made);

// Guards: it makes no difference whether the end of a phase is decided by itself or with its last step.
describe.each([
  ['by itself', false],
  ['with its last step', true],
] as const)('where a phase ends %s', (_, together) => {
  beforeAll(() => {
    isTogether = together;
  });

  // Guards: each attempt records which versions it was given.
  test('an attempt keeps what it consumed', async () => {
    const made = await pipeline();
    await run(made, 'a');
    await run(made, 'b', ['plan', 'write']);
    const attempt = first(await attemptsOf(db, made, 'b/write'));
    expect(attempt.consumed).toEqual({ a: { version: 1, isStale: false } });
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'pending' });
  });

  // Guards: a phase that fails on an old version and is retried still counts as made from it, because of the steps that
  // are not repeated.
  test.each(['while it runs', 'when it has failed'] as const)('a change upstream %s', async (when) => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await end(made, 'b/plan');
    await begin(made, 'b/write');
    if (when === 'while it runs') await retrigger(made, 'a', 'lazy');
    await end(made, 'b/write', 'failed');
    if (when === 'when it has failed') await retrigger(made, 'a', 'lazy');
    await activate(made);
    await run(made, 'a');
    await retry(made, 'b/write');
    await open(made, 'b');
    await end(made, 'b/write');
    expect(last(await attemptsOf(db, made, 'b/write')).consumed).toEqual({ a: { version: 2, isStale: false } });
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'stale', c: 'pending' });
  });

  // Guards: a phase that used only the new version is up to date when it ends, whatever was marked before.
  test('what was made again of the new version is up to date', async () => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await retrigger(made, 'a', 'lazy');
    await end(made, 'b/plan', 'failed');
    await activate(made);
    await run(made, 'a');
    await retry(made, 'b/plan');
    await run(made, 'b', ['plan', 'write']);
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'pending' });
  });

  // Guards: a phase that `strict` promised to run again does so, although it failed first, and only once.
  test('a strict change holds for a phase that fails', async () => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await end(made, 'b/plan');
    await begin(made, 'b/write');
    await retrigger(made, 'a', 'strict');
    await end(made, 'b/write', 'failed');
    await activate(made);
    await run(made, 'a');
    await retry(made, 'b/write');
    await open(made, 'b');
    await end(made, 'b/write');
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'pending', c: 'pending' });
    await run(made, 'b', ['plan', 'write']);
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'pending' });
  });

  // Guards: a phase that ends before the new version of its input exists is outdated already, also where the change comes
  // from further away.
  test.each(['a', 'b'] as const)('a change of %s while c runs', async (changed) => {
    const made = await pipeline();
    await run(made, 'a');
    await run(made, 'b', ['plan', 'write']);
    await open(made, 'c');
    const told = await retrigger(made, changed, 'lazy');
    expect(told.marked_stale).toContain('c');
    await end(made, 'c/write');
    expect((await phasesOf(made)).c).toBe('stale');
  });

  // Guards: `none` leaves phases downstream as they are, also those under way, until they begin anew.
  test('a change that was to spare it', async () => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await retrigger(made, 'a', 'none');
    await end(made, 'b/plan');
    await run(made, 'a');
    await begin(made, 'b/write');
    await end(made, 'b/write');
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'pending' });
    expect((await taskOf(db, made, 'b')).sparedFor).toEqual({ a: { version: 2, isStale: false } });
    await retrigger(made, 'b', 'none');
    expect((await taskOf(db, made, 'b')).sparedFor).toEqual({});
  });

  // Guards: a phase that ran on an input that was already stale stays up to date; only what became stale later counts.
  test('a phase that runs again on a stale version', async () => {
    const made = await pipeline();
    await run(made, 'a');
    await run(made, 'b', ['plan', 'write']);
    await retrigger(made, 'a', 'lazy');
    await run(made, 'a');
    expect((await phasesOf(made)).b).toBe('stale');
    await run(made, 'c');
    expect(await phasesOf(made)).toEqual({ a: 'succeeded', b: 'stale', c: 'succeeded' });
  });

  // Guards against: one `none` that made a phase immune to every later change, until it began anew.
  test.each([
    ['lazy', 'stale'],
    ['strict', 'pending'],
  ] as const)('a phase that was spared follows a later change (%s)', async (cascade, expected) => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await retrigger(made, 'a', 'none');
    await run(made, 'a');
    await retrigger(made, 'a', cascade);
    await run(made, 'a');
    await end(made, 'b/plan');
    await begin(made, 'b/write');
    await end(made, 'b/write');
    expect((await phasesOf(made)).b).toBe(expected);
  });

  // Guards: `none` spares from its own change alone, not from one before it; and a second one spares as the first.
  test.each([
    [['none', 'none'], 'succeeded'],
    [['lazy', 'none'], 'stale'],
    [['strict', 'none'], 'pending'],
    [['none', 'lazy', 'none'], 'stale'],
  ] as const)('the changes %j of what a phase under way consumed', async (cascades, expected) => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    for (const cascade of cascades) {
      await retrigger(made, 'a', cascade);
      await run(made, 'a');
    }
    await end(made, 'b/plan');
    await begin(made, 'b/write');
    await end(made, 'b/write');
    expect((await phasesOf(made)).b).toBe(expected);
  });

  // Guards: the phase is spared by the very change, whether that has made its version yet or not.
  test.each([
    ['none', 'succeeded'],
    ['lazy', 'stale'],
  ] as const)('a change that is not yet made when the phase ends (%s)', async (cascade, expected) => {
    const made = await pipeline();
    await run(made, 'a');
    await open(made, 'b');
    await end(made, 'b/plan');
    await begin(made, 'b/write');
    await retrigger(made, 'a', 'none');
    await run(made, 'a');
    await retrigger(made, 'a', cascade);
    await end(made, 'b/write');
    expect((await phasesOf(made)).b).toBe(expected);
  });
});
