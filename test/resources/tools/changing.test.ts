/** The tools resource over HTTP: what a workspace may make, change and delete. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
import { createToolStore } from '../../../src/resources/tools/store.ts';
import { create, list, service, show, stub, tenant, useTools } from './over-http.ts';

useTools();

const webhook = (slug: string, body: object = {}, more: object = {}) =>
  stub(slug, { kind: 'webhook', body: { url: 'https://example.com/{text}', ...body }, ...more });

const change = (slug: string, body?: unknown, by = tenant) => by.cp('PATCH', `/v1/tools/${slug}`, body);

/** Rows named by what is said: what is sent may be long. */
const named = (rows: [sent: unknown, detail: string | RegExp][]) =>
  rows.map(([sent, detail]): [string, unknown, string | RegExp] => [String(detail), sent, detail]);

const refused = (detail: unknown) => ({ status: 400, body: { detail } });

describe('making a tool', () => {
  // Guards: each kind has its own default of the effect, unless the author names one.
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
    expect(await of(webhook('said', { method: 'PATCH', url: 'https://api.github.com/{text}' }, said))).toEqual([
      'cli',
      'human',
      true,
      'idempotent',
      'github',
    ]);
    expect(await of(stub('no-type', { schema: { properties: {} } }))).toHaveLength(5);
    expect(await show('no-type')).toMatchObject({ schema: { type: 'object', properties: {} } });
  });

  // Guards: bad input is a 400 that names the fault, never a 422 or a 500.
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

  // Guards: a `__proto__` key in JSON is a value like any other and reaches nothing.
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

  // Guards: a slug names one tool: no built-in or existing tool is replaced, even by simultaneous creates.
  test('refuses a taken slug', async () => {
    const taken = { status: 409, body: { detail: 'slug_taken' } };
    expect(await create(stub('calculator'))).toMatchObject(taken);
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(stub('once'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    // Before what would be wrong with it as well: body errors come first.
    expect(await create(stub('calculator', { body: {} }))).toMatchObject({ status: 400 });
  });

  // Guards: the cap of the plan holds under simultaneous creates, the refusal names it, and a deletion frees a place.
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
    await small.cp('DELETE', `/v1/tools/${first(made).body.slug}?force=true`);
    expect(await create(stub('sixth'), small)).toMatchObject({ status: 201 });
  });
});

describe('changing a tool', () => {
  // Guards: only what was sent changes, and each change makes a version.
  test('changes what is sent', async () => {
    const { body: before } = await create(stub('changed'));
    const { body } = await change('changed', { description: 'Says no.', body: { result: 'no' } });
    expect(body).toEqual({ ...before, description: 'Says no.', body: { result: 'no' }, version: '2' });
    expect(await show('changed')).toEqual(body);
    const schema = { type: 'object', properties: { name: {} } };
    expect((await change('changed', { schema, access: 'human' })).body).toMatchObject({
      slug: 'changed',
      version: '3',
      access: 'human',
      param_names: ['name'],
      params_schema: schema,
    });
  });

  // Guards: a changed tool is checked as a whole: its schema keeps the parameters of the address, and its kind keeps
  // its body.
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

  // Guards: a GET that becomes a POST is no longer repeated, unless the author chose that.
  test('keeps the effect true', async () => {
    await create(webhook('reader', { method: 'GET' }));
    const url = 'https://example.com/';
    expect((await change('reader', { body: { url, method: 'POST' } })).body).toMatchObject({ effect: 'irreversible' });
    await create(webhook('chosen', {}, { effect: 'idempotent' }));
    expect((await change('chosen', { body: { url, method: 'PATCH' } })).body).toMatchObject({ effect: 'idempotent' });
  });

  // Guards: no secret of a header is returned; its mask is, and sending the mask back keeps the secret.
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
    const stored = present(
      await createToolStore(service.runtime.db, service.services.secretBox).find('acme', 'masked'),
    );
    expect(stored.body).toEqual({ url: sent.url, headers: { ...headers, 'X-Api-Key': 'k-2' } });
    expect(await change('masked', { body: { ...sent, headers: { 'X-New-Key': '***' } } })).toMatchObject(
      refused(expect.stringContaining('the mask stands for no secret')),
    );
  });

  // Guards: a built-in tool cannot be changed.
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

  // Guards: simultaneous changes each make a version, and a deletion among them leaves nothing half done.
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
