/**
 * Whether a phase is up to date is decided when it ends, by what its attempts were given: the versions that its upstream
 * phases had then, against those that they have now, whatever failed, was retried or was retriggered in between.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, last } from '../../../../src/platform/core/present.ts';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/store/commands/index.ts';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/store/engine/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import {
  attemptsOf,
  insertProject,
  statusesOf,
  taskOf,
  type InsertedProject,
} from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let db: TestDatabase['db'];
let engine: ProjectEngine;
beforeAll(async () => {
  database = await openTestDatabase();
  db = database.db;
  engine = createProjectEngine(db);
  await makeWorkspace(db, 'acc_acme');
});
afterAll(() => database?.close());

const ann = { kind: 'human', id: 'ann@acme.example' } as const;
let given = 0;
const by = () => ({ actor: ann, commandId: `command-${(given += 1)}` });
const effectOf = () => 'idempotent' as const;

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

let keys = 0;
const refOf = async (made: InsertedProject, slug: string) => ({
  projectId: made.id,
  taskId: made.taskId(slug),
  iteration: (await taskOf(db, made, slug)).iteration,
});
/** A start of the phase; its first step begins. */
async function open(made: InsertedProject, slug: string): Promise<void> {
  const { iteration, ...ref } = await refOf(made, slug);
  const opened = await engine.openAndBegin(
    { ...ref, iteration: iteration + 1 },
    { granted: null, key: `k${(keys += 1)}` },
    effectOf,
  );
  expect(opened.kind).toBe('opened');
}
/** The step begins, unless it has. */
async function begin(made: InsertedProject, path: string): Promise<void> {
  const [slug] = path.split('/') as [string];
  const dispatch = { ...(await refOf(made, slug)), subtaskId: made.stepId(path), key: `k${(keys += 1)}` };
  await engine.beginAttempt({ ...dispatch, granted: false }, effectOf);
}
/** Whether the end of a phase is decided in the statement that ends its last step. */
let isTogether = false;
/** The latest attempt of the step ends; with it the phase, if nothing of it is left. */
async function end(made: InsertedProject, path: string, how: 'succeeded' | 'failed' = 'succeeded'): Promise<void> {
  const [slug] = path.split('/') as [string];
  const { id: attemptId, childRunId } = last(await attemptsOf(db, made, path));
  await db.rows(sql`
    update runs set status = ${how}::run_status, output = to_jsonb('text'::text), completed_at = now(), started_at = now(),
      error = ${how === 'failed' ? 'tool_failed: no' : null}
    where id = ${childRunId}`);
  if (how === 'failed') await db.rows(sql`update subtasks set attempts_used = 9 where id = ${made.stepId(path)}::uuid`);
  const ref = await refOf(made, slug);
  await engine.settleAndGoOn(ref, { attemptId, next: [], isLast: isTogether }, effectOf);
  await engine.closePhase(ref);
}
async function run(made: InsertedProject, slug: string, steps = ['write']): Promise<void> {
  await open(made, slug);
  for (const step of steps) {
    await begin(made, `${slug}/${step}`);
    await end(made, `${slug}/${step}`);
  }
}
const phasesOf = async (made: InsertedProject) => {
  const { a, b, c } = await statusesOf(db, made.id);
  return { a, b, c };
};
const retrigger = (made: InsertedProject, phaseSlug: string, cascade: Cascade) =>
  commands.retriggerPhase(db, { projectId: made.id, phaseSlug, addendum: null, cascade, ...by() });
const retry = (made: InsertedProject, path: string) =>
  commands.retrySubtask(db, { projectId: made.id, subtaskId: made.stepId(path), addendum: null, ...by() });
const activate = (made: InsertedProject) =>
  db.rows(sql`update projects set status = 'active', pause_reason = null where id = ${made.id}`);

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
    expect((await taskOf(db, made, 'b')).spared).toEqual(['a']);
    await retrigger(made, 'b', 'none');
    expect((await taskOf(db, made, 'b')).spared).toEqual([]);
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
});
