/** The tools resource over HTTP: what is listed and shown, and to whom. */
import { describe, expect, test } from '@jest/globals';
import { eq, sql } from 'drizzle-orm';
import { memoryEntries } from '../../../src/resources/memory/table.ts';
import { eventsOf, tool as callOf } from '../../support/fixtures/runs.ts';
import { create, list, service, show, stub, useTools } from './over-http.ts';

useTools();

describe('what is shown', () => {
  // Guards: a built-in tool has its fields, and none of those of custom ones.
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
      unavailable: null,
      adapted: null,
      recent_invocations: [],
    });
  });

  // Guards: who writes a tool, and who reads a run, is told what of its arguments the model is not; built-in ones are told whole.
  test('what models are not told of the arguments', async () => {
    const other = await service.tenant('acc_untold');
    const schema = { ...stub('').schema, oneOf: [{ required: ['text'] }, { required: ['loud'] }] };
    const adapted = 'models are not told of "oneOf" at the root';
    expect((await create(stub('either', { schema }), other)).body).toMatchObject({ adapted });
    expect(await show('either', other)).toMatchObject({ adapted });
    await other.cp('POST', '/v1/agents', {
      slug: 'chooser',
      model: 'offline',
      prompt: 'You choose.',
      allowed_tool_slugs: ['either', 'calculator'],
    });
    const run = await other.run({ agent: 'chooser', prompt: 'Choose.' });
    const context = (await eventsOf(other, run.run_id)).find(({ event_type: type }) => type === 'context_loaded');
    expect(context?.payload.adapted_because).toEqual({ either: adapted });
    const { data } = await list();
    for (const { slug } of data) expect([slug, (await show(slug)).adapted]).toEqual([slug, null]);
  });

  // Guards: a custom tool has its fields, and the defaults of its kind.
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
      unavailable: null,
      adapted: null,
      recent_invocations: [],
    });
    expect(await show('greet', other)).toEqual(made.body);
    const { data, meta } = await list(other);
    expect(data.at(-1)).toEqual(row);
    expect(meta).toEqual({ total: data.length, builtin: data.length - 1, custom: 1 });
  });

  // Guards: calls are listed newest first, without values whose names mark them as secret, and only the workspace's
  // own.
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

  // Guards: a tool's uses are the active skills of the workspace that name it, also those that named the slug before
  // the tool existed, and no longer once it is gone.
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

    await other.cp('DELETE', '/v1/tools/greet?force=true');
    const edges = await service.runtime.db.rows<{ type: string }>(sql`
      select edge_type as type from memory_edges where customer_id = 'uses' and dst_slug = 'greet'`);
    expect(edges.map(({ type }) => type)).toEqual(['depends_on', 'depends_on', 'depends_on']);
    await create(stub('greet'), other);
    expect(await usesOf('greet')).toBe(2);
  });
});

// Guards: another workspace's tool is unknown, its slug is free, and each workspace keeps its own.
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
