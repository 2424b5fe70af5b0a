/** How projects are accepted and planned. No worker is there, so that they stay as they were planned. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { projectIdOf } from '../../../src/resources/projects/store/create.ts';
import { phase, spec, step } from '../templates/specs.ts';
import {
  acme,
  makeProject,
  makeTemplate,
  other,
  request,
  rows,
  service,
  subtasksOf,
  tasksOf,
  usePipeline,
} from './pipeline.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';

usePipeline();

describe('a project', () => {
  // Guards: every field of the specification, and owners that come from the session whatever the body says.
  test('is answered fully planned', async () => {
    const given = { owner_kind: 'person', owner_id: 'other', customer_id: 'other', decided_by: 'other' };
    const made = await makeProject(acme, { ...given, title: '  A first one  ', cost_budget_usd: 12.5 });
    expect(made).toEqual({
      id: expect.stringMatching(/^a-first-one-[0-9a-f]{6}$/),
      title: 'A first one',
      workflow_slug: 'pipeline',
      workflow_version: 1,
      status: 'planning',
      pause_reason: null,
      has_stale_phases: false,
      brief: 'Say it.',
      params: { topic: 'bees' },
      owner_kind: 'internal',
      owner_id: 'acme',
      auth_mode: 'session',
      anthropic_workspace_id: null,
      cost_budget_usd: '12.5',
      cost_warning_threshold: '0.80',
      cost_total_usd: '0',
      is_priced: true,
      cost_burst_per_minute_usd: null,
      sample: false,
      created_at: expect.any(String),
      started_at: null,
      completed_at: null,
      abandoned_at: null,
    });
    expect(await acme.cp('GET', `/v1/projects/${made.id}`)).toMatchObject({ status: 200, body: made });
  });

  // Guards: phases are recorded in an order that follows their dependencies, with what the template says of each.
  test('has its phases as tasks', async () => {
    const { id } = await makeProject(acme);
    const tasks = await tasksOf(acme, id);
    expect(tasks.map((task: { phase_slug: string }) => task.phase_slug)).toEqual([
      'outline',
      'draft',
      'pictures',
      'publish',
    ]);
    expect(tasks[0]).toEqual({
      id: expect.any(String),
      project_id: id,
      phase_slug: 'outline',
      title: 'Phase outline',
      status: 'pending',
      depends_on: [],
      task_kind: 'regular',
      cascade_on_upstream_change: 'lazy',
      cost_usd: '0',
      is_priced: true,
      cost_budget_usd: '0.5',
      created_at: expect.any(String),
      started_at: null,
      completed_at: null,
    });
    expect(tasks[1]).toMatchObject({ cascade_on_upstream_change: 'strict', depends_on: ['outline'] });
    expect(tasks[3]).toMatchObject({ depends_on: ['draft', 'pictures'], cost_budget_usd: null });
  });

  // Guards: defaults of steps: the step before as dependency, three attempts, the artifact's schema, a judge's schema.
  test('has its steps as subtasks', async () => {
    const { id } = await makeProject(acme);
    const steps = await subtasksOf(acme, id);
    expect([...steps.keys()]).toEqual([
      'outline/write',
      'outline/judge',
      'outline/approve',
      'draft/left',
      'draft/right',
      'draft/join',
      'pictures/write',
      'publish/release',
      'publish/announce',
    ]);
    expect(steps.get('outline/write')).toEqual({
      id: expect.any(String),
      project_id: id,
      task_id: expect.any(String),
      step_slug: 'write',
      title: 'write',
      kind: 'agent',
      role: 'producer',
      assignee: 'writer',
      status: 'pending',
      instructions: null,
      tools: ['calculator'],
      skills: [],
      depends_on: [],
      output_schema: expect.objectContaining({ required: ['headline'] }),
      effort: null,
      max_attempts: 3,
      timeout_s: null,
      gate_kind: null,
      gate_config: null,
      gate_output: null,
      attempt_count: 0,
      cost_usd: '0',
      is_priced: true,
      cost_budget_usd: null,
      error: null,
      created_at: expect.any(String),
      started_at: null,
      completed_at: null,
    });
    expect(steps.get('outline/judge')).toMatchObject({
      title: 'Judge it',
      depends_on: ['write'],
      output_schema: { required: ['decision', 'feedback'] },
    });
    expect(steps.get('outline/approve')).toMatchObject({
      kind: 'gate',
      role: 'gatekeeper',
      gate_kind: 'human',
      gate_config: { prompt: 'Good?', on_reject: 'rework' },
      assignee: null,
      output_schema: null,
    });
    expect(steps.get('draft/right')).toMatchObject({ depends_on: [] });
    expect(steps.get('draft/join')).toMatchObject({ depends_on: ['left', 'right'] });
    expect(steps.get('draft/left')).toMatchObject({ instructions: 'Write the left half.' });
    expect(steps.get('publish/announce')).toMatchObject({ max_attempts: 1, timeout_s: 60 });
    const artifacts = await rows(sql`
      select phase_slug, artifact_schema_slug as schema, artifact_step_slug as step,
        artifact_json_schema is not null as has_schema
      from tasks where project_id = ${id} order by position`);
    expect(artifacts).toEqual([
      { phase_slug: 'outline', schema: 'outline', step: 'write', has_schema: true },
      { phase_slug: 'draft', schema: 'markdown', step: 'join', has_schema: false },
      { phase_slug: 'pictures', schema: null, step: 'write', has_schema: false },
      { phase_slug: 'publish', schema: null, step: 'announce', has_schema: false },
    ]);
  });

  // Guards: costs count from the first call on, against the project and against each phase.
  test('has its budgets', async () => {
    const { id } = await makeProject(acme, { cost_budget_usd: '3' });
    const budgets = await rows<{ id: string; limit: string | null }>(sql`
      select b.id, b.limit_usd as limit from budgets b left join tasks t on b.id = 'task:' || t.id
      where b.customer_id = 'acme' and (b.id = ${`project:${id}`} or t.project_id = ${id}) order by t.position nulls first`);
    expect(budgets.map(({ limit }) => limit && Number(limit))).toEqual([3, 0.5, null, null, null]);
  });

  // Guards: a project is pinned to the version that is active at its start, and any active version can be chosen.
  test('pins its version', async () => {
    await makeTemplate(acme, spec({ slug: 'twice' }));
    const { body: second } = await acme.cp('PATCH', '/v1/workflows/twice', { spec: spec({ slug: 'twice' }) });
    expect(second).toMatchObject({ version: 2 });
    const latest = await makeProject(acme, { workflow_slug: 'twice', params: undefined });
    expect(latest).toMatchObject({ workflow_version: 2, params: null });
    const first = await makeProject(acme, { workflow_slug: 'twice', workflow_version: 1, params: {} });
    expect(first).toMatchObject({ workflow_version: 1, params: {} });
    expect(await acme.cp('DELETE', '/v1/workflows/twice')).toMatchObject({ status: 204 });
    for (const workflow_version of [undefined, 1]) {
      expect(
        await acme.cp('POST', '/v1/projects', { ...request, workflow_slug: 'twice', workflow_version }),
      ).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^unknown or archived workflow: twice/) } });
    }
    expect((await acme.cp('GET', `/v1/projects/${latest.id}`)).body).toMatchObject({ workflow_version: 2 });
  });

  // Guards: the largest possible pipeline is planned whole, in a few statements.
  test('can be as large as a workflow may be', async () => {
    const steps = Array.from({ length: 50 }, (_, at) => step(`s${at}`));
    const phases = Array.from({ length: 40 }, (_, at) =>
      phase(`p${at}`, { steps, ...(at > 0 && { depends_on: [`p${at - 1}`] }) }),
    );
    await makeTemplate(acme, spec({ slug: 'large', phases }));
    const { id } = await makeProject(acme, { workflow_slug: 'large', params: undefined });
    const [counted] = await rows(sql`select count(*)::int as steps from subtasks where project_id = ${id}`);
    expect(counted).toEqual({ steps: 2_000 });
  });
});

describe('the public API', () => {
  // Guards: an API key starts and reads a project with nothing but a workflow and a brief.
  test('starts and tells', async () => {
    const brief = `\n  ${'Bees 🐝 '.repeat(20)}\nand more`;
    const { title: _, ...body } = { ...request, brief };
    const started = await acme.api('POST', '/v1/projects', body);
    expect(started).toMatchObject({ status: 201 });
    expect(started.body).toEqual({
      project_id: expect.stringMatching(/^pipeline-[0-9a-f]{6}$/),
      status: 'planning',
    });
    const { project_id } = started.body;
    const told = await acme.api('GET', `/v1/projects/${project_id}`);
    expect(told).toMatchObject({ status: 200 });
    expect(told.body).toEqual({
      project_id,
      title: [...brief.trim()].slice(0, 80).join(''),
      workflow_slug: 'pipeline',
      workflow_version: 1,
      status: 'planning',
      phases: ['outline', 'draft', 'pictures', 'publish'].map((phase_slug) => ({ phase_slug, status: 'pending' })),
      cost_total_usd: '0',
      is_priced: true,
      started_at: null,
      completed_at: null,
      sample: false,
    });
    expect((await acme.cp('GET', `/v1/projects/${project_id}`)).body).toMatchObject({ auth_mode: 'api_key', brief });
  });

  // Guards: another workspace's project is unknown.
  test('tells nobody else', async () => {
    const { id } = await makeProject(acme);
    const unknown = await other.api('GET', '/v1/projects/no-such-project-000000');
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    expect(await other.api('GET', `/v1/projects/${id}`)).toMatchObject({ status: 404, body: unknown.body });
  });
});

describe('starting', () => {
  // Guards: the workflow starts together with the row, with the search attributes that operators need.
  test('starts one workflow, and again none', async () => {
    const { id } = await makeProject(acme);
    const handle = service.runtime.temporal.client.workflow.getHandle(`project-${id}`);
    const { runId, type, typedSearchAttributes, staticSummary, staticDetails } = await handle.describe();
    expect(type).toBe('project');
    expect(await staticSummary()).toBe('A first one');
    expect(await staticDetails()).toContain(id);
    expect(
      typedSearchAttributes
        .getAll()
        .map(({ key, value }) => [key.name, value])
        .sort(),
    ).toEqual([
      ['ProjectId', id],
      ['WorkflowSlug', 'pipeline'],
      ['WorkspaceId', 'acc_acme'],
    ]);
    await rows(sql`update projects set start_due_at = now(), status = 'planning' where id = ${id}`);
    await service.services.projects.startLost(UNHURRIED);
    expect((await handle.describe()).runId).toBe(runId);
    const history = await handle.fetchHistory();
    const input = JSON.stringify(history.events![0]!.workflowExecutionStartedEventAttributes!.input);
    expect(Buffer.from(input, 'utf8').length).toBeLessThan(10_000);
  });

  // Guards: housekeeping starts a project that was accepted and never started.
  test('lists what waits for too long', async () => {
    const { id } = await makeProject(acme);
    const { takeUnstarted } = service.services.stores.projects;
    const turn = { after: '', workspaces: 10, each: 100 };
    expect((await takeUnstarted(turn)).ids).not.toContain(id);
    await rows(sql`update projects set start_due_at = now() where id = ${id}`);
    expect((await takeUnstarted(turn)).ids).toContain(id);
    // Somebody has it now.
    expect((await takeUnstarted(turn)).ids).toEqual([]);
  });

  // Guards: a workflow starts from the board in the record, which refers to phases by position.
  test('starts from the board', async () => {
    const { id } = await makeProject(acme);
    await rows(sql`update tasks set status = 'succeeded', iteration = 2 where project_id = ${id} and position = 0`);
    expect(await service.services.stores.projects.loadBoard(id)).toEqual({
      projectId: id,
      customerId: 'acme',
      workspaceId: 'acc_acme',
      title: 'A first one',
      workflowSlug: 'pipeline',
      status: 'planning',
      costUsd: expect.stringMatching(/^0(\.0+)?$/),
      phases: [
        { slug: 'outline', taskId: expect.any(String), status: 'succeeded', dependsOn: [], iteration: 2 },
        { slug: 'draft', taskId: expect.any(String), status: 'pending', dependsOn: [0], iteration: 0 },
        { slug: 'pictures', taskId: expect.any(String), status: 'pending', dependsOn: [0], iteration: 0 },
        { slug: 'publish', taskId: expect.any(String), status: 'pending', dependsOn: [1, 2], iteration: 0 },
      ],
    });
  });
});

// Guards: ids are made of titles in any script, and are never empty.
test.each([
  ['Hello, World!', /^hello-world-[0-9a-f]{6}$/],
  ['Ein Käse-Blog über Öl', /^ein-kase-blog-uber-ol-[0-9a-f]{6}$/],
  ['蜂蜜', /^project-[0-9a-f]{6}$/],
  ['x'.repeat(200), /^x{48}-[0-9a-f]{6}$/],
  [`${'x'.repeat(47)} yy`, /^x{47}-[0-9a-f]{6}$/],
])('the id of %s', (title, id) => {
  expect(projectIdOf(title)).toMatch(id);
});
