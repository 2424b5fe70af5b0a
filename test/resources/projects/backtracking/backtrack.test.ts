/** Retrigger and revert: going back to a phase, and what that does downstream. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, last, present, take } from '../../../../src/platform/core/present.ts';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  attemptsOf,
  eventsOf,
  insertAttempt,
  projectOf,
  recordOf,
  statusesOf,
  stepOf,
  taskOf,
  topicsOf,
  type InsertedProject,
  type PhaseFixture,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { ann, by, db, project, useAcme } from '../store/acme.ts';

useAcme();

/** a, and after it: b (lazy), c (strict) after b, d (none), one that runs, one that has not begun. */
const PIPELINE: PhaseFixture[] = [
  { slug: 'a', status: 'succeeded', versions: 3 },
  { slug: 'b', dependsOn: ['a'], status: 'succeeded' },
  { slug: 'c', dependsOn: ['b'], status: 'succeeded', cascadeOnUpstreamChange: 'strict' },
  { slug: 'd', dependsOn: ['a'], status: 'succeeded', cascadeOnUpstreamChange: 'none' },
  { slug: 'running', dependsOn: ['a'], status: 'running' },
  { slug: 'later', dependsOn: ['a'] },
  { slug: 'apart', status: 'succeeded' },
];
const retrigger = (made: InsertedProject, cascade: Cascade, more = {}) => ({
  projectId: made.id,
  phaseSlug: 'a',
  addendum: null,
  cascade,
  ...by(),
  ...more,
});
const revert = (made: InsertedProject, cascade: Cascade, more = {}) => ({
  projectId: made.id,
  phaseSlug: 'a',
  targetVersion: 1,
  cascade,
  reason: null,
  ...by(),
  ...more,
});

const REACHED = {
  lazy: {
    plan: [['b', 'c', 'd', 'running'], ['b', 'c', 'd', 'running'], []],
    becomes: { b: 'stale', c: 'stale', d: 'stale' },
    onEnd: null,
    skipped: undefined,
  },
  strict: {
    plan: [['b', 'c', 'd', 'running'], [], ['b', 'c', 'd', 'running']],
    becomes: { b: 'pending', c: 'pending', d: 'pending' },
    onEnd: 'rerun',
    skipped: undefined,
  },
  none: {
    plan: [[], [], []],
    becomes: { b: 'succeeded', c: 'succeeded', d: 'succeeded' },
    onEnd: null,
    skipped: ['b', 'd', 'running'],
  },
  default: {
    plan: [['b', 'c', 'running'], ['b', 'running'], ['c']],
    becomes: { b: 'stale', c: 'pending', d: 'succeeded' },
    onEnd: null,
    skipped: ['d'],
  },
} as const;

async function expectCascade(made: InsertedProject, cascade: Cascade): Promise<void> {
  const { becomes, onEnd, skipped } = REACHED[cascade];
  const untouched = { running: 'running', 'running/write': 'running', later: 'pending', apart: 'succeeded' };
  expect(await statusesOf(db, made.id)).toMatchObject({ ...becomes, ...untouched });
  expect((await taskOf(db, made, 'running')).onEnd).toBe(onEnd);
  const events = await eventsOf(db, made.id);
  const stale = events.filter(({ topic }) => topic === 'task_stale').map(({ payload }) => payload['phase_slug']);
  expect(stale.sort()).toEqual(Object.keys(becomes).filter((slug) => becomes[slug as 'b'] === 'stale'));
  const cascades = events.filter(({ topic }) => topic === 'cascade_skipped');
  expect(cascades.map(({ payload }) => payload['phase_slugs'])).toEqual(skipped ? [skipped] : []);
}

