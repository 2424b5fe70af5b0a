/** The tools resource over HTTP: what is listed and shown, and what a workspace may make, change and delete. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eq, sql } from 'drizzle-orm';
import { memoryEntries } from '../../../src/resources/memory/table.ts';
import { createToolStore } from '../../../src/resources/tools/store.ts';
import { tool as callOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

const stub = (slug: string, more: object = {}) => ({
  slug,
  description: 'Says yes.',
  kind: 'stub',
  schema: { type: 'object', properties: { text: { type: 'string' }, loud: { type: 'boolean' } } },
  body: { result: { says: 'yes' } },
  ...more,
});
const webhook = (slug: string, body: object = {}, more: object = {}) =>
  stub(slug, { kind: 'webhook', body: { url: 'https://example.com/{text}', ...body }, ...more });

const create = (tool: unknown, by = tenant) => by.cp('POST', '/v1/tools', tool);
const change = (slug: string, body?: unknown, by = tenant) => by.cp('PATCH', `/v1/tools/${slug}`, body);
const show = async (slug: string, by = tenant) => (await by.cp('GET', `/v1/tools/${slug}`)).body;
const list = async (by = tenant) => (await by.cp('GET', '/v1/tools')).body;
/** Rows named by what is said: what is sent may be long. */
const named = (rows: [sent: unknown, detail: string | RegExp][]) =>
  rows.map(([sent, detail]): [string, unknown, string | RegExp] => [String(detail), sent, detail]);
const refused = (detail: unknown) => ({ status: 400, body: { detail } });

