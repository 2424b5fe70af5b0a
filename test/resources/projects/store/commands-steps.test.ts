/** Retries by hand, gates and edit plans: what moves the steps of a phase. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../../src/platform/core/ids.ts';
import { SYSTEM, type Decision } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/store/commands/index.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
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
  type InsertedProject,
  type PhaseFixture,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let db: TestDatabase['db'];
beforeAll(async () => {
  database = await openTestDatabase();
  db = database.db;
  await makeWorkspace(db, 'acc_acme');
});
afterAll(() => database?.close());

const ann = { kind: 'human', id: 'ann@acme.example' } as const;
let given = 0;
const by = () => ({ actor: ann, commandId: `command-${(given += 1)}` });
const project = (phases: PhaseFixture[], more = {}) => insertProject(db, { customerId: 'acme', phases, ...more });
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

// Guards: a retry queues one attempt, gives the step all of its attempts again, and takes what consumed it along.
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

// Guards: a phase at work is told of the retry instead of being started a second time.
test('retrySubtask of a phase under way', async () => {
  const made = await project([{ slug: 'a', status: 'running', steps: DRAFT }]);
  expect(await commands.retrySubtask(db, retry(made, 'a/write'))).toMatchObject({ inFlight: true, change: null });
  expect((await taskOf(db, made, 'a')).status).toBe('running');
});

// Guards: a retry of an earlier step does not repeat what may have had its effect already.
test('retrySubtask leaves an unknown outcome to a person', async () => {
  const steps: StepFixture[] = [
    { slug: 'write', status: 'failed' },
    { slug: 'post', kind: 'action', status: 'failed', isOutcomeUnknown: true },
  ];
  const made = await project([{ slug: 'a', status: 'failed', steps }]);
  expect((await commands.retrySubtask(db, retry(made, 'a/write'))).reset).toEqual([]);
  expect(await stepOf(db, made, 'a/post')).toMatchObject({ status: 'failed', isOutcomeUnknown: true });
});

// Guards: work that was turned down is reworked; a gate opens anew; an unknown outcome is settled by the person.
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

// Guards: what is not there, not failed or over is refused, and nothing is written.
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
const answer = (made: InsertedProject, decision: Decision, more = {}) => ({
  projectId: made.id,
  gateKind: null,
  ...by(),
  answer: { subtask_id: made.stepId('a/approve'), decision, ...more },
});

// Guards: the first decision stands, with who made it; the second is refused; a repeat of the first is not.
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

// Guards: of decisions that arrive together one wins.
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

// Guards: a rejection stops the phase for a person, unless the gate asks for the work to be done again.
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

// Guards: news from outside wakes a project, except one that a person stopped, and except by a rejection.
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

// Guards: a clock starts nothing that a rejection, a failure or a budget stopped.
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

// Guards: work that nobody looks at is not done over and over: the third time in a row pauses, and no time-out gives
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

// Guards: a caller reaches only waiting gates of its kind and project; a signal that does not is noted, never thrown.
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
  const ignored = { topic: 'gate_resolved', level: 'warn', actor_kind: 'external', actor_id: 'a\ufffd' };
  for (const event of events) expect(event).toMatchObject({ ...ignored, payload: { ignored: true } });
  // What looks like an escape but is text is taken.
  const text = { comment: String.raw`a\u0000b \\ud800` };
  const taken = await commands.resolveGate(db, { ...answer(made, 'approved', text), ...external });
  expect(taken).toMatchObject({ outcome: 'resolved' });
  expect(await stepOf(db, made, 'a/approve')).toMatchObject({ gateOutput: text });
});

const session = (more: Partial<PhaseFixture> = {}, status: StepFixture['status'] = 'blocked') =>
  project([
    {
      slug: 'a',
      taskKind: 'edit_session',
      status: 'blocked',
      cascadeMode: 'lazy',
      ...more,
      steps: [
        { slug: 'planner', status: 'succeeded' },
        gate('approve', { status: status as 'blocked' }),
        { slug: 'enact', kind: 'action', role: 'utility', status: 'pending' },
      ],
    },
  ]);
const plan = { summary: 'x', actions: [] };
const decide = (made: InsertedProject, decision: 'approved' | 'edit_plan' | 'rejected' | 'request_changes') => ({
  projectId: made.id,
  taskId: made.taskId('a'),
  decision,
  comment: 'Because',
  decidedBy: 'ann',
  ...by(),
  revisedPlan: decision === 'edit_plan' ? plan : null,
});

// Guards: each of the four answers to a plan does what it says, and none pauses the project.
test.each([
  ['approved', 'pass', 'approved', { approve: 'succeeded', enact: 'pending', planner: 'succeeded' }],
  ['edit_plan', 'pass', 'approved', { approve: 'succeeded', enact: 'pending', planner: 'succeeded' }],
  ['rejected', 'skip', 'rejected', { approve: 'succeeded', enact: 'skipped', planner: 'succeeded' }],
  ['request_changes', 'rework', 'rejected', { approve: 'pending', enact: 'pending', planner: 'pending' }],
] as const)('a plan is answered %s', async (said, effect, decision, steps) => {
  const made = await session();
  const args = decide(made, said);
  const resolved = await commands.resolveEditPlan(db, args);
  expect(resolved).toMatchObject({ gate: { effect, decision }, phaseSlug: 'a', projectStatus: 'active' });
  const statuses = await statusesOf(db, made.id);
  for (const [slug, status] of Object.entries(steps)) expect([slug, statuses[`a/${slug}`]]).toEqual([slug, status]);
  const { gateOutput } = await stepOf(db, made, 'a/approve');
  expect(gateOutput).toMatchObject({ decision, plan_decision: said, decided_by: 'ann', comment: 'Because' });
  expect(gateOutput!['revised_plan']).toEqual(said === 'edit_plan' ? plan : undefined);
  const { feedback } = await stepOf(db, made, 'a/planner');
  expect(feedback).toEqual(said === 'request_changes' ? ['Because'] : []);
  const before = await recordOf(db, made.id);
  expect(await commands.resolveEditPlan(db, args)).toEqual(resolved);
  const second = commands.resolveEditPlan(db, decide(made, 'approved'));
  await expect(second).rejects.toMatchObject({ code: 'gate_not_waiting' });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: the plain gate route may turn a plan down too, without stopping the project.
test('a plan is rejected through its gate', async () => {
  const made = await session();
  expect(await commands.resolveGate(db, answer(made, 'rejected'))).toMatchObject({ gate: { effect: 'skip' } });
  expect(await statusesOf(db, made.id)).toMatchObject({ 'a/approve': 'succeeded', 'a/enact': 'skipped' });
  expect(await topicsOf(db, made.id)).toEqual(['gate_resolved', 'subtask_skipped']);
  expect((await projectOf(db, made.id)).status).toBe('active');
});

// Guards: only an edit session of this project is answered as one, and only while its gate waits.
test('resolveEditPlan refuses', async () => {
  const made = await session();
  const phase = await session({ taskKind: 'regular' });
  const planning = await session({}, 'pending');
  const refusals = [
    [decide(phase, 'approved'), 'not_found'],
    [{ ...decide(phase, 'approved'), taskId: made.taskId('a') }, 'not_found'],
    [decide(planning, 'approved'), 'gate_not_waiting'],
  ] as const;
  for (const [args, code] of refusals) {
    await expect(commands.resolveEditPlan(db, args)).rejects.toMatchObject({ code });
  }
});

// Guards: an edit session is given up in any state until its plan is enacted, and what it had stopped goes on.
test.each([
  ['its planner failed', 'failed', ['failed', 'pending', 'pending']],
  ['its planner is at work', 'running', ['running', 'pending', 'pending']],
  ['it has not begun', 'pending', ['pending', 'pending', 'pending']],
  ['its approved plan could not be enacted', 'failed', ['succeeded', 'succeeded', 'failed']],
] as const)('a session is rejected when %s', async (_, status, [planner, approve, enact]) => {
  const pauseReason = status === 'failed' ? ('subtask_failed' as const) : null;
  const made = await project(
    [
      { slug: 'done', status: 'succeeded' },
      {
        slug: 'a',
        taskKind: 'edit_session',
        status,
        steps: [
          { slug: 'planner', status: planner },
          gate('approve', { status: approve, gateOutput: approve === 'succeeded' ? { decision: 'approved' } : null }),
          { slug: 'enact', kind: 'action', role: 'utility', status: enact },
        ],
      },
    ],
    pauseReason ? { status: 'paused', pauseReason } : {},
  );
  if (planner === 'running') await insertAttempt(db, made, 'a/planner');
  const args = decide(made, 'rejected');
  const discarded = await commands.resolveEditPlan(db, args);
  expect(discarded).toEqual({
    outcome: 'discarded',
    change: { slug: 'a', status: 'skipped' },
    reactivated: pauseReason !== null,
  });
  expect((await projectOf(db, made.id)).status).toBe('active');
  const statuses = await statusesOf(db, made.id);
  expect([statuses['a'], statuses['a/enact']]).toEqual(['skipped', 'skipped']);
  expect((await attemptsOf(db, made, 'a/planner')).filter((each) => each.status === 'running')).toEqual([]);
  const before = await recordOf(db, made.id);
  expect(await commands.resolveEditPlan(db, args)).toEqual(discarded);
  const again = commands.resolveEditPlan(db, decide(made, 'rejected'));
  await expect(again).rejects.toMatchObject({ code: 'gate_not_waiting' });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: what is enacted stays; and a project that something else has stopped stays stopped.
test('a session that is too far, and one beside other trouble', async () => {
  const made = await session({}, 'succeeded');
  const enact = `enact:${made.stepId('a/enact')}:now`;
  await db.rows(sql`
    insert into project_commands (project_id, command_id, result) values (${made.id}, ${enact}, '{}')`);
  await expect(commands.resolveEditPlan(db, decide(made, 'rejected'))).rejects.toMatchObject({
    code: 'gate_not_waiting',
    message: expect.stringContaining('enacted'),
  });
  const troubled = await project(
    [
      { slug: 'b', status: 'failed' },
      {
        slug: 'a',
        taskKind: 'edit_session',
        status: 'failed',
        steps: [{ slug: 'planner', status: 'failed' }, gate('approve', { status: 'pending' })],
      },
    ],
    { status: 'paused', pauseReason: 'subtask_failed' },
  );
  const discarded = await commands.resolveEditPlan(db, decide(troubled, 'rejected'));
  expect(discarded).toMatchObject({ outcome: 'discarded', reactivated: false });
  expect((await projectOf(db, troubled.id)).status).toBe('paused');
});
