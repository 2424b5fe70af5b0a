/** Commands on projects, over HTTP and through the workflow: what they answer, and what they refuse. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { readHistories } from '../../support/temporal/histories.ts';
import {
  agentStep,
  artifactsOf,
  attemptsOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  tasksOf,
  topicsOf,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;

beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  await makeTemplate(acme, 'gated', [
    phaseSpec('plan', [agentStep('write'), gateStep('approve', 'human', { on_reject: 'rework' })]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['plan'] }),
  ]);
  await makeTemplate(acme, 'two', [
    phaseSpec('plan', [agentStep('write')]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['plan'] }),
  ]);
  await makeTemplate(acme, 'lonely', [phaseSpec('wait', [gateStep('approve', 'human', { on_reject: 'pause' })])]);
  await makeTemplate(acme, 'failing', [
    phaseSpec('plan', [agentStep('write', { instructions: 'Write. [[fail-status:400]]', max_attempts: 1 })]),
  ]);
});
afterAll(() => service?.close());

const at = (id: string, path: string) => `/v1/projects/${id}/${path}`;
const post = (id: string, path: string, body?: unknown, tenant = acme) => tenant.cp('POST', at(id, path), body);

/** Waits for a person at its first gate. */
async function gatedProject() {
  const id = await startProject(acme, 'gated');
  const gate = await untilStep(acme, id, 'plan', 'approve', 'blocked');
  return { id, gate };
}
async function completedProject(): Promise<string> {
  const id = await startProject(acme, 'two');
  await untilProject(acme, id, 'completed');
  return id;
}

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

  // Guards: a project that is over cannot be paused or resumed, though its workflow has closed.
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
    expect(answers.find(({ status }) => status === 200)!.body).toMatchObject({
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

  // Guards: a gate that was rejected can be asked once more; it has no attempts, so the step is answered.
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

describe('retrigger and revert-artifact', () => {
  // Guards: projects.retrigger, projects.revertArtifact: a completed project goes back to work, what consumed the old
  // version is stale, and it completes again.
  test('make a new version, and take it back', async () => {
    const id = await completedProject();
    const again = await post(id, 'phases/plan/retrigger');
    expect(again.status).toBe(200);
    expect(again.body).toEqual({
      project_id: id,
      phase_slug: 'plan',
      cascade: 'lazy',
      affected_phase_slugs: ['article'],
      marked_stale: ['article'],
      auto_retriggered: [],
      cost_estimate_usd: expect.stringMatching(/^\d+(\.\d+)?$/),
    });
    expect(await projectOf(acme, id)).toMatchObject({ has_stale_phases: true });
    await untilProject(acme, id, 'completed');
    expect((await artifactsOf(acme, id)).map(({ phase_slug, version }) => `${phase_slug} ${version}`)).toEqual([
      'plan 2',
      'article 1',
    ]);

    const reverted = await post(id, 'phases/plan/revert-artifact', {
      target_version: 1,
      cascade: 'none',
      reason: 'Better',
    });
    expect(reverted.status).toBe(200);
    expect(reverted.body).toEqual({
      artifact: expect.objectContaining({ phase_slug: 'plan', version: 1, superseded: false }),
      cascade: 'none',
      affected_phase_slugs: [],
      marked_stale: [],
      auto_retriggered: [],
    });
    expect(await post(id, 'phases/plan/revert-artifact', { target_version: 1 })).toMatchObject({ status: 409 });
    await untilProject(acme, id, 'completed');

    const strict = await post(id, 'phases/plan/retrigger', { cascade: 'strict', addendum_brief: 'More on yeast' });
    expect(strict).toMatchObject({ status: 200, body: { cascade: 'strict', auto_retriggered: ['article'] } });
    await untilProject(acme, id, 'completed');
    expect(await phaseStatuses(acme, id)).toEqual({ plan: 'succeeded', article: 'succeeded' });
  });

  // Guards: 400 for what is badly said, 404 for what is not there, 409 for a phase at work.
  test('refuse', async () => {
    const { id } = await gatedProject();
    const bad = { status: 400, body: { detail: expect.any(String) } };
    expect(await post(id, 'phases/plan/retrigger', { cascade: 'wild' })).toMatchObject({
      status: 400,
      body: { detail: 'cascade must be one of lazy, strict, none, default' },
    });
    for (const body of [{ cascade: 1 }, { addendum_brief: 7 }, { addendum_brief: 'x'.repeat(10_001) }, [], 'x']) {
      expect(await post(id, 'phases/plan/retrigger', body)).toMatchObject(bad);
    }
    for (const target_version of [undefined, 0, -1, 1.5, '1', 1e300]) {
      expect(await post(id, 'phases/plan/revert-artifact', { target_version })).toMatchObject(bad);
    }
    expect(await post(id, 'phases/plan/revert-artifact', { target_version: 1, cascade: 'x' })).toMatchObject(bad);

    const unknown = { status: 404, body: { detail: 'not_found' } };
    expect(await post(id, 'phases/nowhere/retrigger')).toMatchObject(unknown);
    expect(await post('nothing-000000', 'phases/plan/retrigger')).toMatchObject(unknown);
    expect(await post(id, 'phases/plan/retrigger', {}, other)).toMatchObject(unknown);
    expect(await post(id, 'phases/nowhere/revert-artifact', { target_version: 1 })).toMatchObject(unknown);
    expect(await post(id, 'phases/plan/revert-artifact', { target_version: 9 })).toMatchObject(unknown);
    expect(await post(id, 'phases/plan/revert-artifact', { target_version: 2_147_483_648 })).toMatchObject(unknown);

    expect(await post(id, 'phases/plan/retrigger')).toMatchObject({ status: 409 });
    expect(await post(id, 'phases/article/retrigger')).toMatchObject({ status: 409 });
    await post(id, 'abandon');
  });
});

describe('edit sessions', () => {
  async function session(id: string, more = {}) {
    const started = await post(id, 'edit-sessions', { instruction: 'Make it shorter.', ...more });
    expect(started.status).toBe(201);
    expect(started.body).toEqual({
      task_id: expect.any(String),
      planner_subtask_id: expect.any(String),
      gate_subtask_id: expect.any(String),
      enact_subtask_id: expect.any(String),
    });
    await untilStep(acme, id, 'edit-session-1', 'approve_plan', 'blocked');
    return started.body;
  }

  // Guards: projects.startEditSession, projects.resolveEditPlan: a plan that a person wrote is carried out.
  test('carry out a revised plan', async () => {
    const id = await completedProject();
    const { task_id, gate_subtask_id } = await session(id, { cascade_mode: 'none' });
    expect((await tasksOf(acme, id)).find((task) => task.id === task_id)).toMatchObject({ task_kind: 'edit_session' });
    const revised_plan = {
      summary: 'One new outline',
      actions: [
        {
          kind: 'edit_artifact',
          phase_slug: 'plan',
          content: 'A plan by hand',
          rationale: 'Shorter',
          instructions: '',
        },
      ],
    };
    const approve = (body: unknown) => post(id, `edit-sessions/${task_id}/approve`, body);
    for (const body of [
      { decision: 'edit_plan' },
      { decision: 'approved', revised_plan },
      { decision: 'edit_plan', revised_plan: { summary: 'x' } },
      { decision: 'edit_plan', revised_plan: { ...revised_plan, actions: [] } },
      { decision: 'edit_plan', revised_plan: { ...revised_plan, actions: [{ kind: 'burn', phase_slug: 'plan' }] } },
      { decision: 'edit_plan', revised_plan: JSON.parse(JSON.stringify(revised_plan).replace('"plan"', '"nowhere"')) },
      {},
    ]) {
      expect([body, await approve(body)]).toEqual([body, expect.objectContaining({ status: 400 })]);
    }
    expect(await approve({ decision: 'maybe' })).toMatchObject({ body: { detail: 'invalid decision: maybe' } });

    const edited = await approve({ decision: 'edit_plan', revised_plan, comment: 'Like this' });
    expect(edited).toMatchObject({ status: 200, body: { id: task_id, task_kind: 'edit_session' } });
    await untilProject(acme, id, 'completed');
    const [plan] = await artifactsOf(acme, id);
    expect(plan).toMatchObject({
      phase_slug: 'plan',
      version: 2,
      content: 'A plan by hand',
      produced_via: 'edit_session',
    });
    expect(await approve({ decision: 'approved' })).toMatchObject({ status: 409 });
    const gates = await acme.cp('GET', at(id, `subtasks/${gate_subtask_id}/events`));
    expect(gates.body.data.map(({ topic }: { topic: string }) => topic)).toContain('gate_resolved');
    // What people write is in the record and not in the history.
    const { temporal, config } = service.runtime;
    const history = await eventually(async () => {
      const ofProject = (await readHistories(temporal, config.TASK_QUEUE_PREFIX)).get(`project-${id}`);
      if (!ofProject?.includes('resolveEditPlan')) throw new Error('not listed yet');
      return ofProject;
    });
    expect(history).toContain(task_id);
    for (const text of ['A plan by hand', 'Make it shorter.', 'Like this']) expect(history).not.toContain(text);
  });

  // Guards: a rejected plan changes nothing; what is no edit session of this project is a 404.
  test('change nothing when rejected', async () => {
    const id = await completedProject();
    const { task_id } = await session(id);
    const before = await artifactsOf(acme, id);
    const [phase] = await tasksOf(acme, id);
    for (const nothing of [phase!.id, newUuid(), 'nonsense']) {
      expect(await post(id, `edit-sessions/${nothing}/approve`, { decision: 'approved' })).toMatchObject({
        status: 404,
        body: { detail: 'not_found' },
      });
    }
    const foreign = await post(id, `edit-sessions/${task_id}/approve`, { decision: 'approved' }, other);
    expect(foreign).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    expect(await post(id, `edit-sessions/${task_id}/approve`, { decision: 'rejected' })).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await artifactsOf(acme, id)).toEqual(before);
  });

  test.each([[{}], [{ instruction: '  ' }], [{ instruction: 'x', cascade_mode: 'wild' }], [{ instruction: 7 }]])(
    'refuse %j',
    async (body) => {
      const { id } = await gatedProject();
      expect(await post(id, 'edit-sessions', body)).toMatchObject({ status: 400 });
      expect(await post('nothing-000000', 'edit-sessions', { instruction: 'x' })).toMatchObject({ status: 404 });
      await post(id, 'abandon');
    },
  );
});
