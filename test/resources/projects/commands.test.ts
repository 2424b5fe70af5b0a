/** Commands on projects and their steps, over HTTP and through the workflow: what they answer, and what they refuse. */
import { describe, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import {
  attemptsOf,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  topicsOf,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { eventually } from '../../support/service/service.ts';
import { acme, completedProject, gatedProject, other, post, service, useCommandProjects } from './command-projects.ts';

useCommandProjects();

describe('pause, resume and abandon', () => {
  // Guards: projects.pause, projects.resume, projects.abandon: the read model is true when the command answers, each
  // refusal is a 409, and who did it is recorded.
  test('move a project through its statuses', async () => {
    const { id, gate } = await gatedProject();
    expect(await post(id, 'pause')).toMatchObject({ status: 200, body: { project_id: id, status: 'paused' } });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'requested' });

    const summary = { crashed_attempts_recovered: 0, repeat_crash_failures: 0, nonidempotent_pauses: 0 };
    const resumed = await post(id, 'resume');
    expect(resumed.status).toBe(200);
    expect(resumed.body).toEqual(summary);
    expect(await projectOf(acme, id)).toMatchObject({ status: 'active', pause_reason: null });
    expect(await post(id, 'resume')).toMatchObject({ status: 409, body: { detail: expect.any(String) } });

    expect(await post(id, 'abandon')).toMatchObject({ status: 200, body: { project_id: id, status: 'abandoned' } });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'abandoned', abandoned_at: expect.any(String) });
    const paused = (await projectEventsOf(acme, id)).find(({ topic }) => topic === 'project_paused');
    expect(paused).toMatchObject({ actor_kind: 'human', actor_id: acme.caller.actor });

    const approve = { decision: 'approved' };
    for (const [path, body] of [
      ['pause'],
      ['resume'],
      ['abandon'],
      ['run-step'],
      [`subtasks/${gate.id}/retry`],
      [`subtasks/${gate.id}/resolve-gate`, approve],
      ['phases/plan/retrigger'],
      ['edit-sessions', { instruction: 'Shorter' }],
    ] as [string, unknown?][]) {
      expect([path, await post(id, path, body)]).toEqual([path, expect.objectContaining({ status: 409 })]);
    }
  });

  // Guards: a project that has ended cannot be paused or resumed, although its workflow has closed.
  test('are refused by a completed project', async () => {
    const id = await completedProject();
    for (const command of ['pause', 'resume', 'abandon']) {
      expect([command, await post(id, command)]).toEqual([command, expect.objectContaining({ status: 409 })]);
    }
    expect(await projectOf(acme, id)).toMatchObject({ status: 'completed' });
  });

  // Guards: a workflow that an operator terminated is started again by the next command, from the record.
  test('reach a project whose workflow was terminated', async () => {
    const { id, gate } = await gatedProject();
    await service.runtime.temporal.client.workflow.getHandle(`project-${id}`).terminate('by an operator');
    expect(await post(id, 'pause')).toMatchObject({ status: 200 });
    expect(await post(id, 'resume')).toMatchObject({ status: 200 });
    await untilStep(acme, id, 'plan', 'approve', 'blocked');
    expect(await post(id, `subtasks/${gate.id}/resolve-gate`, { decision: 'approved' })).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });
});

describe('resolve-gate', () => {
  // Guards: projects.resolveGate: the decision is on the gate when the answer comes, decided by the session; the second one is told 409.
  test('decides once', async () => {
    const { id, gate } = await gatedProject();
    const body = { decision: 'approved', comment: ' Fine. ', decided_by: 'somebody else' };
    // More than the server takes at once on one workflow.
    const asks = Array.from({ length: 25 }, () => post(id, `subtasks/${gate.id}/resolve-gate`, body));
    const answers = await Promise.all(asks);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(24).fill(409)]);
    expect(present(answers.find(({ status }) => status === 200)).body).toMatchObject({
      id: gate.id,
      kind: 'gate',
      gate_output: { decision: 'approved', decided_by: acme.caller.actor, comment: 'Fine.' },
    });
    await untilProject(acme, id, 'completed');
    expect(await post(id, `subtasks/${gate.id}/resolve-gate`, body)).toMatchObject({ status: 409 });
  });

  // Guards: a rejected gate sends the work back with the comment.
  test('sends back what is rejected', async () => {
    const { id, gate } = await gatedProject();
    const body = { decision: 'rejected', comment: 'Too long' };
    expect(await post(id, `subtasks/${gate.id}/resolve-gate`, body)).toMatchObject({ status: 200 });
    await untilStep(acme, id, 'plan', 'approve', 'blocked');
    const { id: writer } = await stepOf(acme, id, 'plan', 'write');
    expect((await attemptsOf(acme, id, writer)).map(({ attempt_reason }) => attempt_reason)).toEqual([
      'initial',
      'manual_rework',
    ]);
    await post(id, 'abandon');
  });

  // Guards: 400 before anything else, 404 for what is not there, 409 for what is no waiting human gate.
  test('refuses', async () => {
    const { id, gate } = await gatedProject();
    const resolve = (subtaskId: string, body: unknown, tenant = acme) =>
      post(id, `subtasks/${subtaskId}/resolve-gate`, body, tenant);
    const approve = { decision: 'approved' };
    expect(await resolve(gate.id, { decision: 'perhaps' })).toMatchObject({
      status: 400,
      body: { detail: 'invalid decision: perhaps' },
    });
    expect(await resolve(gate.id, { decision: 'edit_plan' })).toMatchObject({ status: 400 });
    expect(await resolve(gate.id, {})).toMatchObject({ status: 400, body: { detail: 'decision required' } });
    expect(await resolve(gate.id, undefined)).toMatchObject({ status: 400 });
    expect(await resolve(gate.id, { ...approve, comment: 'x'.repeat(10_001) })).toMatchObject({ status: 400 });
    for (const nothing of [newUuid(), 'nonsense']) {
      expect(await resolve(nothing, approve)).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    }
    expect(await resolve(gate.id, approve, other)).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    const { id: writer } = await stepOf(acme, id, 'plan', 'write');
    expect(await resolve(writer, approve)).toMatchObject({ status: 409 });
    expect(await stepOf(acme, id, 'plan', 'approve')).toMatchObject({ status: 'blocked', gate_output: null });
    await post(id, 'abandon');
  });
});

