/** Start, pause, resume, abandon, complete: what moves a project as a whole. */
import { beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId } from '../../../../src/platform/core/ids.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import { createWebhookStore } from '../../../../src/resources/webhook-subscriptions/store/index.ts';
import {
  attemptsOf,
  eventsOf,
  gate,
  insertAttempt,
  insertProject,
  projectOf,
  recordOf,
  statusesOf,
  stepOf,
  taskOf,
  topicsOf,
  type PhaseFixture,
} from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';
import { ann, by, db, project, useAcme } from '../store/acme.ts';

useAcme();

beforeAll(() => makeWorkspace(db, 'acc_other'));

const effectOf = (action: string) => (action === 'http_post' ? ('irreversible' as const) : ('idempotent' as const));

// Guards: a project starts once, and one that was paused before it began stays paused.
test('startProject', async () => {
  const planned = await project([{ slug: 'a' }], { status: 'planning', startedAt: null });
  expect(await commands.startProject(db, { projectId: planned.id })).toEqual({ status: 'active' });
  expect((await projectOf(db, planned.id)).started_at).not.toBeNull();
  const before = await recordOf(db, planned.id);
  expect(await commands.startProject(db, { projectId: planned.id })).toEqual({ status: 'active' });
  expect(await recordOf(db, planned.id)).toEqual(before);
  expect(await topicsOf(db, planned.id)).toEqual(['project_started']);

  const paused = await project([{ slug: 'a' }], { status: 'paused' });
  expect(await commands.startProject(db, { projectId: paused.id })).toEqual({ status: 'paused' });
  await expect(commands.startProject(db, { projectId: 'unknown' })).rejects.toMatchObject({ code: 'not_found' });
});

// Guards: a person's pause replaces any other reason, and pausing again is no error.
test('pauseProject', async () => {
  for (const status of ['active', 'planning'] as const) {
    const { id } = await project([{ slug: 'a' }], { status });
    expect(await commands.pauseProject(db, { projectId: id, ...by() })).toEqual({ status: 'paused' });
    expect(await projectOf(db, id)).toMatchObject({ status: 'paused', pause_reason: 'requested' });
    expect(await commands.pauseProject(db, { projectId: id, ...by() })).toEqual({ status: 'paused' });
    expect(await eventsOf(db, id)).toMatchObject([
      { topic: 'project_paused', level: 'warn', actor_id: ann.id, payload: { reason: 'requested' } },
    ]);
  }
  const breached = await project([{ slug: 'a' }], { status: 'paused', pauseReason: 'budget_breached' });
  await commands.pauseProject(db, { projectId: breached.id, ...by() });
  expect(await projectOf(db, breached.id)).toMatchObject({ pause_reason: 'requested' });
  for (const status of ['completed', 'abandoned'] as const) {
    const { id } = await project([{ slug: 'a', status: 'succeeded' }], { status });
    const refusal = commands.pauseProject(db, { projectId: id, ...by() });
    await expect(refusal).rejects.toMatchObject({ code: 'project_not_active' });
  }
});

