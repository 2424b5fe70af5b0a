/** The guide says what is found and by what: each of these, and no more than a workspace has. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import type { AttachmentOwner } from '../../../src/resources/attachments/model.ts';
import { sessionOf } from '../../support/fixtures/credentials.ts';
import { insertProject } from '../../support/fixtures/projects-store.ts';
import { tool } from '../../support/fixtures/runs.ts';
import { startTestService, tenantOf, type Tenant, type TestService } from '../../support/service/service.ts';

const GUIDE = readFileSync(new URL('../../../docs/guide/runs.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
const listed = (text: string | undefined, between = /, | and | or /): string[] => present(text).split(between);

const [, texts] = present(/is found by its words or ids: (.*?)\. Files/.exec(GUIDE));
const [, saved, owners] = present(/Files are those that were (.*?), or attached to (.*?)\./.exec(GUIDE));
const [, said] = present(/Events are found by [^:]*: (.*?)\./.exec(GUIDE));
/** `runs by prompt`, `attached to a project`, `feedback`, ... */
const PROMISED = [
  ...listed(texts, /, (?=\w+ by )/).flatMap((group) => {
    const [kinds, fields] = group.split(' by ');
    return kinds === 'files' ? [] : listed(fields).map((field) => `${kinds} by ${field}`);
  }),
  present(saved),
  ...listed(owners).map((owner) => `attached to ${owner}`),
  ...listed(said, /, /),
];

interface Hit {
  kind: string;
  id: string;
  title: string;
  project_id: string | null;
  job_id: string | null;
  thread_id: string | null;
  run_id: string | null;
}

let service: TestService;
let tenant: Tenant;
let other: Tenant;
let viewer: Pick<Tenant, 'cp'>;
let projectId: string;
let words = 0;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_promised');
  other = await service.tenant('acc_unpromised');
  const session = sessionOf(tenant, { sub: 'viewer', email: 'viewer@example.com' }, 'viewer');
  viewer = tenantOf(service.baseUrl, { ...tenant.caller, actor: 'viewer@example.com' }, '', session);
  projectId = await project({});
});
afterAll(() => service?.close());

const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const customerId = () => tenant.caller.customerId;

/** No other document has it. */
const word = () => `zq${String.fromCharCode(97 + (words % 26), 97 + Math.floor(words++ / 26))}ube`;

async function find(q: string, by: Pick<Tenant, 'cp'> = tenant): Promise<Hit[]> {
  const { status, body } = await by.cp('GET', `/v1/search?${new URLSearchParams({ q })}`);
  expect(status).toBe(200);
  return body.data;
}

const project = async (more: { title?: string; brief?: string }) =>
  (
    await insertProject(service.runtime.db, {
      id: `project-${newUuid()}`,
      customerId: customerId(),
      phases: [{ slug: 'draft' }],
      ...more,
    })
  ).id;

const form = (filename: string) => {
  const data = new FormData();
  data.append('files', new Blob(['Some text.']), filename);
  return data;
};
async function made(path: string, body: unknown): Promise<{ id: string }> {
  const answer = await tenant.cp('POST', path, body);
  expect(answer.status).toBe(201);
  return body instanceof FormData ? answer.body.data[0] : answer.body;
}
const ran = async (text: { prompt?: string; output?: string; error?: string }) => {
  const { prompt = 'A prompt', output = null, error = null } = text;
  const id = newUuid();
  await rows(sql`insert into runs (id, customer_id, agent, transport, prompt, output, error)
    values (${id}, ${customerId()}, 'writer', 'rest', ${prompt}, ${output}, ${error})`);
  return { kind: 'run', id, run_id: id };
};
const happened = async (payload: object) => {
  await rows(sql`insert into project_events (project_id, customer_id, level, category, topic, actor_kind, payload)
    values (${projectId}, ${customerId()}, 'info', 'subtask', 'told', 'system', ${JSON.stringify(payload)}::jsonb)`);
  return { kind: 'event', project_id: projectId };
};
const toolRun = async (name: string, args: object) =>
  (await tenant.run({ agent: 'analyst', prompt: `Do it. ${tool(name, args)}` })).run_id;

/** Makes one that has the word where the guide says, and @returns what is said of it where it is found. */
type Maker = (word: string) => Promise<Partial<Hit>>;

