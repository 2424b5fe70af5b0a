/** GET /v1/search: what a workspace has, found by its words and ids, through what writes it, and through what takes it away. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itemAt } from '../../../src/platform/core/present.ts';
import { RANKED } from '../../../src/resources/search/model.ts';
import { runCli } from '../../embedded/service-process.ts';
import { agentStep, makeTemplate, phaseSpec, startProject, untilProject } from '../../support/fixtures/projects.ts';
import { tool } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

interface Hit {
  kind: string;
  id: string;
  title: string;
  status: string | null;
  agent: string | null;
  run_id: string | null;
  project_id: string | null;
  created_at: string;
  highlights: { field: string; parts: { text: string; hit: boolean }[] }[];
}

let service: TestService;
let tenant: Tenant;
let other: Tenant;
let lemonRun: string;
let failedRun: string;
let projectId: string;

const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_searcher');
  other = await service.tenant('acc_searched');
  const saving = tool('save_artifact', { filename: 'lemon-recipe.md', content: 'Squeeze.' });
  ({ run_id: lemonRun } = await tenant.run({ agent: 'writer', prompt: `How is a Lemon cake made? ${saving}` }));
  ({ run_id: failedRun } = await tenant.run({
    agent: 'analyst',
    prompt: 'Count the lemons of example.com/stock_list. [[fail-status:400]]',
  }));
  await other.run({ agent: 'writer', prompt: 'Their own lemon.' });
  await makeTemplate(tenant, 'grove', [phaseSpec('planting', [agentStep('write')])]);
  projectId = await startProject(tenant, 'grove', {
    title: 'Grove of citrus',
    brief: 'Plant lemon trees on a terrace.',
  });
  await untilProject(tenant, projectId, 'completed');
});
afterAll(() => service?.close());

async function ask(
  query: Record<string, string>,
  by = tenant,
): Promise<{ data: Hit[]; meta: { next: string | null } }> {
  const { status, body } = await by.cp('GET', `/v1/search?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
}
const find = async (q: string, filters: Record<string, string> = {}) => (await ask({ q, ...filters })).data;
const ids = async (q: string, filters: Record<string, string> = {}) => (await find(q, filters)).map(({ id }) => id);

// Guards: what is found says what it is and where the words stand, best first, and is the workspace's own.
test('finds words in runs, projects and files', async () => {
  const found = await find('lemon');
  expect(found.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['run', 'project', 'file']));
  const run = found.find(({ id }) => id === lemonRun);
  expect(run).toMatchObject({ kind: 'run', status: 'succeeded', agent: 'writer', run_id: lemonRun, project_id: null });
  const [prompt] = run?.highlights.filter(({ field }) => field === 'prompt') ?? [];
  expect(prompt?.parts.slice(0, 3)).toEqual([
    { text: 'How is a ', hit: false },
    { text: 'Lemon', hit: true },
    { text: expect.stringContaining(' cake made?'), hit: false },
  ]);
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([lemonRun, failedRun, projectId]));
  expect((await ask({ q: 'lemon' }, other)).data.map(({ title }) => title)).toEqual(['Their own lemon.']);
  // A word of the title is worth more than one of the brief.
  expect((await find('citrus OR pumpernickel'))[0]).toBeUndefined();
  expect(itemAt(await find('citrus grove'), 0)).toMatchObject({ kind: 'project', title: 'Grove of citrus' });
});

// Guards: all words must be there, quoted ones side by side, those with a minus not at all, and each is found by itself in an address.
test('takes words as they are asked for', async () => {
  expect(await ids('cake lemon', { kind: 'run' })).toEqual([lemonRun]);
  expect(await ids('"cake lemon"')).toEqual([]);
  expect(await ids('lemon -cake -terrace', { kind: 'run' })).toEqual([failedRun]);
  expect(await ids('stock', { kind: 'run' })).toEqual([failedRun]);
  expect(await ids('example.com/stock')).toEqual([failedRun]);
  expect(await ids('emon')).toEqual([]);
  expect(await ids('...')).toEqual([]);
  expect(await ids('nothing-has-this')).toEqual([]);
});

// Guards: an id is found whole and by its beginning, whatever digits it has.
test('finds ids', async () => {
  expect(await ids(lemonRun)).toContain(lemonRun);
  expect(await ids(lemonRun.slice(0, 20).toUpperCase(), { kind: 'run' })).toContain(lemonRun);
  expect(await ids(projectId)).toContain(projectId);
  expect(await ids(projectId.slice(-6))).toContain(projectId);
  const [artifact] = await find('planting', { kind: 'artifact' });
  expect(artifact?.title).toBe('Grove of citrus: planting 1');
  expect(await ids(artifact?.id ?? '')).toEqual([artifact?.id]);
  expect(await ids(artifact?.id.slice(0, 16) ?? '', { kind: 'artifact' })).toEqual([artifact?.id]);
});

// Guards: filters by kind, status, agent and time, each of which nothing else passes.
test('filters', async () => {
  expect(await ids('lemon', { status: 'failed' })).toEqual([failedRun]);
  expect(await ids('lemon', { status: 'completed' })).toEqual([projectId]);
  expect(await ids('lemon', { agent: 'analyst' })).toEqual([failedRun]);
  expect((await find('lemon -terrace', { agent: 'writer' })).map(({ kind }) => kind).sort()).toEqual(['file', 'run']);
  const { created_at: at } = itemAt(await find('citrus', { kind: 'project' }), 0);
  expect(await ids('lemon', { kind: 'project', from: at })).toEqual([projectId]);
  expect(await ids('lemon', { kind: 'project', to: at })).toEqual([]);
  expect(await tenant.cp('GET', '/v1/search?q=lemon&kind=nothing')).toMatchObject({ status: 422 });
  expect(await tenant.cp('GET', '/v1/search?q=lemon&after=nowhere')).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('cursor_unknown') },
  });
});

// Guards: errors, feedback and comments of a project are found as its events.
test('finds what events say', async () => {
  await rows(sql`
    insert into project_events (project_id, customer_id, level, category, topic, actor_kind, payload)
    select ${projectId}, ${tenant.caller.customerId}, 'error', 'subtask', 'subtask_failed', 'system', jsonb_build_object('error', word)
    from unnest(array['The kumquat was sour', '']) word`);
  expect(await find('kumquat')).toMatchObject([
    { kind: 'event', title: 'subtask failed', highlights: [{ field: 'message' }] },
  ]);
  expect(await find('failed kumquats')).toEqual([]);
  await rows(sql`delete from project_events where project_id = ${projectId} and payload ->> 'error' like '%kumquat%'`);
  expect(await find('kumquat')).toEqual([]);
});

// Guards: what went wrong in a run is found although the run succeeded: a tool that failed, a call that was tried again. What went well is
// not, and what is found goes with the run's events.
test('finds what went wrong in a run', async () => {
  const { run_id: id, status } = await tenant.run({
    agent: 'analyst',
    prompt: `Work it out. ${tool('calculator', { expression: '2 + quux' })} ${tool('calculator', { expression: '2 + 40' })}`,
  });
  expect(status).toBe('succeeded');
  const asked = '"quux is not known" calculator';
  const [failed, ...others] = await find(asked, { kind: 'event' });
  expect(others).toEqual([]);
  expect(failed).toMatchObject({ title: 'tool result failed', run_id: id, project_id: null, agent: 'analyst' });
  const [message] = failed?.highlights.filter(({ field }) => field === 'message') ?? [];
  expect(message?.parts.map(({ text }) => text).join('')).toMatch(/^calculator: quux is not known/);
  expect(await ids('calculator', { agent: 'writer' })).toEqual([]);
  expect((await ask({ q: asked }, other)).data).toEqual([]);

  const { run_id: retried } = await tenant.run({ agent: 'analyst', prompt: 'Try it again. [[fail:1]]' });
  const tries = await find('"model request failed"', { kind: 'event' });
  expect(tries.map(({ run_id }) => run_id)).toContain(retried);

  await rows(sql`delete from run_events where run_id = ${id}`);
  expect(await find(asked, { kind: 'event' })).toEqual([]);
});

describe('many documents', () => {
  const MANY = RANKED + 30;
  const made = (n: number) => `made-${String(n).padStart(4, '0')}`;
  /** The newest document is on the second of these pages. */
  const pearRuns = async () => {
    const found: string[] = [];
    let after: string | null | undefined;
    do {
      const page = await ask({ q: 'pear', limit: '50', ...(after && { after }) });
      found.push(...page.data.map(({ id }) => id));
      after = page.meta.next;
    } while (after);
    return found;
  };

  beforeAll(async () => {
    // Every seventh has the word twice.
    await rows(sql`
      insert into runs (id, customer_id, agent, transport, prompt, created_at)
      select 'made-' || lpad(n::text, 4, '0'), ${tenant.caller.customerId}, 'writer', 'rest',
        'A pear' || case when n % 7 = 0 then ' and a pear' else '' end, now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`);
  });

  // Guards: pages have each match once, the best of the newest first; what comes meanwhile changes nothing of them.
  test('come in pages', async () => {
    const first = await ask({ q: 'pear', limit: '100' });
    expect(first.data[0]?.id).toBe(made(7));
    await rows(
      sql`insert into runs (id, customer_id, agent, transport, prompt) values ('made-late', ${tenant.caller.customerId}, 'writer', 'rest', 'A pear and a pear')`,
    );
    const second = await ask({ q: 'pear', limit: '100', after: String(first.meta.next) });
    expect(second.data.map(({ id }) => id)).not.toContain('made-late');
    await rows(sql`delete from runs where id = 'made-late'`);
    const all = await pearRuns();
    expect(all.toSorted()).toEqual(Array.from({ length: MANY }, (_, n) => made(n + 1)));
    const twice = Math.floor(RANKED / 7);
    expect(all.slice(0, twice)).toEqual(Array.from({ length: twice }, (_, n) => made(7 * (n + 1))));
  });

  // Guards: what goes takes its document along.
  test('go with what they are of', async () => {
    await rows(sql`delete from runs where id like 'made-%'`);
    expect(await rows(sql`select subject from search_documents where subject like 'made-%'`)).toEqual([]);
  });

  // Guards: the words of a document are those that a query of the same text looks for, whatever signs stand between them.
  test('have the words that are asked for', async () => {
    const alphabet = [...'0123456789abcdefghijklmnopqrstuvwxyzÜ東', ...`  ./-_:@&<>=?%~+#*'"(),;!$|`];
    let seed = 7;
    const pick = () => alphabet[(seed = (seed * 48_271) % 2_147_483_647) % alphabet.length];
    const texts = Array.from({ length: 1_500 }, () => Array.from({ length: 14 }, pick).join(''));
    const { parseWords } = await import('../../../src/resources/search/words.ts');
    const asked = texts.map((text) => ({ text, query: parseWords(`"${text.replaceAll('"', ' ')}"`).tsquery }));
    const missed = await rows<{ text: string }>(sql`
      select text from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as a(text text, query text)
      where query is not null and not search_words(text, 'A') @@ query::tsquery`);
    expect(missed.map(({ text }) => text)).toEqual([]);
  });
});

// Guards: the command line shows what was found and where, by the same filters.
test('aos search', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'aos-search-'));
  const aos = (...args: string[]) =>
    runCli(args, { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session });
  const { code, stdout, stderr } = await aos('search', 'lemon', 'cake', '--kind', 'run');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`run  ${lemonRun}  succeeded`);
  expect(stdout).toContain('prompt: How is a Lemon cake made?');
  const json = await aos('search', 'lemon', '--status', 'failed', '--from', '2026-01-01', '--json');
  expect(JSON.parse(json.stdout).data).toMatchObject([{ id: failedRun }]);
  expect(await aos('search', 'nothing-has-this')).toMatchObject({ code: 0, stdout: 'nothing found\n' });
  await rm(folder, { recursive: true, force: true });
});
