/** Commands on phases and edit sessions, over HTTP and through the workflow: what they answer, and what they refuse. */
import { describe, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { first } from '../../../src/platform/core/present.ts';
import { readHistories } from '../../support/temporal/histories.ts';
import {
  artifactsOf,
  phaseStatuses,
  projectOf,
  tasksOf,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { eventually } from '../../support/service/service.ts';
import {
  acme,
  at,
  completedProject,
  gatedProject,
  other,
  post,
  service,
  useCommandProjects,
} from './command-projects.ts';

useCommandProjects();

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

  // Guards: 400 for a faulty request, 404 for an unknown phase, 409 for a phase at work.
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

  // Guards: a rejected plan changes nothing, and an id that is no edit session of this project is a 404.
  test('change nothing when rejected', async () => {
    const id = await completedProject();
    const { task_id } = await session(id);
    const before = await artifactsOf(acme, id);
    const phase = first(await tasksOf(acme, id));
    for (const nothing of [phase.id, newUuid(), 'nonsense']) {
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