describe('run-step', () => {
  // Guards: projects.runStep: one step of a paused project runs and no other; an active or finished one answers that it ran none.
  test('runs one step', async () => {
    const { id, gate } = await gatedProject();
    expect(await post(id, 'run-step')).toMatchObject({ status: 200, body: { ran_step: false, message: /active/ } });
    await post(id, 'pause');
    await post(id, `subtasks/${gate.id}/resolve-gate`, { decision: 'approved' });
    // The gate is answered at once; its phase ends when it has heard.
    await eventually(async () => expect(await phaseStatuses(acme, id)).toMatchObject({ plan: 'succeeded' }));
    const ran = await post(id, 'run-step');
    expect(ran.status).toBe(200);
    expect(ran.body).toEqual({
      subtask_id: (await stepOf(acme, id, 'article', 'write')).id,
      status: 'succeeded',
      attempt_number: 1,
      attempt_reason: 'initial',
      output_validated: null,
      error: null,
      duration_ms: expect.any(Number),
    });
    expect(await post(id, 'run-step')).toMatchObject({
      status: 200,
      body: { ran_step: false, message: expect.any(String) },
    });
    await post(id, 'resume');
    await untilProject(acme, id, 'completed');
    expect(await post(id, 'run-step')).toMatchObject({ body: { ran_step: false, message: /completed/ } });
  });
});

describe('retry', () => {
  // Guards: projects.retrySubtask: a failed step gets another attempt, with what the person adds; its project goes on when it is resumed.
  test('queues one attempt', async () => {
    const id = await startProject(acme, 'failing');
    await untilProject(acme, id, 'paused');
    const step = await untilStep(acme, id, 'plan', 'write', 'failed');
    const retried = await post(id, `subtasks/${step.id}/retry?addendum_brief=Mind%20the%20gap`);
    expect(retried).toMatchObject({
      status: 200,
      body: { subtask_id: step.id, attempt_number: 2, attempt_reason: 'manual_retry', status: 'pending', output: null },
    });
    expect(await stepOf(acme, id, 'plan', 'write')).toMatchObject({ status: 'pending', attempt_count: 2 });
    expect(await post(id, `subtasks/${step.id}/retry`)).toMatchObject({ status: 409 });
    expect(await topicsOf(acme, id)).toContain('subtask_retry_queued');
    await post(id, 'abandon');
  });

  // Guards: a rejected gate can be asked once more; because a gate has no attempts, the answer is the step.
  test('opens a rejected gate again', async () => {
    const id = await startProject(acme, 'lonely');
    const gate = await untilStep(acme, id, 'wait', 'approve', 'blocked');
    await post(id, `subtasks/${gate.id}/resolve-gate`, { decision: 'rejected' });
    await untilProject(acme, id, 'paused');
    const retried = await post(id, `subtasks/${gate.id}/retry`);
    expect(retried).toMatchObject({
      status: 200,
      body: { id: gate.id, kind: 'gate', status: 'pending', gate_output: null },
    });
    expect(await post(id, 'resume')).toMatchObject({ status: 200 });
    await untilStep(acme, id, 'wait', 'approve', 'blocked');
    expect(await post(id, `subtasks/${gate.id}/resolve-gate`, { decision: 'approved' })).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
  });

  test('refuses', async () => {
    const id = await completedProject();
    const { id: writer } = await stepOf(acme, id, 'plan', 'write');
    expect(await post(id, `subtasks/${writer}/retry`)).toMatchObject({ status: 409 });
    expect(await post(id, `subtasks/${newUuid()}/retry`)).toMatchObject({ status: 404 });
    expect(await post(id, `subtasks/${writer}/retry`, undefined, other)).toMatchObject({ status: 404 });
    const long = 'x'.repeat(10_001);
    expect(await post(id, `subtasks/${writer}/retry?addendum_brief=${long}`)).toMatchObject({ status: 400 });
  });
});
