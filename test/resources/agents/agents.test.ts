/** Agents over HTTP and on a real database: the list, a single one, and who sees which. */
import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { present } from '../../../src/platform/core/present.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { agentSettings, agents } from '../../../src/resources/agents/table.ts';
import {
  useAgents,
  database,
  server,
  publicServer,
  store,
  askedFor,
  call,
  create,
  patch,
  detail,
  minimal,
} from './over-http.ts';

useAgents();

const BUILTIN_COUNT = builtinAgents.size;

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
  'on_lost_effect',
];

const DETAIL_FIELDS = [
  ...LIST_FIELDS,
  'prompt',
  'session_prompt',
  'heartbeat_prompt',
  'allowlist_block',
  'allowlist_add',
  'default_workspace',
  'effort',
  'max_output_tokens',
  'fallback_models',
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
      prompt_length: present(builtinAgents.get('assistant')).prompt.length,
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
      on_lost_effect: 'tell',
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
      prompt: present(builtinAgents.get('writer')).prompt,
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

  // Guards: endpoints that the specification excludes do not exist.
  test.each([
    ['get', '/v1/agents/writer'],
    ['post', '/v1/agents/writer/invoke'],
    ['post', '/v1/agents/writer/cancel/01jd0000000000000000000000'],
  ] as const)('%s %s does not exist', async (method, path) => {
    await call(method, 'acme', path).expect(404, { detail: 'not_found' });
  });
});

describe('tenancy', () => {
  // Guards: another workspace's agent answers on every route exactly as one that does not exist, and nothing changes.
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
  // Guards: a deployment that hides the definitions of built-in agents shows them by no route.
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
