/** The feed: GET /v1/events over all projects of a workspace. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, itemAt } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { makeProject, makeTemplate } from '../projects/pipeline.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;
let projectIds: string[];

beforeAll(async () => {
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
  await makeTemplate(acme);
  await makeTemplate(other);
  projectIds = [(await makeProject(acme)).id, (await makeProject(acme)).id];
  await insert(first(projectIds), 'acme', [
    [30, 'info', 'project', 'project_started'],
    [3, 'error', 'subtask', 'subtask_failed'],
    [1, 'info', 'task', 'task_started'],
  ]);
  await insert(itemAt(projectIds, 1), 'acme', [
    [1_000, 'debug', 'subtask', 'subtask_alive'],
    [2, 'info', 'project', 'project_started'],
  ]);
  await insert((await makeProject(other)).id, 'other', [[1, 'info', 'project', 'project_completed']]);
});
afterAll(() => service?.close());

async function insert(projectId: string, customerId: string, events: [number, string, string, string][]) {
  for (const [hours, level, category, topic] of events) {
    await service.runtime.db.rows(sql`
      insert into project_events (project_id, customer_id, ts, level, category, topic, actor_kind, payload)
      values (${projectId}, ${customerId}, now() - make_interval(hours => ${hours}), ${level}::event_level,
        ${category}::event_category, ${topic}, 'system', '{"n": 1}')`);
  }
}

const feed = async (query = '', tenant = acme) => {
  const { status, body } = await tenant.cp('GET', `/v1/events${query}`);
  expect(status).toBe(200);
  return { topics: body.data.map(({ topic }: { topic: string }) => topic), meta: body.meta, data: body.data };
};

// Guards: the last day's events of all projects are listed, newest first.
test('tells of the last day', async () => {
  const { topics, meta, data } = await feed();
  expect(topics).toEqual(['task_started', 'project_started', 'subtask_failed']);
  expect(meta).toEqual({ limit: 500, since_hours: 24, total: 3 });
  expect(data[1]).toMatchObject({ project_id: projectIds[1], payload_jsonb: { n: 1 }, level: 'info', trace_id: null });
});

// Guards: the total counts all matches whatever the limit is; 0 hours means no bound.
test.each([
  ['?since_hours=0', 5, ['task_started', 'project_started', 'subtask_failed', 'project_started', 'subtask_alive']],
  ['?since_hours=48', 4, ['task_started', 'project_started', 'subtask_failed', 'project_started']],
  ['?since_hours=0&limit=1', 5, ['task_started']],
  ['?category=project&since_hours=720', 2, ['project_started', 'project_started']],
  ['?level=error', 1, ['subtask_failed']],
  ['?level=debug', 0, []],
  ['?level=debug&category=subtask&since_hours=0', 1, ['subtask_alive']],
])('takes %s', async (query, total, topics) => {
  expect(await feed(query)).toMatchObject({ topics, meta: { total } });
});

test.each([
  'limit=0',
  'limit=2001',
  'since_hours=-1',
  'since_hours=721',
  'category=x',
  'level=fatal',
  'topic=task_started',
])('refuses %s', async (query) => {
  expect((await acme.cp('GET', `/v1/events?${query}`)).status).toBe(422);
});

// Guards: a workspace sees events of its own projects only.
test('tells nothing of others', async () => {
  expect(await feed('?since_hours=0', other)).toMatchObject({ topics: ['project_completed'], meta: { total: 1 } });
});
