/** Decisions on gates, and gates that nobody decides. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../../src/platform/core/ids.ts';
import { SYSTEM } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  eventsOf,
  gate,
  projectOf,
  recordOf,
  statusesOf,
  stepOf,
  taskOf,
  topicsOf,
  type InsertedProject,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { ann, answer, db, project, useAcme } from '../store/acme.ts';

useAcme();

const gated = (more: Partial<StepFixture> = {}, project_: object = {}) =>
  project(
    [
      {
        slug: 'a',
        status: 'blocked',
        steps: [
          { slug: 'write', status: 'succeeded', attemptsUsed: 2 },
          { slug: 'review', role: 'reviewer', status: 'succeeded' },
          gate('approve', more),
          { slug: 'publish', status: 'pending' },
        ],
      },
    ],
    project_,
  );

// Guards: the first decision counts, with its author; a second is refused, and a repeat of the first is not.
test('resolveGate approves once', async () => {
  const made = await gated();
  const args = { ...answer(made, 'approved', { comment: 'Good', payload: { seen: 1 } }), gateKind: 'human' as const };
  const resolved = await commands.resolveGate(db, args);
  expect(resolved).toEqual({
    outcome: 'resolved',
    gate: { subtaskId: made.stepId('a/approve'), decision: 'approved', effect: 'pass', reset: [] },
    taskId: made.taskId('a'),
    phaseSlug: 'a',
    projectStatus: 'active',
    reactivated: false,
  });
  expect(await stepOf(db, made, 'a/approve')).toMatchObject({
    status: 'succeeded',
    gateOutput: {
      decision: 'approved',
      decided_by: ann.id,
      comment: 'Good',
      payload: { seen: 1 },
      decided_at: expect.any(String),
    },
  });
  expect((await taskOf(db, made, 'a')).status).toBe('running');
  expect(await topicsOf(db, made.id)).toEqual(['gate_resolved']);
  const before = await recordOf(db, made.id);
  expect(await commands.resolveGate(db, args)).toEqual(resolved);
  const late = commands.resolveGate(db, answer(made, 'rejected'));
  await expect(late).rejects.toMatchObject({ code: 'gate_not_waiting' });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: of simultaneous decisions one wins.
test('parallel decisions', async () => {
  const made = await gated();
  const decisions = Array.from({ length: 6 }, (_, n) =>
    commands.resolveGate(db, answer(made, n % 2 ? 'approved' : 'rejected')),
  );
  const outcomes = await Promise.allSettled(decisions);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const codes = outcomes.flatMap((each) =>
    each.status === 'rejected' ? [(each.reason as { code: string }).code] : [],
  );
  expect(new Set(codes)).toEqual(new Set(['gate_not_waiting']));
});

// Guards: a rejection stops the phase for a person, unless the gate is configured for rework.
test('resolveGate rejects', async () => {
  const made = await gated();
  const failed = await commands.resolveGate(db, answer(made, 'rejected', { decided_by: 'Bo', comment: 'No' }));
  expect(failed).toMatchObject({ gate: { effect: 'fail', reset: [] }, projectStatus: 'paused', reactivated: false });
  expect(await stepOf(db, made, 'a/approve')).toMatchObject({ status: 'failed', error: 'rejected by Bo: No' });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: 'gate_rejected' });

  const reworked = await gated({ gateConfig: { on_reject: 'rework' } });
  const resolved = await commands.resolveGate(db, answer(reworked, 'rejected', { comment: 'Shorter' }));
  const sentBack = ['a/write', 'a/review', 'a/approve'].map((path) => reworked.stepId(path));
  expect(resolved).toMatchObject({ gate: { effect: 'rework' }, projectStatus: 'active' });
  expect(new Set((resolved as { gate: { reset: string[] } }).gate.reset)).toEqual(new Set(sentBack));
  expect(await statusesOf(db, reworked.id)).toEqual({
    a: 'running',
    'a/write': 'pending',
    'a/review': 'pending',
    'a/approve': 'pending',
    'a/publish': 'pending',
  });
  expect(await stepOf(db, reworked, 'a/write')).toMatchObject({
    feedback: ['Shorter'],
    nextReason: 'manual_rework',
    attemptsUsed: 0,
  });
  expect(await stepOf(db, reworked, 'a/approve')).toMatchObject({ gateOutput: { decision: 'rejected' }, error: null });
  expect(await topicsOf(db, reworked.id)).toEqual(['gate_resolved', 'review_feedback_recorded']);

  const alone = await project([
    { slug: 'a', status: 'blocked', steps: [gate('approve', { gateConfig: { on_reject: 'rework' } })] },
  ]);
  expect(await commands.resolveGate(db, answer(alone, 'rejected'))).toMatchObject({ gate: { effect: 'fail' } });
});

// Guards: an external answer restarts a paused project, except one that a person paused, and except where it is a
// rejection.
test.each([
  ['webhook', 'budget_breached', 'approved', 'active'],
  ['webhook', 'requested', 'approved', 'paused'],
  ['webhook', 'budget_breached', 'rejected', 'paused'],
  ['human', 'budget_breached', 'approved', 'paused'],
] as const)('a %s gate of a project paused by %s is %s', async (gateKind, pauseReason, decision, status) => {
  const made = await gated({ gateKind }, { status: 'paused', pauseReason });
  const resolved = await commands.resolveGate(db, { ...answer(made, decision), gateKind });
  expect(resolved).toMatchObject({ projectStatus: status, reactivated: status === 'active' });
  expect((await projectOf(db, made.id)).status).toBe(status);
  const started = (await topicsOf(db, made.id)).filter((topic) => topic === 'project_started');
  expect(started).toHaveLength(status === 'active' ? 1 : 0);
});

const expire = (made: InsertedProject) => ({
  ...answer(made, 'rejected', { decided_by: 'system', comment: 'nobody answered in time' }),
  actor: SYSTEM,
  isLenient: true,
});

// Guards: a timeout does not restart a project that a rejection, a failure or a budget stopped.
test.each(['gate_rejected', 'subtask_failed', 'budget_breached', 'requested'] as const)(
  'the time of a gate is over while the project is paused by %s',
  async (pauseReason) => {
    const rework = { gateKind: 'webhook', gateConfig: { on_reject: 'rework', expires_in_s: 1 } } as const;
    const made = await gated(rework, { status: 'paused', pauseReason });
    const resolved = await commands.resolveGate(db, expire(made));
    expect(resolved).toMatchObject({ gate: { effect: 'rework' }, projectStatus: 'paused', reactivated: false });
    expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: pauseReason });
  },
);

// Guards: rework that nobody looks at ends: the third timeout in a row pauses the project, and a timeout gives no
// attempts back.
test('a gate that nobody answers', async () => {
  const made = await gated({ gateKind: 'webhook', gateConfig: { on_reject: 'rework', expires_in_s: 1 } });
  // The work was done once more, and the gate waits again.
  const openAgain = () =>
    db.rows(sql`
      update subtasks set status = case step_slug when 'approve' then 'blocked' else 'succeeded' end::task_status
      where task_id = ${made.taskId('a')}::uuid and step_slug <> 'publish'`);
  const expiries: number[] = [];
  const statuses: string[] = [];
  const expireOnce = async () => {
    await commands.resolveGate(db, expire(made));
    expiries.push((await stepOf(db, made, 'a/approve')).expiries);
    statuses.push((await projectOf(db, made.id)).status);
    await openAgain();
  };
  await expireOnce();
  await expireOnce();
  // Somebody does answer.
  await commands.resolveGate(db, { ...answer(made, 'rejected'), gateKind: 'webhook' });
  expect((await stepOf(db, made, 'a/write')).attemptsUsed).toBe(0);
  await db.rows(sql`update subtasks set attempts_used = 2 where id = ${made.stepId('a/write')}::uuid`);
  await openAgain();
  for (let n = 0; n < 3; n += 1) await expireOnce();
  expect(expiries).toEqual([1, 2, 1, 2, 0]);
  expect(statuses).toEqual(['active', 'active', 'active', 'active', 'paused']);
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: 'gate_expired' });
  expect((await stepOf(db, made, 'a/write')).attemptsUsed).toBe(2);
});

// Guards: a caller reaches only waiting gates of its kind and project; a signal that does not is noted and never
// thrown.
test('resolveGate refuses, or ignores and says so', async () => {
  const made = await gated();
  const other = await gated({ status: 'pending' });
  const about = (subtask_id: unknown, more = {}) => ({ subtask_id, decision: 'approved', ...more }) as never;
  const cases = [
    [{ gateKind: 'webhook' }, about(made.stepId('a/approve')), 'not_found'],
    [{}, about(other.stepId('a/approve')), 'not_found'],
    [{}, about(made.stepId('a/write')), 'not_found'],
    [{}, about(newUuid()), 'not_found'],
    [{}, about('no uuid'), 'bad_request'],
    [{}, about(made.stepId('a/approve'), { decision: 'maybe' }), 'bad_request'],
    [{}, about(made.stepId('a/approve'), { comment: 'a\u0000b' }), 'bad_request'],
    [{}, about(made.stepId('a/approve'), { payload: { '\ud800': 1 } }), 'bad_request'],
    [{}, about(made.stepId('a/approve'), { payload: 'text' }), 'bad_request'],
    [{}, about(made.stepId('a/approve'), { payload: { x: 'x'.repeat(70_000) } }), 'bad_request'],
    [{}, null as never, 'bad_request'],
  ] as const;
  for (const [more, said, code] of cases) {
    const args = { ...answer(made, 'approved'), ...more, answer: said };
    await expect(commands.resolveGate(db, args)).rejects.toMatchObject({ code });
    expect(await topicsOf(db, made.id)).toEqual([]);
  }
  const waits = commands.resolveGate(db, answer(other, 'approved'));
  await expect(waits).rejects.toMatchObject({ code: 'gate_not_waiting' });
  const external = { actor: { kind: 'external', id: 'a\u0000\ud800' }, commandId: null, lenient: true } as const;
  for (const [more, said] of cases) {
    const args = { ...answer(made, 'approved'), ...more, ...external, answer: said };
    expect(await commands.resolveGate(db, args)).toEqual({ outcome: 'ignored' });
  }
  const events = await eventsOf(db, made.id);
  expect(events).toHaveLength(cases.length);
  const ignored = { topic: 'gate_answer_ignored', level: 'warn', actor_kind: 'external', actor_id: 'a\ufffd' };
  for (const event of events) expect(event).toMatchObject({ ...ignored, payload: { why: expect.any(String) } });
  // What looks like an escape but is text is taken.
  const text = { comment: String.raw`a\u0000b \\ud800` };
  const taken = await commands.resolveGate(db, { ...answer(made, 'approved', text), ...external });
  expect(taken).toMatchObject({ outcome: 'resolved' });
  expect(await stepOf(db, made, 'a/approve')).toMatchObject({ gateOutput: text });
});