describe('what is shown', () => {
  // Guards: the fields of a built-in tool, which has none of those of custom ones.
  test('a built-in tool', async () => {
    const { data, meta } = await list();
    const row = data.find(({ slug }: { slug: string }) => slug === 'http_request');
    expect(row).toEqual({
      slug: 'http_request',
      description: expect.stringContaining('HTTP request'),
      module: 'app.tools.web.http_request',
      category: 'web',
      sensitive: false,
      param_names: ['method', 'url', 'headers', 'body', 'timeout_s'],
      param_count: 5,
      is_builtin: true,
      used_by: expect.any(Number),
    });
    expect(meta).toEqual({ total: data.length, builtin: data.length, custom: 0 });
    expect(await show('http_request')).toEqual({
      ...row,
      id: null,
      params_schema: expect.objectContaining({ type: 'object', required: ['url'] }),
      recent_invocations: [],
    });
  });

  // Guards: the fields of a custom tool, and that defaults are those of its kind.
  test('a custom tool', async () => {
    const other = await service.tenant('acc_shown');
    const made = await create(stub('greet'), other);
    const row = {
      slug: 'greet',
      description: 'Says yes.',
      module: '(db)',
      category: 'custom',
      sensitive: false,
      param_names: ['text', 'loud'],
      param_count: 2,
      is_builtin: false,
      used_by: 0,
      kind: 'stub',
      shape: 'api',
      access: 'both',
      owner_customer_id: 'shown',
      version: '1',
    };
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      ...row,
      id: expect.any(Number),
      params_schema: stub('').schema,
      schema: stub('').schema,
      body: { result: { says: 'yes' } },
      integration: null,
      effect: 'read',
      recent_invocations: [],
    });
    expect(await show('greet', other)).toEqual(made.body);
    const { data, meta } = await list(other);
    expect(data.at(-1)).toEqual(row);
    expect(meta).toEqual({ total: data.length, builtin: data.length - 1, custom: 1 });
  });

  // Guards: every call shows, newest first, without what its names tell to be secret, and only the workspace's own.
  test('recent invocations', async () => {
    const [other, stranger] = [await service.tenant('acc_calls'), await service.tenant('acc_stranger')];
    for (const each of [other, stranger]) {
      await create(stub('greet', { schema: { type: 'object' } }), each);
      await each.cp('POST', '/v1/agents', {
        slug: 'greeter',
        model: 'offline',
        prompt: 'You greet.',
        allowed_tool_slugs: ['greet'],
      });
    }
    const greet = (args: object, by = other) => by.run({ agent: 'greeter', prompt: `Greet. ${callOf('greet', args)}` });
    const first = await greet({ text: 'one', api_key: 'k-1', deep: [{ Password: 'p-1', kept: null }] });
    const second = await greet({ text: 'x'.repeat(300) });
    const third = await greet({ text: 'y'.repeat(20_000) });
    await greet({ text: 'not yours' }, stranger);

    const { recent_invocations } = await show('greet', other);
    expect(recent_invocations).toEqual([
      expect.objectContaining({ run_id: third.run_id, params_preview: '…' }),
      expect.objectContaining({
        run_id: second.run_id,
        params_preview: expect.stringMatching(/^\{"text":"x{190}…$/),
      }),
      {
        id: `${first.run_id}:call_1_0`,
        ts: expect.stringMatching(/^\d{4}-.*Z$/),
        run_id: first.run_id,
        agent: 'greeter',
        transport: 'rest',
        params_preview: '{"deep":[{"kept":null,"Password":"***"}],"text":"one","api_key":"***"}',
      },
    ]);
  });

  // Guards: a tool is used by the active skills that declare it, and by nothing of another workspace; skills that name
  // a slug before there is such a tool declare it once there is, and no more when it is gone.
  test('how many skills use a tool', async () => {
    const [other, stranger] = [await service.tenant('acc_uses'), await service.tenant('acc_uses_too')];
    const usesOf = async (slug: string, by = other) => (await show(slug, by)).used_by;
    const builtinUses = await usesOf('calculator');
    const skill = (slug: string, body: string, by = other) =>
      by.cp('POST', '/v1/skills', { slug, name: slug, prompt_addendum: body });
    await skill('one', 'Use [[calculator]], then [[greet]].');
    await skill('two', 'Use [[greet]] or [[greet|the greeter]].');
    await skill('gone', 'Use [[greet]].');
    await skill('one', 'Use [[greet]].', stranger);
    await service.runtime.db.orm
      .update(memoryEntries)
      .set({ status: 'archived' })
      .where(eq(memoryEntries.slug, 'gone'));

    await create(stub('greet'), other);
    expect([await usesOf('greet'), await usesOf('calculator')]).toEqual([2, builtinUses + 1]);
    const { data } = await list(other);
    expect(data.at(-1)).toMatchObject({ slug: 'greet', used_by: 2 });
    await create(stub('greet'), stranger);
    expect([await usesOf('greet', stranger), await usesOf('calculator', stranger)]).toEqual([1, builtinUses]);

    await other.cp('DELETE', '/v1/tools/greet');
    const edges = await service.runtime.db.rows<{ type: string }>(sql`
      select edge_type as type from memory_edges where customer_id = 'uses' and dst_slug = 'greet'`);
    expect(edges.map(({ type }) => type)).toEqual(['depends_on', 'depends_on', 'depends_on']);
    await create(stub('greet'), other);
    expect(await usesOf('greet')).toBe(2);
  });
});

