/** Decisions on the plans of edit sessions, and sessions that are given up. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId } from '../../../../src/platform/core/ids.ts';
import { present } from '../../../../src/platform/core/present.ts';
import { PAUSE_REASONS, type PauseReason } from '../../../../src/resources/projects/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  attemptsOf,
  gate,
  insertAttempt,
  projectOf,
  recordOf,
  statusesOf,
  stepOf,
  topicsOf,
  type InsertedProject,
  type PhaseFixture,
  type StepFixture,
} from '../../../support/fixtures/projects-store.ts';
import { answer, by, db, project, useAcme } from '../store/acme.ts';

useAcme();

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
  expect(present(gateOutput)['revised_plan']).toEqual(said === 'edit_plan' ? plan : undefined);
  const { feedback } = await stepOf(db, made, 'a/planner');
  expect(feedback).toEqual(said === 'request_changes' ? ['Because'] : []);
  const before = await recordOf(db, made.id);
  expect(await commands.resolveEditPlan(db, args)).toEqual(resolved);
  const second = commands.resolveEditPlan(db, decide(made, 'approved'));
  await expect(second).rejects.toMatchObject({ code: 'gate_not_waiting' });
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: the plain gate endpoint can reject a plan too, without stopping the project.
test('a plan is rejected through its gate', async () => {
  const made = await session();
  expect(await commands.resolveGate(db, answer(made, 'rejected'))).toMatchObject({ gate: { effect: 'skip' } });
  expect(await statusesOf(db, made.id)).toMatchObject({ 'a/approve': 'succeeded', 'a/enact': 'skipped' });
  expect(await topicsOf(db, made.id)).toEqual(['gate_resolved', 'subtask_skipped']);
  expect((await projectOf(db, made.id)).status).toBe('active');
});

// Guards: only an edit session of this project, whose gate waits, can be answered as one.
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

// Guards: an edit session can be discarded in any state until its plan is enacted, and a project that it had stopped
// goes on.
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

// Guards: an enacted plan stays, and a project that something else stopped stays stopped.
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

/** A project that is paused for this reason, with a session that has not begun and a step of another phase. */
const besides = (pauseReason: PauseReason, other: StepFixture['status']) =>
  project(
    [
      { slug: 'b', status: other, steps: [{ slug: 'write', status: other }] },
      {
        slug: 'a',
        taskKind: 'edit_session',
        status: 'pending',
        steps: [{ slug: 'planner', status: 'pending' }, gate('approve', { status: 'pending' })],
      },
    ],
    { status: 'paused', pauseReason },
  );

/** The latest attempt of the step ended at a budget. */
async function stopAtBudget(made: InsertedProject, path: string): Promise<void> {
  const runId = newRunId();
  await db.rows(sql`
    insert into runs (id, customer_id, transport, prompt, status, error, error_code, completed_at)
    values (${runId}, ${made.customerId}, 'rest', 'x', 'failed', 'too little', 'budget_exceeded', now())`);
  await insertAttempt(db, made, path, { status: 'failed', childRunId: runId });
}

// Guards: whatever stopped a project, a session that has nothing to do with it does not make the project go on.
test.each(PAUSE_REASONS)('a session beside a project that was paused by %s', async (reason) => {
  const made = await besides(reason, reason === 'budget_breached' || reason === 'gate_expired' ? 'pending' : 'failed');
  if (reason === 'budget_breached') await stopAtBudget(made, 'b/write');
  expect(await commands.resolveEditPlan(db, decide(made, 'rejected'))).toMatchObject({ reactivated: false });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: reason });
});

// Guards: the same where the reason alone is left of what stopped it, and where the session was held back as well.
test.each(PAUSE_REASONS)('a session beside %s alone', async (reason) => {
  const made = await besides(reason, 'succeeded');
  expect(await commands.resolveEditPlan(db, decide(made, 'rejected'))).toMatchObject({ reactivated: false });
  expect(await projectOf(db, made.id)).toMatchObject({ status: 'paused', pause_reason: reason });
});

// Guards: a project whose budget held back the planner of the session goes on without the session, unless that budget
// held back others too.
test.each([
  ['alone', true],
  ['and others', false],
])('a budget holds back the planner %s', async (_, reactivated) => {
  const made = await besides('budget_breached', reactivated ? 'succeeded' : 'pending');
  await stopAtBudget(made, 'a/planner');
  if (!reactivated) await stopAtBudget(made, 'b/write');
  expect(await commands.resolveEditPlan(db, decide(made, 'rejected'))).toMatchObject({ reactivated });
  expect((await projectOf(db, made.id)).status).toBe(reactivated ? 'active' : 'paused');
});
