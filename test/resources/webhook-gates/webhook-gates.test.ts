/** GET /v1/webhooks on the control plane: which gates wait for an external system, and what they wait with. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { gate, phase, spec, step } from '../templates/specs.ts';
import { makeProject, makeTemplate, subtasksOf, tasksOf } from '../projects/pipeline.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;
let projectId: string;
/** By phase and step. */
let steps: Awaited<ReturnType<typeof subtasksOf>>;
const current = newUuid();

const webhook = (slug: string, more = {}) => gate(slug, { gate_kind: 'webhook', ...more });
const run = (statement: ReturnType<typeof sql>) => service.runtime.db.rows(statement);

beforeAll(async () => {
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  const phases = [
    phase('draft', { steps: [step('write'), gate('person'), webhook('early')] }),
    phase('unrelated'),
    phase('print', {
      depends_on: ['draft'],
      steps: [
        step('left', { depends_on: [] }),
        step('right', { depends_on: [] }),
        webhook('shop', { depends_on: ['right', 'left'], gate_config: { expires_in_s: 60 } }),
        webhook('late'),
      ],
    }),
  ];
  for (const tenant of [acme, other]) await makeTemplate(tenant, spec({ slug: 'gated', phases }));
  const made = { workflow_slug: 'gated', params: undefined };
  ({ id: projectId } = await makeProject(acme, made));
  await makeProject(other, made);
  steps = await subtasksOf(acme, projectId);
  const [draft, unrelated] = await tasksOf(acme, projectId);
  for (const [id, taskId, slug, version, superseded] of [
    [newUuid(), draft.id, 'draft', 1, true],
    [current, draft.id, 'draft', 2, false],
    [newUuid(), unrelated.id, 'unrelated', 1, false],
  ]) {
    await run(sql`
      insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content,
        produced_via, superseded)
      values (${id}, ${projectId}, ${taskId}, 'acme', ${slug}, ${version}, 'text', '"x"', 'initial', ${superseded})`);
  }
  await run(sql`
    update subtasks set status = 'blocked', started_at = now() - interval '1 hour'
    where id = ${steps.get('print/shop').id}`);
  await run(sql`
    update subtasks set status = 'succeeded', started_at = now(), completed_at = now()
    where id = ${steps.get('draft/early').id}`);
});
afterAll(() => service?.close());

const list = async (query = '', tenant = acme) => {
  const { status, body } = await tenant.cp('GET', `/v1/webhooks${query}`);
  expect(status).toBe(200);
  return { slugs: body.data.map(({ step_slug }: { step_slug: string }) => step_slug), ...body };
};

// Guards: a gate has every field, with what its phase consumed and the steps that it comes after.
test('tells what waits, and with what', async () => {
  const { slugs, data, meta } = await list();
  expect(slugs).toEqual(['shop', 'early', 'late']);
  expect(meta).toEqual({
    total: 3,
    by_status: [
      { status: 'pending', count: 1 },
      { status: 'blocked', count: 1 },
      { status: 'succeeded', count: 1 },
    ],
  });
  expect(data[0]).toEqual({
    subtask_id: steps.get('print/shop').id,
    project_id: projectId,
    project_title: 'A first one',
    workflow_slug: 'gated',
    phase_slug: 'print',
    step_slug: 'shop',
    task_id: steps.get('print/shop').task_id,
    status: 'blocked',
    gate_config: { expires_in_s: 60 },
    consumes_artifacts: [{ phase_slug: 'draft', artifact_id: current, version: 2 }],
    consumes_subtasks: [steps.get('print/left').id, steps.get('print/right').id],
    created_at: expect.any(String),
    started_at: expect.any(String),
    completed_at: null,
  });
  expect(data[1]).toMatchObject({
    gate_config: {},
    consumes_artifacts: [],
    consumes_subtasks: [steps.get('draft/person').id],
    completed_at: expect.any(String),
  });
});

// Guards: a filter narrows rows and total, but never the counts by status.
test.each([
  ['?status=blocked', ['shop'], 1],
  ['?status=failed', [], 0],
  ['?limit=1', ['shop'], 3],
])('takes %s', async (query, slugs, total) => {
  const listed = await list(query);
  expect(listed).toMatchObject({ slugs, meta: { total } });
  expect(listed.meta.by_status).toHaveLength(3);
});

test.each(['limit=0', 'limit=1001', 'status=waiting'])('refuses %s', async (query) => {
  expect((await acme.cp('GET', `/v1/webhooks?${query}`)).status).toBe(422);
});

// Guards: a workspace sees its own gates only.
test('tells nothing of others', async () => {
  expect(await list('', other)).toMatchObject({ meta: { total: 3, by_status: [{ status: 'pending', count: 3 }] } });
  expect(JSON.stringify((await list('', other)).data)).not.toContain(projectId);
});