describe('making a tool', () => {
  // Guards: each kind is taken for what it is, unless its author says otherwise.
  test('has the defaults of its kind, and takes what is said', async () => {
    const of = async (tool: object) => {
      const { body } = await create(tool);
      return [body.shape, body.access, body.sensitive, body.effect, body.integration];
    };
    expect(await of(stub('default-stub'))).toEqual(['api', 'both', false, 'read', null]);
    expect(await of(webhook('default-hook'))).toEqual(['api', 'both', false, 'irreversible', null]);
    expect(await of(webhook('get-hook', { method: 'GET' }))).toEqual(['api', 'both', false, 'read', null]);
    for (const method of ['PUT', 'DELETE']) {
      expect(await of(webhook(`${method.toLowerCase()}-hook`, { method }))).toMatchObject({ 3: 'idempotent' });
    }
    const said = { shape: 'cli', access: 'human', sensitive: true, effect: 'idempotent', integration: 'github' };
    expect(await of(webhook('said', { method: 'PATCH' }, said))).toEqual([
      'cli',
      'human',
      true,
      'idempotent',
      'github',
    ]);
    expect(await of(stub('no-type', { schema: { properties: {} } }))).toHaveLength(5);
    expect(await show('no-type')).toMatchObject({ schema: { type: 'object', properties: {} } });
  });

  // Guards: bad input is 400 with a sentence that names what is wrong; never 422, never 500.
  test.each(
    named([
      [undefined, 'slug required'],
      ['text', 'slug required'],
      [{}, 'slug required'],
      [stub(''), 'slug required'],
      [stub('x'.repeat(65)), 'slug too long (max 64)'],
      [stub('No Spaces'), /^slug must be lower-case/],
      [stub('mcp.x.y'), /^slug must be lower-case/],
      [stub('a', { description: ' ' }), 'description required'],
      [stub('a', { description: undefined }), 'description required'],
      [stub('a', { description: 'x'.repeat(4_001) }), /^description too long/],
      [stub('a', { description: 'nul \u0000' }), /NUL/],
      [stub('a', { description: 'half \ud800' }), /Unicode/],
      [stub('a', { kind: 'magic' }), /^kind must be one of stub, webhook/],
      [stub('a', { kind: undefined }), /^kind must be one of/],
      [stub('a', { access: 'nobody' }), /^access must be one of/],
      [stub('a', { shape: 1 }), /^shape must be one of/],
      [stub('a', { effect: 'none' }), /^effect must be one of/],
      [stub('a', { schema: undefined }), 'schema must be a JSON Schema object'],
      [stub('a', { schema: [] }), 'schema must be a JSON Schema object'],
      [stub('a', { schema: 'object' }), 'schema must be a JSON Schema object'],
      [stub('a', { schema: { type: 'array' } }), 'the schema is not of type object'],
      [stub('a', { schema: { type: 'object', properties: { x: { type: 'no' } } } }), /^the schema is not valid/],
      [stub('a', { schema: { type: 'object', $ref: 'https://example.com/s.json' } }), /outside of itself/],
      [stub('a', { schema: { type: 'object', properties: { x: { pattern: '(a' } } } }), /^the schema /],
      [stub('a', { schema: { type: 'object', description: 'x'.repeat(70_000) } }), /larger than/],
      [stub('a', { body: undefined }), 'body must be an object'],
      [stub('a', { body: [] }), 'body must be an object'],
      [stub('a', { body: {} }), /^body\.result: /],
      [stub('a', { body: { result: 1, more: 2 } }), /^body: /],
      [webhook('a', { url: undefined }), /^body\.url: /],
      [webhook('a', { method: 'TRACE' }), /^body\.method: /],
      [webhook('a', { timeout_s: 0 }), /^body\.timeout_s: /],
      [webhook('a', { url: 'https://{text}.example.com/' }), /^body\.url: .*not in the host/],
      [webhook('a', { url: 'https://example.com/{unknown}' }), 'body.url: {unknown} is not a property of the schema'],
      [webhook('a', { headers: { 'X-A': '{__proto__}' } }), /^body\.headers\.X-A: \{__proto__\} is not/],
      [webhook('a', { headers: { 'X-A': 'a\r\nHost: b' } }), /^body\.headers: .*line break/],
      [webhook('a', { headers: { Host: 'inside' } }), /^body\.headers: .*cannot be set/],
      [webhook('a', { headers: { Authorization: '***' } }), /^body\.headers\.Authorization: the mask/],
      [webhook('a', { headers: { 'X-A': '1', 'x-a': '2' } }), /one name twice/],
      [webhook('a', {}, { integration: 'nobodys' }), 'integration: there is no "nobodys"'],
    ]),
  )('refuses with %s', async (_, tool, detail) => {
    const answer = await create(tool);
    expect(answer).toMatchObject(refused(typeof detail === 'string' ? detail : expect.stringMatching(detail)));
  });

  // Guards: JSON that a parser makes a prototype of is a value like any other, and reaches nothing.
  test('takes __proto__ as a name', async () => {
    const text = JSON.stringify(stub('proto')).replace('"text"', '"__proto__"').replace('"says"', '"__proto__"');
    const answer = await fetch(`${service.baseUrl}/api/v1/cp/v1/tools`, {
      method: 'POST',
      headers: { cookie: `service_session=${tenant.session}`, 'content-type': 'application/json' },
      body: text,
    });
    expect([201, 400]).toContain(answer.status);
    expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  });

  // Guards: a slug names one tool: neither a built-in one nor another of the workspace gets displaced, however two race.
  test('refuses a taken slug', async () => {
    const taken = { status: 409, body: { detail: 'slug_taken' } };
    expect(await create(stub('calculator'))).toMatchObject(taken);
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(stub('once'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    // Before what would be wrong with it as well: body errors come first.
    expect(await create(stub('calculator', { body: {} }))).toMatchObject({ status: 400 });
  });

  // Guards: the cap of the plan holds under parallel creates, says what it is, and frees a place with a deletion.
  test('stops at the cap', async () => {
    const small = await service.tenant('acc_small', 'free');
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => create(stub(`tool-${i}`), small)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(5);
    for (const { status, body } of answers.filter((answer) => !made.includes(answer))) {
      expect({ status, body }).toEqual({
        status: 403,
        body: {
          detail: { code: 'plan_limit_exceeded', resource: 'custom_tools', current: 5, limit: 5, tier: 'free' },
        },
      });
    }
    expect((await list(small)).meta.custom).toBe(5);
    await small.cp('DELETE', `/v1/tools/${made[0]!.body.slug}`);
    expect(await create(stub('sixth'), small)).toMatchObject({ status: 201 });
  });
});

describe('changing a tool', () => {
  // Guards: only what was sent changes, and each change has a version.
  test('changes what is sent', async () => {
    const { body: before } = await create(stub('changed'));
    const { body } = await change('changed', { description: 'Says no.', body: { result: 'no' } });
    expect(body).toEqual({ ...before, description: 'Says no.', body: { result: 'no' }, version: '2' });
    expect(await show('changed')).toEqual(body);
    const schema = { type: 'object', properties: { name: {} } };
    expect((await change('changed', { schema, access: 'human', slug: 'other' })).body).toMatchObject({
      slug: 'changed',
      version: '3',
      access: 'human',
      param_names: ['name'],
      params_schema: schema,
    });
  });

  // Guards: what is written is checked as a whole: a schema cannot lose what the address needs, nor a kind its body.
  test('keeps a tool callable', async () => {
    await create(webhook('whole'));
    expect(await change('whole', { schema: { type: 'object' } })).toMatchObject(
      refused('body.url: {text} is not a property of the schema'),
    );
    expect(await change('whole', { kind: 'stub' })).toMatchObject(refused(expect.stringMatching(/^body/)));
    expect(await change('whole', { integration: 'nobodys' })).toMatchObject({ status: 400 });
    expect(await change('whole', { description: '' })).toMatchObject(refused('description required'));
    expect(await change('whole', {})).toMatchObject(refused(expect.stringMatching(/^nothing to change/)));
    expect(await change('whole')).toMatchObject(refused(expect.stringMatching(/^nothing to change/)));
    expect(await change('whole', [])).toMatchObject({ status: 400 });
    expect(await show('whole')).toMatchObject({ version: '1', kind: 'webhook' });
  });

  // Guards: a GET that becomes a POST is not repeated; what the author chose stays chosen.
  test('keeps the effect true', async () => {
    await create(webhook('reader', { method: 'GET' }));
    const url = 'https://example.com/';
    expect((await change('reader', { body: { url, method: 'POST' } })).body).toMatchObject({ effect: 'irreversible' });
    await create(webhook('chosen', {}, { effect: 'idempotent' }));
    expect((await change('chosen', { body: { url, method: 'PATCH' } })).body).toMatchObject({ effect: 'idempotent' });
  });

  // Guards: no secret of a header comes back; the mask does, and keeps the secret that it stands for.
  test('masks secrets and keeps them', async () => {
    const headers = {
      Authorization: 'Bearer canary-1234',
      'X-Api-Key': 'k-1',
      Accept: 'application/vnd.github.v3+json',
      'X-User': 'Bearer {text}',
      'Notion-Version': '2022-06-28',
      'X-Long': 'canary-0123456789abcdef',
    };
    const shown = { ...headers, Authorization: '***', 'X-Api-Key': '***', 'X-Long': '***' };
    const { body } = await create(webhook('masked', { headers }));
    expect(body.body.headers).toEqual(shown);
    expect(JSON.stringify([await show('masked'), await list()])).not.toContain('canary');
    const [row] = await service.runtime.db.rows<object>(sql`select * from tools where slug = 'masked'`);
    expect(JSON.stringify(row)).not.toMatch(/canary|example\.com/);

    const sent = { url: 'https://example.com/v2', headers: { ...shown, 'X-Api-Key': 'k-2' } };
    expect(await change('masked', { body: sent })).toMatchObject({ status: 200 });
    const stored = await createToolStore(service.runtime.db, service.services.secretBox).find('acme', 'masked');
    expect(stored!.body).toEqual({ url: sent.url, headers: { ...headers, 'X-Api-Key': 'k-2' } });
    expect(await change('masked', { body: { ...sent, headers: { 'X-New-Key': '***' } } })).toMatchObject(
      refused(expect.stringContaining('the mask stands for no secret')),
    );
  });

  // Guards: what ships is nobody's to change.
  test.each(['PATCH', 'DELETE'])('%s refuses a built-in tool, and does not know an unknown one', async (method) => {
    const body = method === 'PATCH' ? { description: 'Mine.' } : undefined;
    expect(await tenant.cp(method, '/v1/tools/calculator', body)).toMatchObject(
      refused('calculator is built in and cannot be changed or deleted'),
    );
    expect(await tenant.cp(method, '/v1/tools/nobodys', body)).toMatchObject({
      status: 404,
      body: { detail: 'not_found' },
    });
    expect(await tenant.cp(method, '/v1/tools/a%00b', body)).toMatchObject({ status: 400 });
  });
  test('GET does not know an unknown one', async () => {
    for (const slug of ['nobodys', 'constructor', '__proto__', 'x'.repeat(5_000)]) {
      expect(await tenant.cp('GET', `/v1/tools/${slug}`)).toMatchObject({ status: 404 });
    }
  });

  // Guards: changes that race each have their version; a deletion among them leaves nothing half done.
  test('races', async () => {
    await create(stub('raced'));
    const changes = await Promise.all(Array.from({ length: 8 }, (_, i) => change('raced', { description: `${i}.` })));
    expect(changes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await show('raced')).toMatchObject({ version: '9' });
    const answers = await Promise.all([
      change('raced', { description: 'Last.' }),
      tenant.cp('DELETE', '/v1/tools/raced'),
      tenant.cp('DELETE', '/v1/tools/raced'),
    ]);
    expect([200, 404]).toContain(answers[0].status);
    expect([answers[1].status, answers[2].status].sort()).toEqual([204, 404]);
    expect(await tenant.cp('GET', '/v1/tools/raced')).toMatchObject({ status: 404 });
  });
});

// Guards: another workspace's tool is an unknown one, its slug is free, and each keeps its own body.
test('tools are a workspace’s own', async () => {
  const [alba, bora] = [await service.tenant('acc_alba'), await service.tenant('acc_bora')];
  await create(stub('mine', { body: { result: 'of alba' } }), alba);
  for (const [method, body] of [['GET'], ['PATCH', { description: 'Taken.' }], ['DELETE']] as const) {
    expect(await bora.cp(method, '/v1/tools/mine', body)).toMatchObject({
      status: 404,
      body: { detail: 'not_found' },
    });
  }
  expect((await list(bora)).meta.custom).toBe(0);
  expect(await create(stub('mine', { body: { result: 'of bora' } }), bora)).toMatchObject({ status: 201 });
  expect(await show('mine', alba)).toMatchObject({ body: { result: 'of alba' }, owner_customer_id: 'alba' });
  expect(await show('mine', bora)).toMatchObject({ body: { result: 'of bora' }, owner_customer_id: 'bora' });
});
