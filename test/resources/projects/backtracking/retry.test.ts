/** Retries by hand of the steps of a phase. */
import { expect, test } from '@jest/globals';
import { newUuid } from '../../../../src/platform/core/ids.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  attemptsOf,
  eventsOf,
  gate,
  insertAttempt,
  projectOf,
  recordOf,
  statusesOf,
  stepOf,
  taskOf,
  topicsOf,
  type InsertedProject,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { ann, by, db, project, useAcme } from '../store/acme.ts';

useAcme();

const retry = (made: InsertedProject, path: string, more = {}) => ({
  projectId: made.id,
  subtaskId: made.stepId(path),
  addendum: null,
  ...by(),
  ...more,
});

const DRAFT: StepFixture[] = [
  { slug: 'write', status: 'failed', attemptsUsed: 3, crashes: 1, error: 'no' },
  { slug: 'review', role: 'reviewer', status: 'succeeded', attemptsUsed: 2 },
  { slug: 'extra', status: 'succeeded', dependsOn: [] },
  { slug: 'last', status: 'pending', dependsOn: ['review'] },
];

// Guards: a retry queues one attempt, gives the step all of its attempts again, and resets the steps that used its
// output.
test('retrySubtask of a phase that has ended', async () => {
  const made = await project([{ slug: 'a', status: 'failed', steps: DRAFT }], { status: 'paused' });
  await insertAttempt(db, made, 'a/write', { status: 'failed', attemptNumber: 4 });
  const args = retry(made, 'a/write', { addendum: 'Be brief' });
  const answer = await commands.retrySubtask(db, args);
  expect(answer).toEqual({
    phaseSlug: 'a',
    taskId: made.taskId('a'),
    inFlight: false,
    reset: [made.stepId('a/review')],
    change: { slug: 'a', status: 'pending' },
  });
  expect(await stepOf(db, made, 'a/write')).toMatchObject({
    status: 'pending',
    attemptsUsed: 0,
    crashes: 0,
    error: null,
    addendum: 'Be brief',
    nextReason: 'manual_retry',
  });
  const steps = { 'a/write': 'pending', 'a/review': 'pending', 'a/extra': 'succeeded', 'a/last': 'pending' };
  expect(await statusesOf(db, made.id)).toEqual({ a: 'pending', ...steps });
  const queued = { status: 'pending', attemptNumber: 5, attemptReason: 'manual_retry', dispatchKey: null };
  expect((await attemptsOf(db, made, 'a/write')).at(-1)).toMatchObject(queued);
  expect((await projectOf(db, made.id)).status).toBe('paused');
  expect(await eventsOf(db, made.id)).toMatchObject([
    { topic: 'subtask_retry_queued', actor_id: ann.id, payload: { reason: 'manual_retry', addendum: true } },
  ]);
  const before = await recordOf(db, made.id);
  expect(await commands.retrySubtask(db, args)).toEqual(answer);
  const second = commands.retrySubtask(db, retry(made, 'a/write'));
  await expect(second).rejects.toMatchObject({ code: 'attempt_queued' });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: a phase at work is told of the retry and not started a second time.
test('retrySubtask of a phase under way', async () => {
  const made = await project([{ slug: 'a', status: 'running', steps: DRAFT }]);
  expect(await commands.retrySubtask(db, retry(made, 'a/write'))).toMatchObject({ inFlight: true, change: null });
  expect((await taskOf(db, made, 'a')).status).toBe('running');
});

// Guards: retrying an earlier step does not repeat a step whose irreversible effect may have happened.
test('retrySubtask leaves an unknown outcome to a person', async () => {
  const steps: StepFixture[] = [
    { slug: 'write', status: 'failed' },
    { slug: 'post', kind: 'action', status: 'failed', isOutcomeUnknown: true },
  ];
  const made = await project([{ slug: 'a', status: 'failed', steps }]);
  expect((await commands.retrySubtask(db, retry(made, 'a/write'))).reset).toEqual([]);
  expect(await stepOf(db, made, 'a/post')).toMatchObject({ status: 'failed', isOutcomeUnknown: true });
});

// Guards: a retry does rejected work again, opens a gate anew, and lets the person settle an unknown outcome.
test('retrySubtask says why', async () => {
  const steps: StepFixture[] = [
    { slug: 'write', feedback: ['too long'] },
    { slug: 'post', kind: 'action', isOutcomeUnknown: true, dependsOn: [] },
    gate('approve', { status: 'failed', gateOutput: { decision: 'rejected' }, dependsOn: [] }),
  ];
  const made = await project([{ slug: 'a', status: 'failed', steps }]);
  await commands.retrySubtask(db, retry(made, 'a/write'));
  expect(await attemptsOf(db, made, 'a/write')).toMatchObject([{ attemptReason: 'manual_rework', attemptNumber: 1 }]);
  expect(await stepOf(db, made, 'a/write')).toMatchObject({ feedback: ['too long'] });
  // The phase is pending already: it is not announced again.
  expect(await commands.retrySubtask(db, retry(made, 'a/post'))).toMatchObject({ inFlight: false, change: null });
  expect(await stepOf(db, made, 'a/post')).toMatchObject({ isOutcomeUnknown: false, nextReason: 'manual_retry' });
  await commands.retrySubtask(db, retry(made, 'a/approve'));
  expect(await stepOf(db, made, 'a/approve')).toMatchObject({ status: 'pending', gateOutput: null });
  expect(await attemptsOf(db, made, 'a/approve')).toEqual([]);
  const queued = 'subtask_retry_queued';
  expect(await topicsOf(db, made.id)).toEqual([queued, 'nonidempotent_crash_resolved', queued, queued]);
});

// Guards: an unknown step, one that has not failed and one of an ended project are refused, and nothing is written.
test('retrySubtask refuses', async () => {
  const made = await project([{ slug: 'a', status: 'running', steps: [{ slug: 'write' }] }]);
  const other = await project([{ slug: 'a', status: 'failed' }]);
  const ended = await project([{ slug: 'a', status: 'failed' }], { status: 'abandoned' });
  const refusals = [
    [retry(made, 'a/write'), 'subtask_not_failed'],
    [{ ...retry(other, 'a/write'), projectId: made.id }, 'not_found'],
    [{ ...retry(made, 'a/write'), subtaskId: newUuid() }, 'not_found'],
    [retry(ended, 'a/write'), 'project_ended'],
  ] as const;
  for (const [args, code] of refusals) {
    const before = await recordOf(db, args.projectId);
    await expect(commands.retrySubtask(db, args)).rejects.toMatchObject({ code });
    expect(await recordOf(db, args.projectId)).toEqual(before);
  }
});
