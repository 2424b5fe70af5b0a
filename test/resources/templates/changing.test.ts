/** Workflow templates over HTTP and on a real database: a workspace’s own, and how versions come to be. */
import { describe, expect, test } from '@jest/globals';
import { itemAt } from '../../../src/platform/core/present.ts';
import { createAgentStore } from '../../../src/resources/agents/store.ts';
import { templates } from '../../../src/resources/templates/table.ts';
import { gate, phase, spec, step } from './specs.ts';
import {
  useTemplates,
  BUILTINS,
  database,
  store,
  slugs,
  list,
  get,
  call,
  post,
  patch,
  remove,
  make,
  versions,
} from './over-http.ts';

useTemplates();

describe('POST /v1/workflows', () => {
  // Guards: a version is made once, and a second attempt is refused.
  test('makes each version once', async () => {
    await make({ version: 3 });
    await post({ spec: spec({ version: 3 }) }).expect(409, { detail: 'version 3 of newsletter exists' });
    await post({ spec: spec({ slug: 'story' }) }).expect(409, { detail: 'version 1 of story exists' });
    const answers = await Promise.all([1, 2, 3, 4].map(() => post({ spec: spec({ version: 4 }) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect((await versions('newsletter')).map(({ version }) => version)).toEqual([4, 3]);
  });

  // Guards: the session decides the owner, whatever the request says, and descriptions are kept unchanged.
  test('keeps what is said about it', async () => {
    const body = { spec: spec(), collection: 'mail', tags: ['b', 'a', 'b'], owner_id: 'other', customer_id: 'other' };
    expect((await post(body).expect(201)).body).toMatchObject({
      collection: 'mail',
      tags: ['b', 'a'],
      is_builtin: false,
    });
    await get('/v1/workflows/newsletter', 'other').expect(404);
  });

  // Guards: bad bodies are 400 with the reason, never 500.
  test.each<[string, unknown, RegExp | string]>([
    ['no spec', {}, /^spec: /],
    ['a spec that is none', { spec: 'x' }, /^spec: /],
    ['a spec that is a list', { spec: [] }, /^spec: /],
    ['an empty spec', { spec: {} }, /^invalid spec: slug: /],
    ['two faults', { spec: spec({ title: '', phases: [] }) }, /^invalid spec: title: .*; phases: /],
    ['tags that are none', { spec: spec(), tags: 'x' }, /^tags: /],
    ['a blank tag', { spec: spec(), tags: [' '] }, /^tags.0: /],
    ['a long collection', { spec: spec(), collection: 'x'.repeat(101) }, /^collection: /],
    ['a NUL', { spec: spec({ title: 'a\u0000' }) }, /NUL/],
    ['half a character', { spec: spec({ description: '\ud800' }) }, /Unicode/],
    [
      'depth',
      { spec: { ...spec(), params: Array.from({ length: 70 }).reduce<object>((not) => ({ not }), {}) } },
      /nested/,
    ],
  ])('refuses %s', async (_, body, reason) => {
    expect((await post(body).expect(400)).body.detail).toMatch(reason);
    expect(await database.db.orm.$count(templates)).toBe(BUILTINS.length);
  });

  // Guards: a step that nobody can carry out is refused before anything is made, with its place.
  test('resolves every binding', async () => {
    const bound = (...steps: ReturnType<typeof step>[]) =>
      post({ spec: spec({ phases: [phase('p'), phase('q', { steps })] }) });
    const { body } = await bound(
      step('a', { assignee: 'nobody' }),
      step('b', { tools: [] }),
      step('c', { tools: ['calculator', 'hammer'], skills: ['juggling'] }),
      step('d', { kind: 'action', assignee: 'explode', tools: [] }),
      gate('e'),
    ).expect(400);
    expect(body).toEqual({
      detail:
        'template has unresolvable step bindings: phases[1].steps[0]: no agent "nobody"; ' +
        'phases[1].steps[1]: an agent step needs at least one tool or skill; ' +
        'phases[1].steps[2]: no tool "hammer"; phases[1].steps[2]: no skill "juggling"; ' +
        'phases[1].steps[3]: no action "explode"',
    });
    await bound(
      step('a', { tools: [], skills: ['proofreading'] }),
      step('b', { kind: 'action', role: 'utility', assignee: 'save_file', tools: [] }),
    ).expect(201);
  });

  // Guards: an archived workspace makes no template.
  test('is refused to an archived workspace', async () => {
    await post({ spec: spec() }, 'gone').expect(403, { detail: 'workspace_archived' });
  });
});

describe('PATCH /v1/workflows/{slug}', () => {
  // Guards: descriptions change in place; the spec of a version never changes.
  test('changes metadata in place', async () => {
    await make({ description: 'Old.' });
    const before = await make({ version: 2, description: 'Old.' }, { collection: 'mail', tags: ['a'] });
    const { body } = await patch('newsletter', { description: 'New.', tags: [] }).expect(200);
    expect(body).toEqual({ ...before, description: 'New.', tags: [], updated_at: expect.any(String) });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect(body.spec.description).toBe('Old.');
    expect((await patch('newsletter', { collection: null }).expect(200)).body).toMatchObject({
      collection: null,
      version: 2,
    });
    expect((await versions('newsletter')).map(({ description }) => description)).toEqual(['New.', 'Old.']);
  });

  // Guards: a changed spec makes the next version, whatever number it names, and keeps what is not sent.
  test('makes the next version of a spec', async () => {
    await make({ version: 4, description: 'Weekly.' }, { collection: 'mail', tags: ['a'] });
    const first = await patch('newsletter', { spec: spec({ version: 1, title: 'Fifth' }), tags: ['b'] }).expect(200);
    expect(first.body).toMatchObject({
      version: 5,
      name: 'Fifth',
      description: 'Weekly.',
      collection: 'mail',
      tags: ['b'],
      spec: { version: 5, title: 'Fifth' },
    });
    const unnumbered = { ...spec({ description: 'Own.' }), version: undefined };
    const second = await patch('newsletter', { spec: unnumbered, description: 'Said.' }).expect(200);
    expect(second.body).toMatchObject({ version: 6, description: 'Said.', spec: { version: 6, description: 'Own.' } });
    expect((await get('/v1/workflows/newsletter?version=4')).body).toMatchObject({ name: 'Newsletter', tags: ['a'] });
  });

  // Guards: N simultaneous changes make N versions without a gap.
  test('in parallel makes as many versions', async () => {
    await make();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => patch('newsletter', { spec: spec({ title: `Title ${at}` }) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    const made = answers.map(({ body }) => body.version).sort((a, b) => a - b);
    expect(made).toEqual(Array.from({ length: 12 }, (_, at) => at + 2));
    for (const { body } of answers) {
      expect((await get(`/v1/workflows/newsletter?version=${body.version}`)).body.name).toBe(body.name);
    }
  });

  // Guards: a workspace can make its own version of a built-in template, which no other workspace sees.
  test('makes a built-in workflow one’s own', async () => {
    const { body } = await patch('story', { spec: spec({ slug: 'story', title: 'My story' }) }).expect(200);
    expect(body).toMatchObject({
      version: 2,
      is_builtin: false,
      collection: 'writing',
      tags: ['text'],
      name: 'My story',
    });
    expect((await get('/v1/workflows/story')).body.name).toBe('My story');
    expect((await get('/v1/workflows/story?version=1')).body).toMatchObject({ is_builtin: true, name: 'Story' });
    expect((await get('/v1/workflows/story', 'other')).body).toMatchObject({ version: 1, name: 'Story' });
    await patch('story', { tags: ['mine'] }).expect(200);
    expect((await versions('story', 'other')).map(({ version }) => version)).toEqual([1]);
    await remove('story').expect(204);
    expect((await get('/v1/workflows/story')).body).toMatchObject({ version: 1, name: 'Story', tags: ['text'] });
    // Its own version is there and is not the one that is shown: what is shown cannot be changed.
    expect((await patch('story', { tags: ['mine'] }).expect(400)).body.detail).toMatch(/^story is built in/);
    const shown = (await list('?include_archived=true')).find(({ slug }) => slug === 'story');
    expect(shown).toMatchObject({ version: 1, status: 'active', is_builtin: true });
  });

  // Guards: an own version has precedence over a later built-in one with the same number.
  test('an own version goes before a built-in one of the same number', async () => {
    await patch('story', { spec: spec({ slug: 'story', title: 'My story' }) }).expect(200);
    const later = spec({ slug: 'story', title: 'Second story', version: 2 });
    await store.seedBuiltins([...BUILTINS, { ...itemAt(BUILTINS, 0), spec: { ...later, description: '' } }]);
    expect((await get('/v1/workflows/story')).body.name).toBe('My story');
    expect((await get('/v1/workflows/story?version=2')).body.name).toBe('My story');
    expect((await list()).find(({ slug }) => slug === 'story')).toMatchObject({ name: 'My story', is_builtin: false });
    expect((await versions('story')).map(({ is_builtin }) => is_builtin)).toEqual([false, true]);
    const startable = async (workspace: string) =>
      (await get('/public/v1/workflows', workspace)).body.data.find(({ slug }: { slug: string }) => slug === 'story');
    expect(await startable('acme')).toMatchObject({ version: 2, name: 'My story' });
    expect(await startable('other')).toMatchObject({ version: 2, name: 'Second story' });
    expect((await get('/v1/workflows/story', 'other')).body.name).toBe('Second story');
  });

  // Guards: an archived workflow is restored by a new spec, and by nothing less.
  test('of an archived workflow', async () => {
    await make();
    await remove('newsletter').expect(204);
    await patch('newsletter', { tags: ['a'] }).expect(404, { detail: 'not_found' });
    expect((await patch('newsletter', { spec: spec() }).expect(200)).body).toMatchObject({
      version: 2,
      status: 'active',
    });
  });

  test.each<[string, string, unknown, number, RegExp]>([
    ['nothing', 'newsletter', undefined, 400, /^nothing to update/],
    ['an empty body', 'newsletter', {}, 400, /^nothing to update/],
    ['nothing', 'newsletter', {}, 400, /^nothing to update/],
    ['what cannot be changed', 'newsletter', { name: 'x' }, 400, /^name: Unknown field; known are collection, tags/],
    ['another slug', 'newsletter', { spec: spec({ slug: 'other' }) }, 400, /^invalid spec: slug: must be newsletter/],
    ['a bad spec', 'newsletter', { spec: spec({ title: '' }) }, 400, /^invalid spec: title/],
    [
      'bad bindings',
      'newsletter',
      { spec: spec({ phases: [phase('p', { steps: [step('a', { tools: [] })] })] }) },
      400,
      /^template has unresolvable step bindings: phases/,
    ],
    ['an unknown workflow', 'none', { tags: ['a'] }, 404, /^not_found$/],
    ['a spec of an unknown workflow', 'none', { spec: spec({ slug: 'none' }) }, 404, /^not_found$/],
    ['metadata of a built-in one', 'story', { tags: ['a'] }, 400, /^story is built in .* PATCH it with a spec/],
  ])('refuses %s', async (_, slug, body, status, reason) => {
    await make();
    const before = await versions('newsletter');
    expect((await patch(slug, body).expect(status)).body.detail).toMatch(reason);
    expect(await versions('newsletter')).toEqual(before);
  });
});

describe('DELETE /v1/workflows/{slug}', () => {
  // Guards: archiving archives every version, loses none, and a repeat changes nothing.
  test('archives every version', async () => {
    await make();
    await make({ version: 2 });
    await remove('newsletter').expect(204);
    const archived = await versions('newsletter');
    expect(archived.map(({ status }) => status)).toEqual(['archived', 'archived']);
    await remove('newsletter').expect(204);
    expect(await versions('newsletter')).toEqual(archived);
    await post({ spec: spec() }).expect(409);
  });

  test('refuses what ships and what is not there', async () => {
    expect((await remove('story').expect(400)).body.detail).toMatch(/^story is built in/);
    await remove('none').expect(404, { detail: 'not_found' });
    expect((await list()).map(({ status }) => status)).toEqual(['active', 'active']);
  });
});

// Guards: the old name of each address is the same endpoint.
describe('the alias', () => {
  test('answers as /v1/workflows does', async () => {
    const made = await call('post', '/v1/templates').send({ spec: spec() }).expect(201);
    expect((await get('/v1/templates')).body).toEqual((await get('/v1/workflows')).body);
    expect((await get('/v1/templates/newsletter')).body).toEqual(made.body);
    expect((await get('/v1/templates/newsletter?version=1')).body).toEqual(made.body);
    expect((await get('/v1/templates/newsletter/versions')).body).toEqual(
      (await get('/v1/workflows/newsletter/versions')).body,
    );
    const changed = await call('patch', '/v1/templates/newsletter')
      .send({ tags: ['a'] })
      .expect(200);
    expect((await get('/v1/workflows/newsletter')).body).toEqual(changed.body);
    await call('delete', '/v1/templates/newsletter').expect(204);
    await get('/v1/workflows/newsletter').expect(404);
    await get('/public/v1/templates').expect(404);
  });
});

// Guards: a workspace's own templates are seen, counted, changed and archived by nobody else.
describe('between workspaces', () => {
  test('nothing is shared but what ships', async () => {
    const mine = await make({ title: 'Mine' });
    expect(await slugs('?include_archived=true', 'other')).toEqual(['page', 'story']);
    expect((await get('/public/v1/workflows', 'other')).body.meta).toEqual({ total: 2 });
    const NOT_FOUND = { detail: 'not_found' };
    for (const path of ['newsletter', 'newsletter?version=1', 'newsletter/versions']) {
      await get(`/v1/workflows/${path}`, 'other').expect(404, NOT_FOUND);
    }
    await patch('newsletter', { tags: ['x'] }, 'other').expect(404, NOT_FOUND);
    await patch('newsletter', { spec: spec() }, 'other').expect(404, NOT_FOUND);
    await patch('newsletter', { spec: {} }, 'other').expect(404, NOT_FOUND);
    await remove('newsletter', 'other').expect(404, NOT_FOUND);
    // The name is free, and another's version counts for nothing.
    await make({ title: 'Theirs' }, {}, 'other');
    await patch('newsletter', { spec: spec({ title: 'Theirs again' }) }, 'other').expect(200);
    await remove('newsletter', 'other').expect(204);
    expect((await get('/v1/workflows/newsletter')).body).toEqual(mine);
  });

  // Guards: a step cannot name another workspace's agent, and the refusal does not reveal that it exists.
  test("another workspace's agent is unknown", async () => {
    const agent = { model: 'auto', prompt: 'You help.', description: '', allowedTools: [] };
    await createAgentStore(database.db).insertAgent('other', 'theirs', agent, {});
    const body = { spec: spec({ phases: [phase('p', { steps: [step('a', { assignee: 'theirs' })] })] }) };
    expect((await post(body).expect(400)).body.detail).toMatch(/phases\[0\].steps\[0\]: no agent "theirs"$/);
    await post(body, 'other').expect(201);
  });

  test('need a credential', async () => {
    await get('/v1/workflows', 'nobody').expect(401, { detail: 'auth_required' });
  });
});
