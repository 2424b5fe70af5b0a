/** Agents over HTTP and on a real database: the workspace’s own ones, and what it may set about any. */
import { describe, expect, test } from '@jest/globals';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { useAgents, call, create, patch, detail, minimal } from './over-http.ts';

useAgents();

describe('create', () => {
  test('takes every field of the body and answers with the full row', async () => {
    const { body } = await create('acme', {
      ...minimal('full'),
      description: 'Everything set',
      allowed_tool_slugs: ['calculator', 'mcp.github.search', 'calculator'],
      default_workspace: 'sales',
      default_model: 'claude-opus-4-5',
      selection_mode: 'auto',
      effort: 'high',
      max_output_tokens: 9_000,
      fallback_models: ['gpt-5.5'],
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
      effort: 'high',
      max_output_tokens: 9_000,
      fallback_models: ['gpt-5.5'],
      owner_customer_id: 'acme',
      version: '1',
      has_avatar: false,
    });
    expect(Date.parse(body.created_at)).not.toBeNaN();
    expect((await detail('acme', 'full').expect(200)).body).toEqual({ ...body, recent_runs: expect.anything() });
  });

  // Guards: bad input gives an error that names its field, and never a 500.
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
    ['an unknown effort', { ...minimal('x1'), effort: 'extreme' }, 'effort'],
    ['too little room for an answer', { ...minimal('x1'), max_output_tokens: 255 }, 'max_output_tokens'],
    ['six fallbacks', { ...minimal('x1'), fallback_models: [...'abcdef'] }, 'fallback_models'],
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
    expect(itemAt(refused, 0).body).toEqual({
      detail: { code: 'plan_limit_exceeded', resource: 'agents', current: 3, limit: 3, tier: 'free' },
    });
    await call('delete', 'small', `/v1/agents/${itemAt(created, 0).body.slug}`).expect(204);
    await create('small', minimal('after-deleting')).expect(201);
  });

  // Guards: of parallel creates of one name exactly one wins, and the others learn why.
  test('gives a name once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('acme', minimal('contested'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });
});

describe('update', () => {
  // Guards: fields that were not sent stay, and a changed definition gets a new version.
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

  // Guards: whoever writes what was read (`allowed_tools`) changes it, rather than nothing without a word; two names that say
  // two things are refused.
  test('takes the tools by the name under which they are shown', async () => {
    const made = await create('acme', { ...minimal('shown'), allowed_tools: ['calculator'] }).expect(201);
    expect(made.body).toMatchObject({ allowed_tools: ['calculator'] });
    const { body } = await patch('acme', 'shown', { allowed_tools: ['current_time', 'calculator'] }).expect(200);
    expect(body).toMatchObject({ allowed_tools: ['current_time', 'calculator'] });
    const both = { allowed_tools: ['calculator'], allowed_tool_slugs: ['current_time'] };
    const refused = await patch('acme', 'shown', both);
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('send one of them') } });
    const after = await detail('acme', 'shown').expect(200);
    expect(after.body).toMatchObject({ allowed_tools: ['current_time', 'calculator'] });
  });

  test.each(['', '/model', '/voice'])('refuses an empty change of ...%s and says what it takes', async (path) => {
    for (const body of [undefined, {}]) {
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
  // Guards: a workspace can change a built-in agent for itself and undo that.
  test('of a built-in agent are set per workspace', async () => {
    const own = present(builtinAgents.get('analyst')).model;
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

  // Guards: a custom agent has one model, which either of the two routes sets.
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
  // Guards: a new agent under the name of a deleted one inherits nothing.
  test('takes the agent and everything set about it', async () => {
    await create('acme', minimal('brief')).expect(201);
    await patch('acme', 'brief/voice', { voice: 'warm' }).expect(200);
    await call('delete', 'acme', '/v1/agents/brief').expect(204, '');
    await detail('acme', 'brief').expect(404);
    await call('delete', 'acme', '/v1/agents/brief').expect(404);
    expect((await create('acme', minimal('brief')).expect(201)).body).toMatchObject({ voice: null, version: '1' });
  });
});
