/**
 * When a step, a gate or a phase may begin. The workflow of a phase asks with what it believes; these tests ask with
 * every wrong belief, and the record answers.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { CASCADES, TASK_STATUSES, isDone, type TaskStatus } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { createProjectEngine, type ProjectEngine } from '../../../../src/resources/projects/engine/index.ts';
import { gate, insertAttempt, stepOf, taskOf, type StepFixture } from '../../../support/fixtures/projects-store.ts';
import { db, project, useAcme } from '../store/acme.ts';

useAcme();
let engine: ProjectEngine;
beforeAll(() => {
  engine = createProjectEngine(db);
});

const effectOf = () => 'idempotent' as const;

const ACTION = { kind: 'action', role: 'utility', assignee: 'assemble_markdown' } satisfies Partial<StepFixture>;

/** What may be asked to begin: an agent's step, an action, and gates that wait or pass at once. */
const KINDS: Record<string, Partial<StepFixture>> = {
  agent: {},
  action: ACTION,
  'human gate': gate('z', { status: 'pending' }),
  'gate whose time has come': gate('z', {
    status: 'pending',
    gateKind: 'schedule',
    gateConfig: { at: '2020-01-01T00:00:00Z' },
  }),
};

/** x has just ended; z needs x and y. */
async function beforeZ(kind: Partial<StepFixture>, y: TaskStatus) {
  const steps: StepFixture[] = [
    { slug: 'y', dependsOn: [], status: y },
    { ...ACTION, slug: 'x', dependsOn: [], status: 'running' },
    { ...kind, slug: 'z', dependsOn: ['x', 'y'], status: 'pending' },
    { slug: 'after', dependsOn: ['z'], status: 'pending' },
  ];
  const made = await project([{ slug: 'a', status: 'running', steps }]);
  const attemptId = await insertAttempt(db, made, 'a/x', { childRunId: null });
  await db.rows(sql`update attempts set output = '"x"'::jsonb where id = ${attemptId}::uuid`);
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  const z = { subtaskId: made.stepId('a/z'), key: 'run:z' };
  return { made, ref, z, attemptId };
}

describe.each(Object.keys(KINDS))('%s', (name) => {
  // Guards: a step begins only if every step that it needs is done in the record, however it is asked for and whatever
  // the workflow believed when it asked.
  test.each(TASK_STATUSES)('needs a step that is %s', async (status) => {
    const kind = KINDS[name] ?? {};
    const first = await beforeZ(kind, status);
    const settled = { attemptId: first.attemptId, isLast: false, next: [first.z] };
    const { begun, outcome } = await engine.settleAndGoOn(first.ref, settled, effectOf);
    expect(outcome).toEqual({ kind: 'succeeded' });
    expect(begun.map(({ subtaskId }) => subtaskId)).toEqual(isDone(status) ? [first.z.subtaskId] : []);

    const alone = await beforeZ(kind, status);
    await db.rows(sql`update subtasks set status = 'succeeded' where id = ${alone.made.stepId('a/x')}::uuid`);
    const answer = await engine.beginAttempt({ ...alone.ref, ...alone.z, granted: true }, effectOf);
    if (isDone(status)) expect(answer.kind).not.toBe('not_yet');
    else expect(answer).toEqual({ kind: 'not_yet' });

    for (const { made } of [first, alone]) {
      const { status: now } = await stepOf(db, made, 'a/z');
      if (!isDone(status)) expect(now).toBe('pending');
    }
  });
});

// Guards: a step that another has overtaken is not begun a second time, and its phase is not given up for it.
test.each(['running', 'succeeded', 'failed', 'skipped'] as const)('a step that is %s', async (status) => {
  const { made, ref, z } = await beforeZ({}, 'succeeded');
  await db.rows(sql`update subtasks set status = 'succeeded' where id = ${made.stepId('a/x')}::uuid`);
  await db.rows(sql`update subtasks set status = ${status}::task_status where id = ${z.subtaskId}::uuid`);
  expect(await engine.beginAttempt({ ...ref, ...z, granted: false }, effectOf)).toEqual({ kind: 'not_yet' });
  expect(await engine.readPhase(ref)).toMatchObject({
    kind: 'current',
    steps: expect.arrayContaining([expect.objectContaining({ slug: 'z', status })]),
  });
});

// Guards: a phase opens only when each phase before it is done in the record, also where that was sent back after the
// project had decided to start this one.
test.each(TASK_STATUSES)('a phase after one that is %s', async (status) => {
  const made = await project([
    { slug: 'a', status, versions: 1 },
    { slug: 'b', dependsOn: ['a'] },
  ]);
  const ref = { projectId: made.id, taskId: made.taskId('b'), iteration: 1 };
  const { kind, begun } = await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf);
  expect({ kind, begun: begun.length }).toEqual(
    isDone(status) ? { kind: 'opened', begun: 1 } : { kind: 'not_yet', begun: 0 },
  );
  expect(await taskOf(db, made, 'b')).toMatchObject(
    isDone(status) ? { iteration: 1 } : { status: 'pending', iteration: 0 },
  );
});

// Guards: whatever a retrigger does to later phases, one that waits to open waits for the new version.
test.each(CASCADES)('a phase that waited while the one before it was retriggered, %s', async (cascade) => {
  const made = await project([
    { slug: 'a', status: 'succeeded', versions: 1 },
    { slug: 'b', dependsOn: ['a'] },
  ]);
  const actor = { kind: 'human', id: 'ann@acme.example' } as const;
  const retrigger = {
    projectId: made.id,
    phaseSlug: 'a',
    addendum: null,
    cascade,
    actor,
    commandId: `again-${cascade}`,
  };
  await commands.retriggerPhase(db, retrigger);
  const ref = { projectId: made.id, taskId: made.taskId('b'), iteration: 1 };
  expect(await engine.openAndBegin(ref, { granted: null, key: 'run:1' }, effectOf)).toEqual({
    kind: 'not_yet',
    begun: [],
  });
});

// Guards: a step that is to be tried again is told so although another step of its phase has failed.
test('each step is told its own end', async () => {
  const steps: StepFixture[] = [
    { slug: 'x', dependsOn: [], status: 'running' },
    { slug: 'y', dependsOn: [], status: 'failed' },
  ];
  const made = await project([{ slug: 'a', status: 'running', steps }]);
  const attemptId = await insertAttempt(db, made, 'a/x', { childRunId: null });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  const fault = { kind: 'timeout' as const, message: 'too slow' };
  const { outcome } = await engine.settleAndGoOn(ref, { attemptId, fault, isLast: false, next: [] }, effectOf);
  expect(outcome).toEqual({ kind: 'again', reset: [made.stepId('a/x')], failed: [made.stepId('a/y')] });
});
