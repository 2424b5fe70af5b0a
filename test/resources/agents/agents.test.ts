/** Agents over HTTP and on a real database: the list, the workspace's own ones, and what it may set about any. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Server } from 'node:http';
import request from 'supertest';
import { createLog } from '../../../src/platform/core/log.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import type { RecentRuns } from '../../../src/resources/agents/contract.ts';
import { agentRoutes } from '../../../src/resources/agents/routes.ts';
import { createAgentService } from '../../../src/resources/agents/service.ts';
import { createAgentStore, type AgentStore } from '../../../src/resources/agents/store.ts';
import { agentSettings, agents } from '../../../src/resources/agents/table.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

const BUILTIN_COUNT = builtinAgents.size;
const RECENT_RUNS: RecentRuns = {
  total: 3,
  succeeded: 2,
  failed: 1,
  cost_usd: '0.04200000',
  last: [
    {
      run_id: '01jd0000000000000000000000',
      parent_run_id: null,
      agent: 'writer',
      transport: 'rest',
      started_at: new Date('2026-03-01T10:00:00Z'),
      last_event_at: new Date('2026-03-01T10:00:05Z'),
      last_event_type: 'run_completed',
      last_status: 'succeeded',
      event_count: 6,
      total_cost_usd: '0.014',
      model: 'offline',
      reasoning: null,
      model_tier: 'offline',
      model_rule: 'offline',
      model_enforce: false,
    },
  ],
};

let database: TestDatabase;
let store: AgentStore;
let server: Server;
let publicServer: Server;
const callers = new Map<string, Caller>();
const askedFor: string[][] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  for (const [id, plan] of [
    ['acc_acme', 'pro_hosted'],
    ['acc_other', 'pro_hosted'],
    ['acc_small', 'free'],
    ['acc_quiet', 'pro_hosted'],
  ] as const) {
    const caller = await makeWorkspace(database.db, id, plan);
    callers.set(caller.customerId, caller);
  }
  store = createAgentStore(database.db);
  server = serve({ publicVisibility: false });
  publicServer = serve({ publicVisibility: true });
});

afterAll(async () => {
  for (const one of [server, publicServer]) await new Promise((resolve) => one.close(resolve));
  await database.close();
});

function serve({ publicVisibility }: { publicVisibility: boolean }): Server {
  const service = createAgentService({
    store,
    workspaces: createWorkspaceStore(database.db),
    files: { put: unused, get: unused, delete: unused },
    recentRuns: async (customerId, slug) => {
      askedFor.push([customerId, slug]);
      return RECENT_RUNS;
    },
    publicVisibility,
  });
  const routes = agentRoutes({ agents: service });
  const authenticate = async (_credential: unknown, { headers }: { headers: Record<string, unknown> }) => {
    const caller = callers.get(String(headers['x-test-workspace']));
    if (!caller) throw new Problem('auth_required');
    return caller;
  };
  const on = (surface: string) => routes.filter(({ endpoint }) => endpoint.surface === surface);
  const app = express();
  app.use('/public', createSurface({ routes: on('public'), authenticate }));
  app.use(createSurface({ routes: on('control-plane'), authenticate }));
  app.use(notFound, errorHandler(createLog({ level: 'silent', pretty: false })));
  return app.listen(0, '127.0.0.1');
}
const unused = () => Promise.reject(new Error('these tests store no file'));

const call = (method: 'get' | 'post' | 'patch' | 'delete', workspace: string, path: string, to = server) =>
  request(to)[method](path).set('x-test-workspace', workspace);
const create = (workspace: string, body: unknown) => call('post', workspace, '/v1/agents').send(body as object);
const patch = (workspace: string, path: string, body: unknown) =>
  call('patch', workspace, `/v1/agents/${path}`).send(body as object);
const detail = (workspace: string, slug: string) => call('get', workspace, `/v1/agents/${slug}/detail`);

const minimal = (slug: string) => ({ slug, model: 'claude-haiku-4-5', prompt: 'You answer in haiku.' });
const LIST_FIELDS = [
  'slug',
  'description',
  'model',
  'module',
  'class_name',
  'prompt_length',
  'allowed_tools_count',
  'allowed_tools',
  'is_builtin',
  'default_model',
  'selection_mode',
  'reasoning',
  'resolver_enforce',
  'memory_mode',
];
const DETAIL_FIELDS = [
  ...LIST_FIELDS,
  'prompt',
  'session_prompt',
  'heartbeat_prompt',
  'allowlist_block',
  'allowlist_add',
  'default_workspace',
  'voice',
  'has_avatar',
  'created_at',
  'updated_at',
  'recent_runs',
];

describe('built-in agents', () => {
  // Guards: what ships is usable: each can be named, has a real prompt, and is told apart by its description.
  test('are complete and different', () => {
    expect(BUILTIN_COUNT).toBeGreaterThanOrEqual(10);
    for (const [slug, agent] of builtinAgents) {
      expect(agent.slug).toBe(slug);
      expect(slug).toMatch(/^[a-z][a-z-]*$/);
      expect(agent.prompt.length).toBeGreaterThan(1_000);
      expect(new Set(agent.allowedTools).size).toBe(agent.allowedTools.length);
    }
    expect(new Set([...builtinAgents.values()].map(({ description }) => description)).size).toBe(BUILTIN_COUNT);
  });
});

describe('lists', () => {
  // Guards: exactly the fields of the specification, and custom agents' own two.
  test('show built-in and own agents with the promised fields', async () => {
    await create('quiet', { ...minimal('poet'), description: 'Writes haiku.', allowed_tool_slugs: ['calculator'] });
    const { body } = await call('get', 'quiet', '/v1/agents').expect(200);
    expect(body.meta).toEqual({ total: BUILTIN_COUNT + 1, builtin: BUILTIN_COUNT, custom: 1 });
    expect(Object.keys(body.data[0]).sort()).toEqual([...LIST_FIELDS].sort());
    expect(body.data[0]).toMatchObject({
      slug: 'assistant',
      module: 'app.agents.assistant',
      class_name: 'AssistantAgent',
      is_builtin: true,
      memory_mode: 'both',
      default_model: null,
      selection_mode: null,
      reasoning: null,
      resolver_enforce: null,
      prompt_length: builtinAgents.get('assistant')!.prompt.length,
    });
    expect(body.data.at(-1)).toEqual({
      slug: 'poet',
      description: 'Writes haiku.',
      model: 'claude-haiku-4-5',
      module: '(db)',
      class_name: '(custom)',
      prompt_length: 'You answer in haiku.'.length,
      allowed_tools_count: 1,
      allowed_tools: ['calculator'],
      is_builtin: false,
      default_model: null,
      selection_mode: null,
      reasoning: null,
      resolver_enforce: null,
      memory_mode: 'both',
      owner_customer_id: 'quiet',
      version: '1',
    });
  });

  test('give callers with a key slug and description alone', async () => {
    const { body } = await call('get', 'quiet', '/public/v1/agents').expect(200);
    expect(body.meta).toEqual({ total: BUILTIN_COUNT + 1 });
    expect(body.data.at(-1)).toEqual({ slug: 'poet', description: 'Writes haiku.' });
    for (const row of body.data) expect(Object.keys(row)).toEqual(['slug', 'description']);
  });

  test('need a credential', async () => {
    for (const path of ['/v1/agents', '/v1/agents/writer/detail', '/v1/agents/writer/avatar', '/public/v1/agents']) {
      await request(server).get(path).expect(401);
    }
  });
});

describe('detail', () => {
  test('of a built-in agent is the full row and its recent runs', async () => {
    const { body } = await detail('acme', 'writer').expect(200);
    expect(Object.keys(body).sort()).toEqual([...DETAIL_FIELDS].sort());
    expect(body).toMatchObject({
      prompt: builtinAgents.get('writer')!.prompt,
      allowlist_block: [],
      allowlist_add: [],
      voice: null,
      has_avatar: false,
      created_at: null,
      updated_at: null,
    });
    expect(body.recent_runs).toMatchObject({ total: 3, succeeded: 2, failed: 1, cost_usd: '0.042' });
    expect(body.recent_runs.last[0].started_at).toBe('2026-03-01T10:00:00.000Z');
    expect(askedFor.at(-1)).toEqual(['acme', 'writer']);
  });

  test.each(['nobody', '__proto__', 'constructor', 'WRITER', '%20', 'x'.repeat(3_000)])(
    'knows no agent %s',
    async (slug) => {
      await detail('acme', slug).expect(404, { detail: 'not_found' });
    },
  );

  // Guards: addresses that the specification closes stay closed.
  test.each([
    ['get', '/v1/agents/writer'],
    ['post', '/v1/agents/writer/invoke'],
    ['post', '/v1/agents/writer/cancel/01jd0000000000000000000000'],
  ] as const)('%s %s does not exist', async (method, path) => {
    await call(method, 'acme', path).expect(404, { detail: 'not_found' });
  });
});

describe('create', () => {
  test('takes every field of the body and answers with the full row', async () => {
    const { body } = await create('acme', {
      ...minimal('full'),
      description: 'Everything set',
      allowed_tool_slugs: ['calculator', 'mcp.github.search', 'calculator'],
      default_workspace: 'sales',
      default_model: 'claude-opus-4-5',
      selection_mode: 'auto',
      customer_id: 'other',
      owner_customer_id: 'other',
    }).expect(201);
    expect(body).toMatchObject({
      slug: 'full',
      prompt: 'You answer in haiku.',
      allowed_tools: ['calculator', 'mcp.github.search'],
      allowed_tools_count: 2,
      default_workspace: 'sales',
      default_model: 'claude-opus-4-5',
      selection_mode: 'auto',
      owner_customer_id: 'acme',
      version: '1',
      has_avatar: false,
    });
    expect(Date.parse(body.created_at)).not.toBeNaN();
    expect((await detail('acme', 'full').expect(200)).body).toEqual({ ...body, recent_runs: expect.anything() });
  });

  // Guards: bad input names its field and is never a 500.
  test.each([
    ['no slug', { model: 'm', prompt: 'p' }, 'slug'],
    ['no model', { slug: 'x1', prompt: 'p' }, 'model'],
    ['no prompt', { slug: 'x1', model: 'm' }, 'prompt'],
    ['a blank prompt', { ...minimal('x1'), prompt: ' \n ' }, 'prompt'],
    ['an empty model', { ...minimal('x1'), model: '' }, 'model'],
    ['a model with spaces', { ...minimal('x1'), model: 'a b' }, 'model'],
    ['a slug that is no handle', { ...minimal('../x') }, 'slug'],
    ['a slug of 65 characters', { ...minimal('x'.repeat(65)) }, 'slug'],
    ['a NUL in the prompt', { ...minimal('x1'), prompt: 'a\u0000b' }, 'prompt'],
    ['a huge prompt', { ...minimal('x1'), prompt: 'p'.repeat(300_000) }, 'prompt'],
    ['tools that are no list', { ...minimal('x1'), allowed_tool_slugs: 'calculator' }, 'allowed_tool_slugs'],
    ['a tool that is no slug', { ...minimal('x1'), allowed_tool_slugs: ['a b'] }, 'allowed_tool_slugs'],
    ['an unknown selection mode', { ...minimal('x1'), selection_mode: 'best' }, 'selection_mode'],
  ])('refuses %s', async (_case, body, field) => {
    const response = await create('acme', body);
    expect(response.status).toBe(422);
    expect(response.body.detail.map(({ loc }: { loc: string[] }) => loc.slice(0, 2))).toContainEqual(['body', field]);
  });

  test.each([undefined, [], 'text', null])('refuses the body %j', async (body) => {
    const response = await call('post', 'acme', '/v1/agents')
      .set('content-type', 'application/json')
      .send(body === undefined ? undefined : JSON.stringify(body));
    expect(response.status).toBe(422);
  });

  test('refuses a taken slug, its own or a built-in one', async () => {
    await create('acme', minimal('taken')).expect(201);
    await create('acme', minimal('taken')).expect(409, { detail: 'slug_taken' });
    await create('acme', minimal('assistant')).expect(409, { detail: 'slug_taken' });
    await create('other', minimal('taken')).expect(201);
  });

  // Guards: parallel creates never exceed the cap, and deleting makes room.
  test('holds the cap of the plan under parallel creates', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => create('small', minimal(`agent-${n}`))));
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 403);
    expect([created.length, refused.length]).toEqual([3, 17]);
    expect(refused[0]!.body).toEqual({
      detail: { code: 'plan_limit_exceeded', resource: 'agents', current: 3, limit: 3, tier: 'free' },
    });
    await call('delete', 'small', `/v1/agents/${created[0]!.body.slug}`).expect(204);
    await create('small', minimal('after-deleting')).expect(201);
  });

  // Guards: of parallel creates of one name exactly one wins, and the others learn why.
  test('gives a name once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('acme', minimal('contested'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });
});

describe('update', () => {
  // Guards: what was not sent stays, and a changed definition has another version.
  test('changes only what was sent', async () => {
    await create('acme', { ...minimal('changing'), description: 'before', default_model: 'm1' }).expect(201);
    const { body } = await patch('acme', 'changing', { prompt: 'Better.', selection_mode: 'auto' }).expect(200);
    expect(body).toMatchObject({
      prompt: 'Better.',
      description: 'before',
      model: 'claude-haiku-4-5',
      default_model: 'm1',
      selection_mode: 'auto',
      version: '2',
    });
    const cleared = await patch('acme', 'changing', { default_model: null, allowed_tool_slugs: [] }).expect(200);
    expect(cleared.body).toMatchObject({ default_model: null, selection_mode: 'auto', version: '3' });
  });

  test.each(['', '/model', '/voice'])('refuses an empty change of ...%s and says what it takes', async (path) => {
    for (const body of [undefined, {}, { unknown: 1 }]) {
      const response = await patch('acme', `writer${path}`, body);
      expect(response.status).toBe(400);
      expect(response.body.detail).toMatch(/^nothing to change: send at least one of [a-z_]+/);
    }
  });

  test('leaves built-in agents alone', async () => {
    await patch('acme', 'writer', { prompt: 'mine' }).expect(400, { detail: 'builtin_immutable' });
    await call('delete', 'acme', '/v1/agents/writer').expect(400, { detail: 'builtin_immutable' });
  });

  test.each([{ prompt: ' ' }, { prompt: null }, { model: null }, { description: 7 }])('refuses %j', async (body) => {
    await patch('acme', 'changing', body).expect(422);
  });
});

describe('model and voice', () => {
  // Guards: a workspace's choice about a built-in agent is its own and can be taken back.
  test('of a built-in agent are set per workspace', async () => {
    const own = builtinAgents.get('analyst')!.model;
    const { body } = await patch('acme', 'analyst/model', {
      model: 'gpt-5',
      default_model: 'gpt-5-mini',
      selection_mode: 'fixed',
      reasoning: true,
      resolver_enforce: true,
    }).expect(200);
    const choices = { default_model: 'gpt-5-mini', selection_mode: 'fixed', reasoning: true, resolver_enforce: true };
    expect(body).toMatchObject({ model: 'gpt-5', ...choices, is_builtin: true, created_at: null });
    expect((await detail('other', 'analyst')).body).toMatchObject({ model: own, reasoning: null });

    await patch('acme', 'analyst/voice', { voice: 'calm' }).expect(200);
    const after = await patch('acme', 'analyst/model', { model: null, reasoning: false }).expect(200);
    expect(after.body).toMatchObject({ model: own, ...choices, reasoning: false, voice: 'calm' });
    expect((await patch('acme', 'analyst/voice', { voice: null }).expect(200)).body.voice).toBeNull();
  });

  // Guards: a custom agent has one model, whichever of the two routes set it last.
  test('of a custom agent change its definition', async () => {
    await create('acme', minimal('tuned')).expect(201);
    const first = await patch('acme', 'tuned/model', { model: 'm1', resolver_enforce: true }).expect(200);
    expect(first.body).toMatchObject({ model: 'm1', resolver_enforce: true, version: '2' });
    expect((await patch('acme', 'tuned', { model: 'm2' }).expect(200)).body.model).toBe('m2');
    expect((await patch('acme', 'tuned/voice', { voice: 'warm' }).expect(200)).body).toMatchObject({
      voice: 'warm',
      model: 'm2',
      version: '3',
    });
    await patch('acme', 'tuned/model', { model: null }).expect(400);
  });

  test.each([
    ['model', { model: 'a b' }],
    ['model', { reasoning: 'yes' }],
    ['model', { selection_mode: 'best' }],
    ['voice', { voice: '' }],
    ['voice', { voice: 'a\u0000' }],
  ])('refuse %s %j', async (path, body) => {
    await patch('acme', `writer/${path}`, body).expect(422);
  });
});

describe('delete', () => {
  // Guards: a later agent of the same name starts afresh.
  test('takes the agent and everything set about it', async () => {
    await create('acme', minimal('brief')).expect(201);
    await patch('acme', 'brief/voice', { voice: 'warm' }).expect(200);
    await call('delete', 'acme', '/v1/agents/brief').expect(204, '');
    await detail('acme', 'brief').expect(404);
    await call('delete', 'acme', '/v1/agents/brief').expect(404);
    expect((await create('acme', minimal('brief')).expect(201)).body).toMatchObject({ voice: null, version: '1' });
  });
});

describe('tenancy', () => {
  // Guards: a foreign agent answers exactly as one that does not exist, on every route, and nothing changes.
  test("another workspace's agent is an unknown one", async () => {
    await create('acme', minimal('secret')).expect(201);
    const before = (await detail('acme', 'secret')).body;
    const attempts = [
      detail('other', 'secret'),
      patch('other', 'secret', { prompt: 'mine' }),
      patch('other', 'secret/model', { model: 'm' }),
      patch('other', 'secret/voice', { voice: 'v' }),
      call('delete', 'other', '/v1/agents/secret'),
      call('get', 'other', '/v1/agents/secret/avatar'),
      request(server)
        .put('/v1/agents/secret/avatar')
        .set('x-test-workspace', 'other')
        .attach('file', Buffer.from('x'), 'x.png'),
      call('delete', 'other', '/v1/agents/secret/avatar'),
    ];
    for (const attempt of attempts) {
      const response = await attempt;
      expect([response.status, response.body]).toEqual([404, { detail: 'not_found' }]);
    }
    expect((await detail('acme', 'secret')).body).toEqual(before);
    expect((await call('get', 'other', '/v1/agents')).text).not.toContain('secret');
    expect((await call('get', 'other', '/public/v1/agents')).text).not.toContain('secret');
  });
});

describe('public visibility', () => {
  // Guards: how built-in agents are made never leaves a deployment that hides it, by any route.
  test('blanks built-in agents and never custom ones', async () => {
    await create('acme', minimal('visible')).expect(201);
    const list = await call('get', 'acme', '/v1/agents', publicServer).expect(200);
    const writer = list.body.data.find(({ slug }: { slug: string }) => slug === 'writer');
    expect(writer).toMatchObject({ module: '', class_name: '', redacted: true, model: expect.any(String) });

    const { body } = await call('get', 'acme', '/v1/agents/writer/detail', publicServer).expect(200);
    expect(body).toMatchObject({ prompt: '', session_prompt: '', heartbeat_prompt: '', module: '', class_name: '' });
    expect(body).toMatchObject({ allowlist_block: [], allowlist_add: [], redacted: true });
    const changed = await call('patch', 'acme', '/v1/agents/writer/voice', publicServer).send({ voice: 'v' });
    expect([changed.status, changed.body.prompt, changed.body.redacted]).toEqual([200, '', true]);

    const custom = await call('get', 'acme', '/v1/agents/visible/detail', publicServer).expect(200);
    expect(custom.body).toMatchObject({ prompt: 'You answer in haiku.', module: '(db)' });
    expect(custom.body).not.toHaveProperty('redacted');
  });
});

describe('store', () => {
  // Guards: a release that ships an agent under a name which a workspace already uses does not replace the workspace's.
  test('lets a custom agent displace a later built-in of its name', async () => {
    await database.db.orm
      .insert(agents)
      .values({ customerId: 'quiet', slug: 'tester', prompt: 'Ours.', model: 'm', description: 'Our own' });
    await database.db.orm.insert(agentSettings).values({ customerId: 'quiet', slug: 'tester', voice: 'v' });
    expect(await store.loadAgent('quiet', 'tester')).toMatchObject({ prompt: 'Ours.', isBuiltin: false, voice: 'v' });
    expect((await store.listAgents('quiet')).filter(({ slug }) => slug === 'tester')).toHaveLength(1);
    expect(await store.loadAgent('acme', 'tester')).toMatchObject({ isBuiltin: true, voice: null });
  });

  test('knows no agent of a workspace that does not exist but the built-in ones', async () => {
    expect(await store.loadAgent('nowhere', 'full')).toBeUndefined();
    expect(await store.loadAgent('nowhere', 'writer')).toMatchObject({ isBuiltin: true });
  });
});