// Guards: each mode does what it says to the phases downstream, in the record and in the answer, once.
test.each(['lazy', 'strict', 'none', 'default'] as const)('retriggerPhase, %s', async (cascade) => {
  const made = await project(PIPELINE);
  const [affected, stale, rerun] = REACHED[cascade].plan;
  const args = retrigger(made, cascade);
  const answer = await commands.retriggerPhase(db, args);
  expect(answer).toMatchObject({
    cascade,
    affected_phase_slugs: affected,
    marked_stale: stale,
    auto_retriggered: rerun,
    cost_estimate_usd: '0',
  });
  expect((await taskOf(db, made, 'a')).status).toBe('pending');
  await expectCascade(made, cascade);
  // The workflow's board gets every phase whose status is another one now, and no other.
  const statuses = await statusesOf(db, made.id);
  for (const { slug, status } of answer.changes) expect([slug, statuses[slug]]).toEqual([slug, status]);
  const moved = PIPELINE.filter(({ slug, status = 'pending' }) => statuses[slug] !== status).map(({ slug }) => slug);
  expect(answer.changes.map(({ slug }) => slug).sort()).toEqual(moved.sort());
  const before = await recordOf(db, made.id);
  expect(await commands.retriggerPhase(db, args)).toEqual(answer);
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: a phase that runs again begins like new, with the instructions of every retrigger so far.
test('retriggerPhase resets the steps', async () => {
  const used: Partial<StepFixture> = {
    attemptsUsed: 3,
    crashes: 1,
    feedback: ['x'],
    addendum: 'x',
    nextReason: 'manual_retry',
    error: 'x',
    gateOutput: { x: 1 },
    isOutcomeUnknown: true,
    completedAt: new Date(),
  };
  const made = await project([
    { slug: 'a', status: 'failed', addenda: ['First'], steps: [{ ...used, slug: 'write' }] },
    { slug: 'b', dependsOn: ['a'], status: 'failed', steps: [{ ...used, slug: 'write' }] },
  ]);
  await commands.retriggerPhase(db, retrigger(made, 'strict', { addendum: 'Then' }));
  for (const slug of ['a', 'b']) {
    expect(await stepOf(db, made, `${slug}/write`)).toMatchObject({
      status: 'pending',
      attemptsUsed: 0,
      crashes: 0,
      feedback: [],
      addendum: null,
      nextReason: null,
      error: null,
      gateOutput: null,
      isOutcomeUnknown: false,
      completedAt: null,
    });
    expect(await taskOf(db, made, slug)).toMatchObject({
      status: 'pending',
      nextReason: 'cascade_retrigger',
      completedAt: null,
      onEnd: null,
      addenda: slug === 'a' ? ['First', 'Then'] : [],
    });
  }
  const events = await eventsOf(db, made.id);
  const resolved = 'nonidempotent_crash_resolved';
  expect(events.map(({ topic }) => topic)).toEqual([resolved, 'phase_retriggered', resolved]);
  expect(events[1]).toMatchObject({ actor_id: ann.id, payload: { addendum: true, auto_retriggered: ['b'] } });
});

// Guards: the estimate is what the latest starts cost, of the phase and of those that run again with it.
test('retriggerPhase estimates the cost', async () => {
  const made = await project(PIPELINE);
  const long = new Date(Date.now() - 3_600_000);
  const cost = { status: 'succeeded' } as const;
  await insertAttempt(db, made, 'a/write', { ...cost, costUsd: '5', startedAt: long, createdAt: long });
  await insertAttempt(db, made, 'a/write', { ...cost, costUsd: '0.10', attemptNumber: 2 });
  await insertAttempt(db, made, 'b/write', { ...cost, costUsd: '0.02000001' });
  await insertAttempt(db, made, 'apart/write', { ...cost, costUsd: '7' });
  const lazy = await project(PIPELINE.slice(0, 2));
  await insertAttempt(db, lazy, 'b/write', { ...cost, costUsd: '3' });
  expect(await commands.retriggerPhase(db, retrigger(lazy, 'lazy'))).toMatchObject({ cost_estimate_usd: '0' });
  const answer = await commands.retriggerPhase(db, retrigger(made, 'strict'));
  expect(answer.cost_estimate_usd).toBe('0.12000001');
  expect(await attemptsOf(db, made, 'a/write')).toHaveLength(2);
});

// Guards: a phase that will run again at its end stays so after a later, milder change.
test('the stronger consequence stays', async () => {
  const made = await project(PIPELINE);
  await commands.revertArtifact(db, revert(made, 'strict'));
  await commands.revertArtifact(db, revert(made, 'lazy', { targetVersion: 2 }));
  expect((await taskOf(db, made, 'running')).onEnd).toBe('rerun');
});

// Guards: phases that have ended can be retriggered, in any project that is not abandoned.
test('retriggerPhase refuses', async () => {
  const phases = (['pending', 'running', 'blocked', 'review'] as const).map((status) => ({ slug: status, status }));
  const session: PhaseFixture = { slug: 'edit-session-1', taskKind: 'edit_session', status: 'succeeded' };
  const made = await project([...phases, session]);
  const ended = await project([{ slug: 'a', status: 'succeeded' }], { status: 'abandoned' });
  const refusals = [
    ...phases.map(({ slug }) => [retrigger(made, 'lazy', { phaseSlug: slug }), 'phase_in_flight'] as const),
    [retrigger(made, 'lazy', { phaseSlug: 'edit-session-1' }), 'not_found'] as const,
    [retrigger(made, 'lazy', { phaseSlug: 'unknown' }), 'not_found'] as const,
    [retrigger(ended, 'lazy'), 'project_ended'] as const,
  ];
  for (const [args, code] of refusals) {
    const before = await recordOf(db, args.projectId);
    await expect(commands.retriggerPhase(db, args)).rejects.toMatchObject({ code });
    expect(await recordOf(db, args.projectId)).toEqual(before);
  }
  for (const status of ['succeeded', 'failed', 'skipped', 'stale'] as const) {
    const may = await project([{ slug: 'a', status }]);
    expect((await commands.retriggerPhase(db, retrigger(may, 'lazy'))).changes).toEqual([
      { slug: 'a', status: 'pending' },
    ]);
  }
});

// Guards: retriggering in a completed project makes it active; a paused one stays paused.
test.each([
  ['completed', 'active'],
  ['paused', 'paused'],
] as const)('a %s project is %s after going back', async (status, becomes) => {
  const phases: PhaseFixture[] = [{ slug: 'a', status: 'succeeded', versions: 2 }];
  for (const go of [
    (made: InsertedProject) => commands.retriggerPhase(db, retrigger(made, 'lazy')),
    (made: InsertedProject) => commands.revertArtifact(db, revert(made, 'lazy')),
  ]) {
    const made = await project(phases, { status });
    await go(made);
    const row = await projectOf(db, made.id);
    expect(row).toMatchObject({ status: becomes, completed_at: null });
    const reopened = (await topicsOf(db, made.id)).filter((topic) => topic === 'project_started');
    expect(reopened).toHaveLength(status === 'completed' ? 1 : 0);
  }
});

const versionsOf = (made: InsertedProject) =>
  db.rows<{ id: string; version: number; superseded: boolean; by: string | null; before: string | null }>(sql`
    select id, version, superseded, superseded_by_artifact_id as by, supersedes_artifact_id as before
    from artifacts where task_id = ${made.taskId('a')}::uuid order by version`);

// Guards: reverting changes which version is current, keeps later versions, and downstream follows by the mode, once.
test.each(['lazy', 'strict', 'none', 'default'] as const)('revertArtifact, %s', async (cascade) => {
  const made = await project(PIPELINE);
  const [affected, stale, rerun] = REACHED[cascade].plan;
  const args = revert(made, cascade, { reason: 'It was better' });
  const answer = await commands.revertArtifact(db, args);
  const [first, second, third] = take(await versionsOf(made), 3);
  expect([first.superseded, second.superseded, third.superseded]).toEqual([false, true, true]);
  expect([first.by, third.by]).toEqual([null, first.id]);
  expect(answer).toMatchObject({
    artifactId: first.id,
    cascade,
    affected_phase_slugs: affected,
    marked_stale: stale,
    auto_retriggered: rerun,
  });
  expect((await taskOf(db, made, 'a')).status).toBe('succeeded');
  await expectCascade(made, cascade);
  expect((await eventsOf(db, made.id))[0]).toMatchObject({
    topic: 'artifact_reverted',
    payload: { phase_slug: 'a', from_version: 3, to_version: 1, reason: 'It was better' },
  });
  const before = await recordOf(db, made.id);
  expect(await commands.revertArtifact(db, args)).toEqual(answer);
  expect(await recordOf(db, made.id)).toEqual(before);
  const again = commands.revertArtifact(db, revert(made, cascade));
  await expect(again).rejects.toMatchObject({ code: 'already_current' });
});

// Guards: the current version is superseded by none, and each replaced one names its replacement.
test('there and back again', async () => {
  const made = await project([{ slug: 'a', status: 'succeeded', versions: 3 }]);
  for (const targetVersion of [1, 3]) await commands.revertArtifact(db, revert(made, 'lazy', { targetVersion }));
  const [first, , third] = await versionsOf(made);
  expect([present(first).superseded, present(third).superseded]).toEqual([true, false]);
  expect([present(first).by, present(third).by]).toEqual([present(third).id, null]);
});

// Guards: choosing a version brings a stale phase up to date and completes a failed one; a pending phase still runs.
test.each([
  ['stale', 'succeeded'],
  ['pending', 'pending'],
  ['failed', 'succeeded'],
] as const)('a %s phase is %s after a revert', async (status, becomes) => {
  const made = await project([{ slug: 'a', status, versions: 2 }]);
  const { changes } = await commands.revertArtifact(db, revert(made, 'lazy'));
  expect((await taskOf(db, made, 'a')).status).toBe(becomes);
  expect(changes).toEqual(status === 'pending' ? [] : [{ slug: 'a', status: becomes }]);
});

// Guards: a phase that failed to make a new version can keep its old one, and nothing downstream changes; its failed
// steps, and those of unknown outcome, then need no person.
test('a failed phase is completed with its current version', async () => {
  const steps: StepFixture[] = [
    { slug: 'write', status: 'succeeded' },
    { slug: 'send', kind: 'action', role: 'utility', status: 'failed', isOutcomeUnknown: true, error: 'x' },
    { slug: 'last', status: 'pending' },
  ];
  const made = await project([
    { slug: 'a', status: 'failed', versions: 2, steps },
    { slug: 'b', dependsOn: ['a'], status: 'succeeded' },
  ]);
  const answer = await commands.revertArtifact(db, revert(made, 'strict', { targetVersion: 2 }));
  expect(answer).toMatchObject({ affected_phase_slugs: [], changes: [{ slug: 'a', status: 'succeeded' }] });
  expect(await statusesOf(db, made.id)).toMatchObject({
    a: 'succeeded',
    'a/write': 'succeeded',
    'a/send': 'skipped',
    'a/last': 'skipped',
    b: 'succeeded',
  });
  expect(await stepOf(db, made, 'a/send')).toMatchObject({ isOutcomeUnknown: false });
  expect(await topicsOf(db, made.id)).toEqual([
    ...['artifact_reverted', 'nonidempotent_crash_resolved', 'subtask_skipped', 'subtask_skipped', 'task_succeeded'],
  ]);
});

// Guards: a cascade passes through a phase that will run, because phases behind it used its earlier artifact.
test('a cascade goes through phases that are to run', async () => {
  const phases: PhaseFixture[] = [
    { slug: 'a', status: 'succeeded' },
    { slug: 'b', dependsOn: ['a'] },
    { slug: 'c', dependsOn: ['b'], status: 'succeeded' },
  ];
  const strict = await project(phases);
  await commands.retriggerPhase(db, retrigger(strict, 'strict'));
  expect(await statusesOf(db, strict.id)).toMatchObject({ a: 'pending', b: 'pending', c: 'pending' });
  const lazy = await project(phases);
  await commands.retriggerPhase(db, retrigger(lazy, 'lazy'));
  expect(await statusesOf(db, lazy.id)).toMatchObject({ a: 'pending', b: 'pending', c: 'stale' });
});

// Guards: unknown versions, phases under way and abandoned projects are refused, and nothing is written.
test('revertArtifact refuses', async () => {
  const under = (['running', 'blocked', 'review'] as const).map((status) => ({ slug: status, status, versions: 2 }));
  const made = await project([...under, { slug: 'a', status: 'succeeded', versions: 2 }]);
  const ended = await project([{ slug: 'a', status: 'succeeded', versions: 2 }], { status: 'abandoned' });
  const refusals = [
    ...under.map(({ slug }) => [revert(made, 'lazy', { phaseSlug: slug }), 'phase_in_flight'] as const),
    [revert(made, 'lazy', { phaseSlug: 'unknown' }), 'not_found'] as const,
    [revert(made, 'lazy', { targetVersion: 3 }), 'not_found'] as const,
    [revert(made, 'lazy', { targetVersion: 2 ** 53 }), 'not_found'] as const,
    [revert(made, 'lazy', { targetVersion: 2 }), 'already_current'] as const,
    [revert(ended, 'lazy'), 'project_ended'] as const,
  ];
  for (const [args, code] of refusals) {
    const before = await recordOf(db, args.projectId);
    await expect(commands.revertArtifact(db, args)).rejects.toMatchObject({ code });
    expect(await recordOf(db, args.projectId)).toEqual(before);
  }
});

// Guards: after any number of simultaneous reverts exactly one version is current, the one of the last revert.
test('parallel reverts', async () => {
  const made = await project([{ slug: 'a', status: 'succeeded', versions: 5 }]);
  const targets = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5];
  const outcomes = await Promise.allSettled(
    targets.map((targetVersion) => commands.revertArtifact(db, revert(made, 'lazy', { targetVersion }))),
  );
  for (const each of outcomes) {
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'already_current' });
  }
  const current = (await versionsOf(made)).filter(({ superseded }) => !superseded);
  expect(current).toHaveLength(1);
  expect(last(await eventsOf(db, made.id)).payload['to_version']).toBe(itemAt(current, 0).version);
});
