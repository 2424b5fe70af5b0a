/** Edit sessions: how one is set up, and what enacting its plan does. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { checkValue, schemaProblem } from '../../../../src/platform/core/json-schema.ts';
import { first } from '../../../../src/platform/core/present.ts';
import type { Cascade } from '../../../../src/resources/projects/model.ts';
import { editPlanSchema, type EditAction, type EditPlan } from '../../../../src/resources/projects/edit-plans/model.ts';
import * as commands from '../../../../src/resources/projects/commands.ts';
import {
  eventsOf,
  gate,
  insertAttempt,
  projectOf,
  recordOf,
  statusesOf,
  taskOf,
  topicsOf,
  type PhaseFixture,
} from '../../../support/fixtures/projects-store.ts';
import { by, db, project, useAcme } from '../store/acme.ts';

useAcme();

// Guards: a session has three steps after all phases, with a plan schema for this project; a repeat adds none.
test('startEditSession', async () => {
  const made = await project([
    { slug: 'a', status: 'succeeded', versions: 2 },
    { slug: 'b', dependsOn: ['a'] },
  ]);
  const instruction = `Make it ${'very '.repeat(40)}short\nand kind`;
  const args = { projectId: made.id, instruction, cascade: 'strict' as const, ...by() };
  const { change, ...ids } = await commands.startEditSession(db, args);
  expect(change).toEqual({ slug: 'edit-session-1', status: 'pending', taskId: ids.task_id });
  const [task] = await db.rows<Record<string, unknown>>(sql`
    select title, position, task_kind, status, depends_on, instruction, cascade_mode, next_reason, budgets.limit_usd
    from tasks join budgets on budgets.id = 'task:' || tasks.id where tasks.id = ${ids.task_id}::uuid`);
  expect(task).toEqual({
    title: expect.stringMatching(/^Edit: Make it very .{1,80}$/),
    position: 2,
    task_kind: 'edit_session',
    status: 'pending',
    depends_on: [],
    limit_usd: null,
    instruction,
    cascade_mode: 'strict',
    next_reason: 'edit_session',
  });
  const steps = await db.rows<{ id: string; output_schema: Record<string, unknown>; instructions: string }>(sql`
    select id, step_slug, kind, role, assignee, tools, depends_on, gate_kind, output_schema, instructions
    from subtasks where task_id = ${ids.task_id}::uuid order by position`);
  const planner = { step_slug: 'planner', kind: 'agent', role: 'producer', assignee: 'planner', depends_on: [] };
  expect(steps).toMatchObject([
    { id: ids.planner_subtask_id, ...planner, tools: ['read_artifact'] },
    { id: ids.gate_subtask_id, step_slug: 'approve_plan', gate_kind: 'human', depends_on: ['planner'] },
    { id: ids.enact_subtask_id, step_slug: 'enact', assignee: 'enact_edit_plan', depends_on: ['approve_plan'] },
  ]);
  expect(first(steps).output_schema).toEqual(editPlanSchema(['a', 'b']));
  for (const text of [instruction, 'a (a): succeeded; artifact version 2', 'b (b): pending; no artifact; consumes a']) {
    expect(first(steps).instructions).toContain(text);
  }
  expect(await topicsOf(db, made.id)).toEqual(['edit_session_started']);
  const before = await recordOf(db, made.id);
  expect(await commands.startEditSession(db, args)).toEqual({ change, ...ids });
  expect(await recordOf(db, made.id)).toEqual(before);
  const second = await commands.startEditSession(db, { ...args, ...by() });
  expect(second.change.slug).toBe('edit-session-2');
});

// Guards: a completed project becomes active with an edit session, and an abandoned one takes none.
test('startEditSession on projects that have ended', async () => {
  const args = { instruction: 'x', cascade: 'lazy' as const };
  const phases: PhaseFixture[] = [{ slug: 'a', status: 'succeeded' }];
  const completed = await project(phases, { status: 'completed' });
  await commands.startEditSession(db, { ...args, projectId: completed.id, ...by() });
  expect((await projectOf(db, completed.id)).status).toBe('active');
  expect(await topicsOf(db, completed.id)).toEqual(['project_started', 'edit_session_started']);
  const abandoned = await project(phases, { status: 'abandoned' });
  const refusal = commands.startEditSession(db, { ...args, projectId: abandoned.id, ...by() });
  await expect(refusal).rejects.toMatchObject({ code: 'project_ended' });
});

// Guards: the schema accepts exactly the plans of the shape, for as many phases as a project may have.
test('editPlanSchema', () => {
  const schema = editPlanSchema(['a']);
  const action: EditAction = {
    kind: 'edit_artifact',
    phase_slug: 'a',
    content: { any: [1] },
    rationale: 'x',
    risk: 'low',
  };
  const plan = (...actions: unknown[]) => ({ summary: 'x', actions });
  expect(
    schemaProblem(editPlanSchema(Array.from({ length: 200 }, (_, n) => `${'phase-'.repeat(9)}${n}`))),
  ).toBeUndefined();
  expect(checkValue(schema, plan(action, { ...action, kind: 'instruct', instructions: 'y' }), 'plan')).toBeUndefined();
  for (const wrong of [{ phase_slug: 'b' }, { kind: 'delete' }, { risk: 'none' }, { more: 1 }, { rationale: 1 }]) {
    expect(checkValue(schema, plan({ ...action, ...wrong }), 'plan')).toBeDefined();
  }
});

const PHASES: PhaseFixture[] = [
  { slug: 'a', status: 'succeeded', versions: 2, artifactSchemaSlug: 'book/outline' },
  { slug: 'b', dependsOn: ['a'], status: 'stale', versions: 1 },
  { slug: 'c', dependsOn: ['b'], status: 'succeeded' },
  { slug: 'typed', status: 'succeeded', artifactJsonSchema: { type: 'object' } },
  { slug: 'bare', status: 'succeeded', artifactStepSlug: null },
  { slug: 'running', status: 'running' },
];
const about = (kind: EditAction['kind'], phase_slug: string, more: Partial<EditAction> = {}): EditAction => ({
  kind,
  phase_slug,
  rationale: 'x',
  ...more,
});

interface SessionOptions {
  cascade?: Cascade;
  approval?: Record<string, unknown>;
  proposed?: EditAction[];
}

async function approved(actions: EditAction[], { cascade = 'lazy', approval = {}, proposed }: SessionOptions = {}) {
  const plan: EditPlan = { summary: 'x', actions };
  const gateOutput = { decision: 'approved', decided_at: '2026-01-01T00:00:00.000Z', ...approval };
  const session: PhaseFixture = {
    slug: 'edit-session-1',
    taskKind: 'edit_session',
    status: 'running',
    cascadeMode: cascade,
    steps: [
      { slug: 'planner', status: 'succeeded' },
      gate('approve_plan', {
        status: 'succeeded',
        answeredBy: { kind: 'human', id: 'ann' },
        gateOutput: proposed ? { ...gateOutput, revised_plan: plan } : gateOutput,
      }),
      { slug: 'enact', kind: 'action', status: 'running' },
    ],
  };
  const made = await project([...PHASES, session]);
  const output = { summary: 'x', actions: proposed ?? actions };
  const old = { summary: 'x', actions: [about('retrigger', 'c')] };
  const planner = { status: 'succeeded' as const };
  await insertAttempt(db, made, 'edit-session-1/planner', { ...planner, output: old });
  await insertAttempt(db, made, 'edit-session-1/planner', { ...planner, output, attemptNumber: 2 });
  const taskId = made.taskId('edit-session-1');
  const subtaskId = made.stepId('edit-session-1/enact');
  return { made, ref: { projectId: made.id, taskId, subtaskId, iteration: 1 } };
}

// Guards: a plan sets artifacts and runs phases again, with the session's cascade, once for each approval.
test('enactPlan applies the actions', async () => {
  const { made, ref } = await approved([
    about('edit_artifact', 'b', { content: { new: true } }),
    about('instruct', 'a', { instructions: 'Be kind' }),
    about('retrigger', 'typed'),
  ]);
  const enacted = await commands.enactPlan(db, ref);
  expect(enacted.output).toMatchObject({
    applied: [
      { kind: 'edit_artifact', phase_slug: 'b', version: 2, marked_stale: ['c'] },
      { kind: 'instruct', phase_slug: 'a', marked_stale: ['b', 'c'] },
      { kind: 'retrigger', phase_slug: 'typed' },
    ],
    not_applied: [],
  });
  const becomes = { a: 'pending', b: 'stale', c: 'stale', typed: 'pending' };
  expect(Object.fromEntries(enacted.changes.map(({ slug, status }) => [slug, status]))).toEqual(becomes);
  expect(enacted.changes).toHaveLength(4);
  expect(await statusesOf(db, made.id)).toMatchObject({ ...becomes, 'edit-session-1': 'running' });
  expect(await taskOf(db, made, 'a')).toMatchObject({ nextReason: 'edit_session', addenda: ['Be kind'] });
  const versions = await db.rows(sql`
    select version, content, superseded, produced_via, produced_by_subtask_id, produced_by_attempt_id, schema_slug,
      (select s.version from artifacts s where s.id = a.supersedes_artifact_id) as supersedes
    from artifacts a where task_id = ${made.taskId('b')}::uuid order by version`);
  expect(versions).toMatchObject([
    { version: 1, superseded: true },
    {
      version: 2,
      superseded: false,
      content: { new: true },
      produced_via: 'edit_session',
      schema_slug: 'b',
      produced_by_subtask_id: ref.subtaskId,
      produced_by_attempt_id: null,
      supersedes: 1,
    },
  ]);
  const events = await eventsOf(db, made.id);
  expect(events.map(({ topic }) => topic)).toEqual([
    ...['artifact_set_manually', 'task_stale', 'phase_retriggered', 'task_stale', 'phase_retriggered'],
  ]);
  expect(events[0]).toMatchObject({ actor_kind: 'human', payload: { phase_slug: 'b', version: 2 } });
  const before = await recordOf(db, made.id);
  expect(await commands.enactPlan(db, ref)).toEqual(enacted);
  expect(await recordOf(db, made.id)).toEqual(before);
});

// Guards: a revised plan is enacted instead of the proposed one.
test('enactPlan prefers what the person sent', async () => {
  const { ref } = await approved([about('retrigger', 'a')], { proposed: [about('retrigger', 'c')] });
  expect((await commands.enactPlan(db, ref)).output.applied).toMatchObject([{ phase_slug: 'a' }]);
});

// Guards: an impossible action is reported with its reason and stops no other.
test('enactPlan reports what it cannot apply', async () => {
  const { ref } = await approved([
    about('retrigger', 'unknown'),
    about('retrigger', 'edit-session-1'),
    about('retrigger', 'running'),
    about('edit_artifact', 'bare', { content: 'x' }),
    about('edit_artifact', 'a'),
    about('edit_artifact', 'typed', { content: 'text' }),
    about('instruct', 'a', { instructions: ' ' }),
    about('retrigger', 'c'),
    about('edit_artifact', 'c', { content: 'x' }),
  ]);
  const { output } = await commands.enactPlan(db, ref);
  expect(output.applied).toMatchObject([{ kind: 'retrigger', phase_slug: 'c' }]);
  expect(output.not_applied.map(({ action, reason }) => `${action.kind} ${action.phase_slug}: ${reason}`)).toEqual([
    'retrigger unknown: there is no such phase',
    'retrigger edit-session-1: there is no such phase',
    'retrigger running: the phase is running',
    'edit_artifact bare: the phase makes no artifact',
    'edit_artifact a: it has no content',
    'edit_artifact typed: content must be object',
    'instruct a: it has no instructions',
    'edit_artifact c: the phase is to run and will make its artifact itself',
  ]);
});

// Guards: instructions reach a phase that an earlier action made pending.
test('enactPlan adds instructions to a phase that will run anyway', async () => {
  const actions = [about('retrigger', 'a'), about('instruct', 'c', { instructions: 'Be kind' })];
  const { made, ref } = await approved(actions, { cascade: 'strict' });
  const { output, changes } = await commands.enactPlan(db, ref);
  expect(output.not_applied).toEqual([]);
  expect(new Set(changes.map(({ slug, status }) => `${slug} ${status}`))).toEqual(
    new Set(['a pending', 'b pending', 'c pending']),
  );
  expect(await taskOf(db, made, 'c')).toMatchObject({ addenda: ['Be kind'], nextReason: 'cascade_retrigger' });
});

// Guards: nothing is enacted without approval or in the name of an earlier start, and a refused attempt does not use
// the approval up.
test('enactPlan is fenced', async () => {
  const rejected = await approved([about('retrigger', 'a')], { approval: { decision: 'rejected' } });
  const { made, ref } = await approved([about('retrigger', 'a')]);
  for (const late of [rejected.ref, { ...ref, iteration: 2 }]) {
    const before = await recordOf(db, late.projectId);
    expect(await commands.enactPlan(db, late)).toEqual({ output: { applied: [], not_applied: [] }, changes: [] });
    expect(await recordOf(db, late.projectId)).toEqual(before);
  }
  expect((await commands.enactPlan(db, ref)).output.applied).toHaveLength(1);
  expect((await taskOf(db, made, 'a')).status).toBe('pending');
});