// Guards: resuming recovers phases that no workflow works on, and leaves alone those that one does.
test('resumeProject recovers dead phases and leaves living ones', async () => {
  const made = await project(
    [
      { slug: 'alive', status: 'running' },
      { slug: 'dead', status: 'running' },
      { slug: 'gated', status: 'blocked', steps: [{ slug: 'write', status: 'succeeded' }, gate('approve')] },
      { slug: 'posting', status: 'running', steps: [{ slug: 'post', kind: 'action', assignee: 'http_post' }] },
      { slug: 'again', status: 'running', steps: [{ slug: 'write', crashes: 1 }] },
      { slug: 'failed', status: 'failed' },
    ],
    { status: 'paused', pauseReason: 'subtask_failed' },
  );
  for (const path of ['alive/write', 'dead/write', 'posting/post', 'again/write']) await insertAttempt(db, made, path);
  const args = { projectId: made.id, inFlightTaskIds: [made.taskId('alive')], effectOf, ...by() };
  const answer = await commands.resumeProject(db, args);
  expect(answer.summary).toEqual({
    crashed_attempts_recovered: 1,
    repeat_crash_failures: 1,
    nonidempotent_pauses: 1,
  });
  expect(Object.fromEntries(answer.changes.map(({ slug, status }) => [slug, status]))).toEqual({
    dead: 'pending',
    gated: 'pending',
    posting: 'failed',
    again: 'failed',
  });
  expect(await statusesOf(db, made.id)).toEqual({
    alive: 'running',
    'alive/write': 'running',
    dead: 'pending',
    'dead/write': 'pending',
    gated: 'pending',
    'gated/write': 'succeeded',
    'gated/approve': 'pending',
    posting: 'failed',
    'posting/post': 'failed',
    again: 'failed',
    'again/write': 'failed',
    failed: 'failed',
    'failed/write': 'failed',
  });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'active', pause_reason: null });
  expect(await stepOf(db, made, 'posting/post')).toMatchObject({ isOutcomeUnknown: true, crashes: 0 });
  expect(await stepOf(db, made, 'dead/write')).toMatchObject({ nextReason: 'crash_recovery', crashes: 1 });
  expect(await attemptsOf(db, made, 'dead/write')).toMatchObject([{ status: 'failed', isCrashed: true }]);
  expect(await attemptsOf(db, made, 'alive/write')).toMatchObject([{ status: 'running', isCrashed: false }]);
  const topics = await topicsOf(db, made.id);
  expect(topics.slice(0, -1).sort()).toEqual(['crash_recovered', 'nonidempotent_crash_paused', 'repeat_crash_pause']);
  const resumed = (await eventsOf(db, made.id)).at(-1);
  expect(resumed).toMatchObject({ topic: 'project_started', payload: { resumed: true, ...answer.summary } });

  const before = await recordOf(db, made.id);
  expect(await commands.resumeProject(db, args)).toEqual(answer);
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: only a paused project is resumed.
test.each(['planning', 'active', 'completed', 'abandoned'] as const)('a %s project is not resumed', async (status) => {
  const { id } = await project([{ slug: 'a' }], { status });
  const refusal = commands.resumeProject(db, { projectId: id, inFlightTaskIds: [], effectOf, ...by() });
  await expect(refusal).rejects.toMatchObject({ code: 'project_not_paused' });
});

// Guards: the effect of a dead agent step is that of the tool calls which its runs have begun, because another attempt
// would make them again.
test.each([
  ['itself', 'irreversible', 'pending', 'failed'],
  ['a spawned run', 'irreversible', 'pending', 'failed'],
  ['itself', 'irreversible', 'succeeded', 'failed'],
  ['itself', 'irreversible', 'failed', 'pending'],
  ['itself', 'idempotent', 'pending', 'pending'],
] as const)('an agent step dies when %s has begun a call: %s, %s', async (who, effect, status, becomes) => {
  const made = await project([{ slug: 'a', status: 'running' }]);
  const [run, spawned] = [newRunId(), newRunId()];
  await db.rows(sql`
    insert into runs (id, customer_id, transport, prompt, parent_run_id)
    values (${run}, 'acme', 'rest', 'x', null), (${spawned}, 'acme', 'rest', 'x', ${run})`);
  await db.rows(sql`
    insert into run_tool_calls (run_id, call_id, customer_id, turn, position, tool, arguments, effect, status)
    values (${who === 'itself' ? run : spawned}, 'c', 'acme', 1, 0, 't', '{}', ${effect}::tool_effect,
      ${status}::tool_call_status)`);
  await insertAttempt(db, made, 'a/write', { childRunId: run });
  const ref = { projectId: made.id, taskId: made.taskId('a'), iteration: 1 };
  const { changes } = await commands.recoverPhase(db, { ...ref, effectOf });
  expect(changes).toEqual([{ slug: 'a', status: becomes }]);
  expect((await stepOf(db, made, 'a/write')).status).toBe(becomes);
  const paused = { status: 'paused', pause_reason: 'nonidempotent_crash' };
  expect(await projectOf(db, made.id)).toMatchObject(becomes === 'failed' ? paused : { status: 'active' });
});