/** Whatever files can be attached to; an upload waits for its project, and is found when it has one. */
const OWNERS: Record<AttachmentOwner['kind'], Maker> = {
  async project(word) {
    const { id } = await made(`/v1/projects/${projectId}/attachments`, form(`${word}.txt`));
    return { kind: 'file', id, title: `${word}.txt`, project_id: projectId };
  },
  async scheduled_job(word) {
    const job = { name: word, cron: '0 6 1 1 *', agent_slug: 'assistant', brief: 'Do it.' };
    const { id: job_id } = await made('/v1/scheduled-jobs', job);
    const { id } = await made(`/v1/scheduled-jobs/${job_id}/attachments`, form(`${word}.txt`));
    return { kind: 'file', id, job_id, run_id: null };
  },
  async chat_thread(word) {
    const { id: thread_id } = await made('/v1/chat/threads', { agent: 'assistant' });
    const { id } = await made(`/v1/chat/threads/${thread_id}/attachments`, form(`${word}.txt`));
    return { kind: 'file', id, thread_id, run_id: null };
  },
  async upload(word) {
    const { id } = await made('/v1/files/upload', form(`${word}.txt`));
    expect(await find(word)).toEqual([]);
    const asked = { workflow_slug: 'blog-post', title: 'Bread', brief: 'Why bread is sour', attachment_ids: [id] };
    return { kind: 'file', id, project_id: (await made('/v1/projects', asked)).id };
  },
};

const MAKERS: Record<string, Maker> = {
  'runs by prompt': (prompt) => ran({ prompt }),
  'runs by output': (output) => ran({ output }),
  'runs by error': (error) => ran({ error }),
  'projects by title': async (title) => ({ kind: 'project', id: await project({ title }) }),
  'projects by brief': async (brief) => ({ kind: 'project', id: await project({ brief }) }),
  async 'artifacts by content'(word) {
    const id = newUuid();
    await rows(sql`
      insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content, produced_via)
      select ${id}::uuid, project_id, id, customer_id, phase_slug, 1, 'text', ${JSON.stringify(word)}::jsonb, 'initial'
      from tasks where project_id = ${projectId}`);
    return { kind: 'artifact', id, project_id: projectId };
  },
  'saved by a run': async (word) => {
    const run_id = await toolRun('save_artifact', { filename: `${word}.md`, content: 'Text.' });
    return { kind: 'file', title: `${word}.md`, run_id };
  },
  'attached to a project': OWNERS.project,
  'attached to a scheduled job': OWNERS.scheduled_job,
  'attached to a conversation': OWNERS.chat_thread,
  'a tool that failed in a run': async (word) => {
    return { kind: 'event', run_id: await toolRun('calculator', { expression: `2 + ${word}` }) };
  },
  async 'a call of a model that was tried again or cut off'(word) {
    const { run_id } = await ran({});
    await rows(sql`insert into run_events (run_id, customer_id, key, event_type, status, payload)
      values (${run_id}, ${customerId()}, 'call-1', 'claude_request', 'failed', ${JSON.stringify({ error: word })}::jsonb)`);
    return { kind: 'event', run_id };
  },
  'the error of a step': (error) => happened({ error }),
  feedback: (feedback) => happened({ feedback }),
  comments: (comment) => happened({ comment }),
  instructions: (instruction) => happened({ instruction }),
};

// Guards: what the guide says is found is found, by whoever may look at it and by nobody of another workspace.
test.each(PROMISED)('%s', async (promise) => {
  const asked = word();
  const expected = await present(MAKERS[promise])(asked);
  const found = (await find(asked)).filter(({ kind }) => kind === expected.kind);
  expect(found).toEqual([expect.objectContaining(expected)]);
  expect((await find(asked, viewer)).filter(({ kind }) => kind === expected.kind)).toEqual(found);
  expect(await find(asked, other)).toEqual([]);
});

// Guards: a file is found for as long as it is there, and not while it waits for its project.
test.each(Object.entries(OWNERS))('a file of this owner is found until it is deleted: %s', async (_, make) => {
  const asked = word();
  const expected = await make(asked);
  expect(await find(asked)).toEqual([expect.objectContaining(expected)]);
  if (expected.job_id) await tenant.cp('DELETE', `/v1/scheduled-jobs/${expected.job_id}`);
  else if (expected.thread_id) await tenant.cp('DELETE', `/v1/chat/threads/${expected.thread_id}`);
  else await rows(sql`delete from attachments where id = ${expected.id}::uuid`);
  expect(await find(asked)).toEqual([]);
  expect(await rows(sql`select subject from search_documents where subject = ${expected.id}`)).toEqual([]);
});

// Guards: an upload whose project was withdrawn waits again, and is not found.
test('a file that goes back', async () => {
  const back = word();
  const { id: backId } = await OWNERS.upload(back);
  await rows(sql`update attachments set owner_kind = 'upload' where id = ${backId}::uuid`);
  expect(await find(back)).toEqual([]);
});
