/** What is read of projects. The record is written here by hand, as no worker is there to write it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { itemAt } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { phase, spec } from '../templates/specs.ts';
import { makeProject, makeTemplate, subtasksOf, tasksOf } from './pipeline.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;
let id: string;
let path: string;
let taskId: string;
let subtaskId: string;
const [first, second, third] = [newUuid(), newUuid(), newUuid()];

const run = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);

beforeAll(async () => {
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  await makeTemplate(acme);
  ({ id } = await makeProject(acme, { cost_budget_usd: '4' }));
  path = `/v1/projects/${id}`;
  ({ id: taskId } = (await tasksOf(acme, id))[0]);
  ({ id: subtaskId } = (await subtasksOf(acme, id)).get('outline/write'));
  await run(sql`
    insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, status, output,
      output_validated, error, cost_usd, child_run_id, started_at, completed_at)
    select a.id::uuid, ${id}, ${taskId}, ${subtaskId}, 'acme', a.number, a.reason::attempt_reason,
      a.status::attempt_status, a.output::jsonb, a.validated, a.error, a.cost, a.run, now() - interval '2.5 seconds', a.ended
    from (values
      (${second}, 2, 'schema_repair', 'succeeded', '{"headline": "Two"}', true, null, 0.30000000, 'run2', now()),
      (${first}, 1, 'initial', 'failed', '"no JSON"', false, 'not what was asked for', 0.20000000, 'run1', now()),
      (${third}, 3, 'cascade_retrigger', 'running', null, null, null, 0, 'run3', null)
    ) as a(id, number, reason, status, output, validated, error, cost, run, ended)`);
  await run(sql`update budgets set spent_usd = 1 where id = ${`project:${id}`}`);
  await run(sql`update budgets set spent_usd = 0.5 where id = ${`task:${taskId}`}`);
  await run(sql`
    insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content,
      produced_by_subtask_id, produced_by_attempt_id, produced_via, superseded, supersedes_artifact_id,
      superseded_by_artifact_id)
    values
      (${second}, ${id}, ${taskId}, 'acme', 'outline', 2, 'outline', '"text"', ${subtaskId}, ${second}, 'schema_repair',
        false, ${first}, null),
      (${first}, ${id}, ${taskId}, 'acme', 'outline', 1, 'outline', '{"headline": "One"}', ${subtaskId}, ${first},
        'initial', true, null, ${second})`);
  await run(sql`
    insert into project_events (project_id, customer_id, task_id, subtask_id, attempt_number, level, category, topic,
      actor_kind, actor_id, payload)
    values
      (${id}, 'acme', null, null, null, 'info', 'project', 'project_started', 'system', null, '{}'),
      (${id}, 'acme', ${taskId}, ${subtaskId}, 1, 'info', 'subtask', 'subtask_attempt_started', 'agent', 'writer',
        '{"run_id": "run1"}'),
      (${id}, 'acme', ${taskId}, ${subtaskId}, 1, 'error', 'subtask', 'subtask_failed', 'system', null, '{}')`);
});
afterAll(() => service?.close());

// Guards: attempts come by number, with how long each took and what it cost.
test('attempts', async () => {
  const { status, body } = await acme.cp('GET', `${path}/subtasks/${subtaskId}/attempts`);
  expect(status).toBe(200);
  expect(body.meta).toEqual({ total: 3 });
  expect(body.data).toEqual([
    {
      id: first,
      project_id: id,
      task_id: taskId,
      subtask_id: subtaskId,
      attempt_number: 1,
      attempt_reason: 'initial',
      status: 'failed',
      output: 'no JSON',
      output_validated: false,
      error: 'not what was asked for',
      cost_usd: '0.2',
      is_priced: true,
      duration_ms: 2_500,
      child_run_id: 'run1',
      created_at: expect.any(String),
      started_at: expect.any(String),
      completed_at: expect.any(String),
    },
    expect.objectContaining({ id: second, attempt_number: 2, output: { headline: 'Two' }, output_validated: true }),
    expect.objectContaining({ id: third, status: 'running', output: null, duration_ms: null, completed_at: null }),
  ]);
});

// Guards: a step's cost is the sum of its attempts; a phase's and the project's are what their budgets counted.
test('costs', async () => {
  expect((await acme.cp('GET', `${path}/tasks/${taskId}/subtasks/${subtaskId}`)).body).toMatchObject({
    attempt_count: 3,
    cost_usd: '0.5',
    is_priced: true,
  });
  expect((await acme.cp('GET', `${path}/tasks/${taskId}`)).body).toMatchObject({ cost_usd: '0.5' });
  expect((await acme.cp('GET', path)).body).toMatchObject({ cost_total_usd: '1', cost_budget_usd: '4' });
  const { body } = await acme.cp('GET', `${path}/cost`);
  expect(body).toMatchObject({ project_id: id, total_usd: '1', budget_usd: '4', budget_burn: 0.25 });
  expect(body.tasks).toHaveLength(4);
  expect(body.tasks[0]).toEqual({
    task_id: taskId,
    phase_slug: 'outline',
    task_kind: 'regular',
    budget_usd: '0.5',
    spent_usd: '0.5',
  });
});

// Guards: only the current version is listed, unless the history is asked for.
test('artifacts', async () => {
  const current = await acme.cp('GET', `${path}/artifacts`);
  expect(current).toMatchObject({ status: 200, body: { meta: { total: 1 } } });
  expect(current.body.data).toEqual([
    {
      id: second,
      project_id: id,
      task_id: taskId,
      phase_slug: 'outline',
      version: 2,
      schema_slug: 'outline',
      content: 'text',
      produced_by_subtask_id: subtaskId,
      produced_by_attempt_id: second,
      produced_via: 'schema_repair',
      superseded: false,
      supersedes_artifact_id: first,
      superseded_by_artifact_id: null,
      sample: false,
      created_at: expect.any(String),
    },
  ]);
  const all = await acme.cp('GET', `${path}/artifacts?current_only=false`);
  expect(
    all.body.data.map(({ version, content }: { version: number; content: unknown }) => [version, content]),
  ).toEqual([
    [1, { headline: 'One' }],
    [2, 'text'],
  ]);
  expect(await acme.cp('GET', `${path}/artifacts?current_only=true`)).toMatchObject({ body: current.body });
  expect((await acme.cp('GET', `${path}/artifacts?current_only=maybe`)).status).toBe(422);
  for (const artifact of all.body.data) {
    expect(await acme.cp('GET', `/v1/projects/${id}/artifacts/${artifact.id}`)).toMatchObject({
      status: 200,
      body: artifact,
    });
  }
  for (const unknown of [newUuid(), 'no-uuid']) {
    expect((await acme.cp('GET', `/v1/projects/${id}/artifacts/${unknown}`)).status).toBe(404);
  }
});

// Guards: events are listed newest first, up to the limit, and a step's own under the step.
test('events', async () => {
  const topics = ({ body }: { body: { data: { topic: string }[] } }) => body.data.map(({ topic }) => topic);
  const all = await acme.cp('GET', `${path}/events`);
  expect(all).toMatchObject({ status: 200, body: { meta: { limit: 200 } } });
  expect(topics(all)).toEqual(['subtask_failed', 'subtask_attempt_started', 'project_started']);
  expect(all.body.data[1]).toEqual({
    id: expect.any(Number),
    ts: expect.any(String),
    project_id: id,
    task_id: taskId,
    subtask_id: subtaskId,
    attempt_number: 1,
    level: 'info',
    category: 'subtask',
    topic: 'subtask_attempt_started',
    actor_kind: 'agent',
    actor_id: 'writer',
    payload_jsonb: { run_id: 'run1' },
    trace_id: null,
  });
  expect(topics(await acme.cp('GET', `${path}/events?limit=1`))).toEqual(['subtask_failed']);
  const own = await acme.cp('GET', `${path}/subtasks/${subtaskId}/events?limit=2000`);
  expect(own).toMatchObject({ status: 200, body: { meta: { limit: 2_000 } } });
  expect(topics(own)).toEqual(['subtask_failed', 'subtask_attempt_started']);
  expect((await acme.cp('GET', `${path}/events?limit=1001`)).status).toBe(422);
  expect((await acme.cp('GET', `${path}/subtasks/${subtaskId}/events?limit=2001`)).status).toBe(422);
});

// Guards: an unknown id, or one of another project or workspace, is a 404 in every form.
describe('nobody finds', () => {
  const reads = (project: string, task: string, subtask: string) => [
    `/v1/projects/${project}`,
    `/v1/projects/${project}/tasks`,
    `/v1/projects/${project}/tasks/${task}`,
    `/v1/projects/${project}/tasks/${task}/subtasks`,
    `/v1/projects/${project}/tasks/${task}/subtasks/${subtask}`,
    `/v1/projects/${project}/subtasks/${subtask}/attempts`,
    `/v1/projects/${project}/subtasks/${subtask}/events`,
    `/v1/projects/${project}/events`,
    `/v1/projects/${project}/artifacts`,
    `/v1/projects/${project}/artifacts/${first}`,
    `/v1/projects/${project}/cost`,
  ];
  const expectUnknown = async (tenant: Tenant, paths: string[]) => {
    for (const each of paths) {
      expect([each, await tenant.cp('GET', each)]).toEqual([
        each,
        expect.objectContaining({ status: 404, body: { detail: 'not_found' } }),
      ]);
    }
  };

  test("another workspace's project", () => expectUnknown(other, reads(id, taskId, subtaskId)));
  test('an unknown project', () => expectUnknown(acme, reads('nothing-000000', taskId, subtaskId)));
  test.each(['nonsense', '1', newUuid(), '%27--'])('a task or subtask %s', (nothing) =>
    expectUnknown(acme, [
      ...reads(id, nothing, subtaskId).filter((each) => each.includes('/tasks/')),
      ...reads(id, taskId, nothing).filter((each) => each.includes(`/${nothing}`)),
    ]),
  );
  test('a subtask under another task, a task under another project', async () => {
    const tasks = await tasksOf(acme, id);
    await expectUnknown(acme, [`${path}/tasks/${tasks[1].id}/subtasks/${subtaskId}`]);
    const { id: second } = await makeProject(acme);
    await expectUnknown(
      acme,
      reads(second, taskId, subtaskId).filter((each) => /tasks\/./.test(each)),
    );
  });
});

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

describe('the list', () => {
  let lister: Tenant;
  let ids: string[];
  beforeAll(async () => {
    lister = await service.tenant('acc_lister');
    for (const slug of ['one', 'two']) await makeTemplate(lister, spec({ slug, phases: [phase('draft')] }));
    ids = [];
    for (const [workflow_slug, title, brief] of [
      ['one', 'Bees', 'A lemon for each.'],
      ['two', 'A first one', 'Lemons and limes.'],
      ['one', 'Lemon trees', 'Say it.'],
    ])
      ids.unshift((await makeProject(lister, { workflow_slug, title, brief })).id);
    // The oldest was started on the day before.
    await run(sql`update projects set created_at = created_at - interval '1 day' where id = ${itemAt(ids, 2)}`);
    await run(sql`update search_documents set at = at - interval '1 day' where subject = ${itemAt(ids, 2)}`);
    await run(sql`update projects set status = 'paused', pause_reason = 'requested' where id = ${itemAt(ids, 0)}`);
    await run(sql`update tasks set status = 'stale' where project_id = ${itemAt(ids, 1)}`);
  });
  const list = async (query = '') => {
    const { status, body } = await lister.cp('GET', `/v1/projects${query}`);
    expect(status).toBe(200);
    return { ids: body.data.map((row: { id: string }) => row.id), meta: body.meta, data: body.data };
  };

  // Guards: projects are listed newest first, with the total of matches.
  test('comes newest first, in pages', async () => {
    const all = await list();
    expect(all).toMatchObject({ ids, meta: { total: 3, limit: 50, offset: 0 } });
    expect(all.data).toEqual(
      await Promise.all(ids.map(async (each) => (await lister.cp('GET', `/v1/projects/${each}`)).body)),
    );
    expect(all.data).toMatchObject([
      { status: 'paused', pause_reason: 'requested', has_stale_phases: false },
      { has_stale_phases: true },
      { has_stale_phases: false },
    ]);
    expect(await list('?limit=1&offset=1')).toMatchObject({ ids: [ids[1]], meta: { total: 3, limit: 1, offset: 1 } });
    expect(await list('?offset=9')).toMatchObject({ ids: [], meta: { total: 3 } });
  });

  // Guards: filters work alone and together; another owner has no projects here.
  test.each([
    ['?status=paused', [0]],
    ['?status=planning', [1, 2]],
    ['?workflow_slug=one', [0, 2]],
    ['?workflow_slug=one&status=planning', [2]],
    ['?workflow_slug=nowhere', []],
    ['?owner_kind=internal&owner_id=lister', [0, 1, 2]],
    ['?owner_kind=person', []],
    ['?owner_id=acme', []],
    ['?q=lemon', [0, 1, 2]],
    ['?q=lemon%20trees', [0]],
    ['?q=lemon&workflow_slug=one', [0, 2]],
    ['?q=lemon&status=planning', [1, 2]],
    ['?q=...', []],
    [`?from=${hoursAgo(12)}`, [0, 1]],
    [`?to=${hoursAgo(12)}`, [2]],
    [`?from=${hoursAgo(48)}&to=${hoursAgo(12)}`, [2]],
    [`?from=${hoursAgo(48)}&status=planning&workflow_slug=one`, [2]],
    [`?q=lemon&from=${hoursAgo(12)}`, [0, 1]],
    [`?q=lemon&to=${hoursAgo(12)}`, [2]],
  ])('takes %s', async (query, expected) => {
    expect(await list(query)).toMatchObject({ ids: expected.map((at) => ids[at]), meta: { total: expected.length } });
  });

  // Guards: what is found comes in pages too, and an id finds its project, whole and by its end.
  test('finds in pages, and by ids', async () => {
    expect(await list('?q=lemon&limit=1&offset=1')).toMatchObject({ ids: [ids[1]], meta: { total: 3, offset: 1 } });
    expect(await list(`?q=${ids[0]}`)).toMatchObject({ ids: [ids[0]] });
    expect(await list(`?q=${itemAt(ids, 0).slice(-6)}`)).toMatchObject({ ids: [ids[0]] });
    expect((await acme.cp('GET', `/v1/projects?q=${ids[0]}`)).body.data).toEqual([]);
  });

  test.each(['from=yesterday', 'to=1', 'limit=0', 'limit=501', 'offset=-1', 'status=running', 'limit=x'])(
    'refuses %s',
    async (query) => {
      expect((await lister.cp('GET', `/v1/projects?${query}`)).status).toBe(422);
    },
  );
});

describe('a change', () => {
  let changing: string;
  beforeAll(async () => {
    changing = (await makeProject(acme, { cost_budget_usd: '1' })).id;
  });
  const patch = (body: unknown, tenant = acme) => tenant.cp('PATCH', `/v1/projects/${changing}`, body);
  const limitOf = async () => {
    const row = itemAt(
      await run<{ limit: string | null; warned: boolean }>(sql`
      select b.limit_usd as limit, p.is_cost_warned as warned
      from budgets b join projects p on b.id = 'project:' || p.id where p.id = ${changing}`),
      0,
    );
    return { ...row, limit: row.limit && Number(row.limit) };
  };

  // Guards: the budget that is enforced is the one that is shown, and a new budget gets a new warning.
  test('sets title and budget', async () => {
    await run(sql`update projects set is_cost_warned = true where id = ${changing}`);
    expect(await patch({ title: ' Renamed ' })).toMatchObject({
      status: 200,
      body: { id: changing, title: 'Renamed', cost_budget_usd: '1' },
    });
    expect(await limitOf()).toEqual({ limit: 1, warned: true });
    expect(await patch({ cost_budget_usd: 2.5 })).toMatchObject({
      status: 200,
      body: { title: 'Renamed', cost_budget_usd: '2.5' },
    });
    expect(await limitOf()).toEqual({ limit: 2.5, warned: false });
    expect(await patch({ cost_budget_usd: null, title: 'Free' })).toMatchObject({
      status: 200,
      body: { title: 'Free', cost_budget_usd: null },
    });
    expect(await limitOf()).toEqual({ limit: null, warned: false });
    expect((await acme.cp('GET', `/v1/projects/${changing}/cost`)).body).toMatchObject({
      budget_usd: null,
      budget_burn: 0,
    });
  });

  // Guards: nothing else of a project can be changed, and the refusal says what can.
  test.each([
    [{}, 'nothing to update: give title, cost_budget_usd or phase_cost_budgets'],
    [{ brief: 'Other' }, 'brief: Unknown field; known are title, cost_budget_usd, phase_cost_budgets'],
    [{ title: 'Fine', status: 'completed' }, expect.stringMatching(/^status: Unknown field/)],
    [{ title: 'Fine', cost_budget: '5' }, 'cost_budget: Unknown field; did you mean "cost_budget_usd"?'],
    [{ title: '' }, 'title required'],
    [{ title: null }, 'title required'],
    [{ cost_budget_usd: '0' }, expect.stringMatching(/^cost_budget_usd must be/)],
    [{ cost_budget_usd: 'much' }, expect.stringMatching(/^cost_budget_usd must be/)],
  ])('refuses %j', async (body, detail) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { detail } });
  });

  test("refuses another workspace's, and an unknown one", async () => {
    expect(await patch({ title: 'Mine' }, other)).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    expect(await acme.cp('PATCH', '/v1/projects/nothing-000000', { title: 'x' })).toMatchObject({ status: 404 });
    expect((await acme.cp('GET', `/v1/projects/${changing}`)).body.title).not.toBe('Mine');
  });
});