// Guards: a phase is recovered once, and never in the name of an earlier start.
test('recoverPhase is fenced by the iteration', async () => {
  const made = await project([{ slug: 'a', status: 'running', iteration: 2, onEnd: 'rerun' }, { slug: 'b' }]);
  await insertAttempt(db, made, 'a/write');
  const before = await recordOf(db, made.id);
  const ref = { projectId: made.id, taskId: made.taskId('a'), effectOf };
  const projectStatus = 'active';
  for (const iteration of [1, 3]) {
    expect(await commands.recoverPhase(db, { ...ref, iteration })).toEqual({ changes: [], projectStatus });
  }
  expect(await recordOf(db, made.id)).toEqual(before);
  const ended = await project([{ slug: 'a', status: 'succeeded', iteration: 2 }]);
  const late = { projectId: ended.id, taskId: ended.taskId('a'), effectOf };
  expect((await commands.recoverPhase(db, { ...late, iteration: 1 })).changes).toEqual([]);
  expect((await commands.recoverPhase(db, { ...late, iteration: 2 })).changes).toMatchObject([{ status: 'succeeded' }]);
  const recovered = { changes: [{ slug: 'a', status: 'pending' }], projectStatus };
  expect(await commands.recoverPhase(db, { ...ref, iteration: 2 })).toEqual(recovered);
  // It kept what it consumed, so what was to follow from a change of that still is.
  expect(await taskOf(db, made, 'a')).toMatchObject({ onEnd: 'rerun' });
  const after = await recordOf(db, made.id);
  expect(await commands.recoverPhase(db, { ...ref, iteration: 2 })).toEqual(recovered);
  // Its workflow died before it opened the phase.
  const unopened = { ...ref, taskId: made.taskId('b'), iteration: 1 };
  expect((await commands.recoverPhase(db, unopened)).changes).toEqual([{ slug: 'b', status: 'pending' }]);
  expect(await recordOf(db, made.id)).toEqual(after);
});

// Guards: the death of an attempt is judged once, and does not undo a review that sent the work back meanwhile.
test('judgeCrash', async () => {
  const made = await project([
    { slug: 'a', status: 'running', steps: [{ slug: 'write', status: 'pending', nextReason: 'review_failure' }] },
    { slug: 'b', status: 'running' },
  ]);
  const judge = (attemptId: string) =>
    db.transaction(() =>
      commands.judgeCrash(
        db,
        { id: made.id, customerId: 'acme', title: '', status: 'active', pauseReason: null, startedBy: null },
        attemptId,
        effectOf,
      ),
    );
  const sentBack = await insertAttempt(db, made, 'a/write');
  expect(await judge(sentBack)).toBe('again');
  expect(await stepOf(db, made, 'a/write')).toMatchObject({ nextReason: 'review_failure', crashes: 0 });
  expect(await attemptsOf(db, made, 'a/write')).toMatchObject([{ status: 'failed', isCrashed: true }]);
  const dead = await insertAttempt(db, made, 'b/write');
  expect([await judge(dead), await judge(dead)]).toEqual(['again', 'again']);
  expect(await topicsOf(db, made.id)).toEqual(['crash_recovered']);
  await db.rows(sql`update subtasks set status = 'running' where id = ${made.stepId('b/write')}::uuid`);
  const deadAgain = await insertAttempt(db, made, 'b/write', { attemptNumber: 2 });
  expect([await judge(deadAgain), await judge(deadAgain)]).toEqual(['failed', 'failed']);
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: 'repeat_crash' });
});

// Guards: abandoning ends everything that is unfinished and keeps what was made.
test('abandonProject', async () => {
  const made = await project([
    { slug: 'done', status: 'succeeded', versions: 2 },
    { slug: 'failed', status: 'failed' },
    { slug: 'running', status: 'running', onEnd: 'rerun' },
    { slug: 'waiting', status: 'blocked', steps: [{ slug: 'write', status: 'succeeded' }, gate('approve')] },
    { slug: 'later' },
  ]);
  await insertAttempt(db, made, 'running/write');
  const args = { projectId: made.id, ...by() };
  const answer = await commands.abandonProject(db, args);
  expect(answer.changes.map(({ slug }) => slug).sort()).toEqual(['later', 'running', 'waiting']);
  expect(await statusesOf(db, made.id)).toEqual({
    done: 'succeeded',
    'done/write': 'succeeded',
    failed: 'failed',
    'failed/write': 'failed',
    running: 'skipped',
    'running/write': 'skipped',
    later: 'skipped',
    'later/write': 'skipped',
    waiting: 'skipped',
    'waiting/write': 'succeeded',
    'waiting/approve': 'skipped',
  });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'abandoned', abandoned_at: expect.any(String) });
  const ended = { status: 'failed', error: 'the project was abandoned', completedAt: expect.any(Date) };
  expect(await attemptsOf(db, made, 'running/write')).toMatchObject([ended]);
  expect(await eventsOf(db, made.id)).toMatchObject(
    Array.from({ length: 3 }, () => ({ topic: 'task_skipped', payload: { reason: 'abandoned' } })),
  );
  const before = await recordOf(db, made.id);
  expect(await commands.abandonProject(db, args)).toEqual(answer);
  await expect(commands.abandonProject(db, { ...args, ...by() })).rejects.toMatchObject({ code: 'project_ended' });
  expect(await recordOf(db, made.id)).toEqual(before);
  const { id: projectId } = await project([{ slug: 'a', status: 'succeeded' }], { status: 'completed' });
  await expect(commands.abandonProject(db, { projectId, ...by() })).rejects.toMatchObject({ code: 'project_ended' });
});

// Guards: a project completes once all phases are done, queues webhooks and answers gates; a repeat answers the same.
test('completeProject', async () => {
  const endpoint = { customerId: 'acme', url: 'https://example.com/hook', events: ['project.completed'] };
  await createWebhookStore(db).insertSubscription(endpoint, () => 'sealed');
  const made = await project([
    { slug: 'a', status: 'succeeded' },
    { slug: 'b', status: 'stale' },
    { slug: 'c', status: 'skipped' },
  ]);
  await db.rows(sql`update budgets set spent_usd = 1.25 where id = ${`project:${made.id}`}`);
  const waits = (more = {}) =>
    gate('wait', { gateKind: 'pipeline_dep', gateConfig: { project_id: made.id }, dependsOn: [], ...more });
  const waiting = await project([{ slug: 'a', status: 'blocked', steps: [waits()] }]);
  await project([{ slug: 'a', steps: [waits({ status: 'pending' })] }]);
  await insertProject(db, { customerId: 'other', phases: [{ slug: 'a', status: 'blocked', steps: [waits()] }] });

  const { ended, ...answer } = await commands.completeProject(db, { projectId: made.id });
  expect(ended).toEqual({ workflowSlug: 'book', ageS: expect.any(Number) });
  expect(answer).toEqual({
    completed: true,
    status: 'completed',
    deliveries: [expect.any(String)],
    outputs: [],
    waiters: [{ projectId: waiting.id, subtaskId: waiting.stepId('a/wait') }],
  });
  const [delivery] = await db.rows<{ body: string; event_key: string }>(sql`
    select e.body, e.event_key from webhook_deliveries d join webhook_events e using (customer_id, event_key)
    where d.id = ${answer.deliveries[0]}::uuid`);
  expect(delivery!.event_key).toBe(`project:${made.id}:1`);
  expect(JSON.parse(delivery!.body)).toEqual({
    type: 'project.completed',
    created_at: expect.any(Number),
    data: {
      project_id: made.id,
      title: 'A book',
      workflow_slug: 'book',
      workflow_version: 1,
      status: 'completed',
      cost_total_usd: '1.25',
      completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    },
  });
  const before = await recordOf(db, made.id);
  expect(await commands.completeProject(db, { projectId: made.id })).toEqual(answer);
  expect(await recordOf(db, made.id)).toEqual(before);
  expect(await topicsOf(db, made.id)).toEqual(['project_completed']);

  // Opened again and completed again: another event.
  await commands.retriggerPhase(db, {
    projectId: made.id,
    phaseSlug: 'a',
    addendum: null,
    cascade: 'none',
    ...by(),
  });
  const again = { completed: false, status: 'active', deliveries: [], outputs: [], waiters: [] };
  expect(await commands.completeProject(db, { projectId: made.id })).toEqual(again);
  await db.rows(sql`update tasks set status = 'succeeded' where project_id = ${made.id}`);
  const second = await commands.completeProject(db, { projectId: made.id });
  expect(second.deliveries).toHaveLength(1);
  expect(second.deliveries).not.toEqual(answer.deliveries);
});

// Guards: a paused project, or one with work left, is not completed.
test.each([
  ['paused', 'succeeded'],
  ['active', 'failed'],
  ['active', 'running'],
  ['abandoned', 'succeeded'],
] as const)('a %s project with a %s phase is not completed', async (status, phase) => {
  const made = await project([{ slug: 'a', status: phase }], { status });
  const before = await recordOf(db, made.id);
  expect(await commands.completeProject(db, { projectId: made.id })).toMatchObject({ completed: false, status });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: a project in which nothing can go on is paused with the reason, and no other project is.
test.each([
  [
    [
      { slug: 'a', status: 'failed' },
      { slug: 'b', dependsOn: ['a'] },
    ],
    'paused',
  ],
  [[{ slug: 'a', status: 'failed' }, { slug: 'b' }], 'active'],
  [
    [
      { slug: 'a', status: 'failed' },
      { slug: 'b', status: 'blocked' },
    ],
    'active',
  ],
  [
    [
      { slug: 'a', status: 'stale' },
      { slug: 'b', dependsOn: ['a'] },
    ],
    'active',
  ],
] satisfies [PhaseFixture[], string][])('pauseIdle of %j', async (phases, status) => {
  const { id } = await project(phases);
  const told = await commands.pauseIdle(db, { projectId: id });
  expect(told).toEqual({
    status,
    ...(status === 'paused' && { pause: { reason: 'nothing_dispatchable', since: expect.any(String) } }),
  });
  expect(await commands.pauseIdle(db, { projectId: id })).toEqual(told);
  const paused = [{ topic: 'project_paused', payload: { reason: 'nothing_dispatchable', failed_phases: ['a'] } }];
  expect(await eventsOf(db, id)).toMatchObject(status === 'paused' ? paused : []);
});

// Guards: run-step gets the first step that could begin, and none where the project runs by itself.
test('nextStep', async () => {
  const phases: PhaseFixture[] = [
    { slug: 'a', status: 'stale' },
    { slug: 'b', status: 'failed' },
    { slug: 'c', dependsOn: ['b'] },
    {
      slug: 'd',
      dependsOn: ['a'],
      status: 'running',
      steps: [
        { slug: 'write', status: 'running' },
        { slug: 'review', status: 'pending' },
        { slug: 'queued', status: 'pending', dependsOn: [] },
      ],
    },
    { slug: 'e', dependsOn: ['a'] },
  ];
  const made = await project(phases, { status: 'paused' });
  const step = (path: string, phaseSlug: string) => ({
    subtaskId: made.stepId(path),
    taskId: made.taskId(phaseSlug),
    phaseSlug,
  });
  expect(await commands.nextStep(db, { projectId: made.id })).toEqual(step('d/queued', 'd'));
  await insertAttempt(db, made, 'd/queued');
  expect(await commands.nextStep(db, { projectId: made.id })).toEqual(step('e/write', 'e'));
  await db.rows(sql`update tasks set status = 'skipped' where id = ${made.taskId('e')}::uuid`);
  expect(await commands.nextStep(db, { projectId: made.id })).toBeNull();
  const running = await project([{ slug: 'a' }]);
  expect(await commands.nextStep(db, { projectId: running.id })).toBeNull();
});
