/** Workflow templates over HTTP and on a real database: what is listed and shown, to callers and to projects. */
import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { first } from '../../../src/platform/core/present.ts';
import { openApiDocument } from '../../../src/platform/http/openapi.ts';
import { MAX_PHASES, MAX_STEPS, type WorkflowSpec } from '../../../src/resources/templates/model.ts';
import { templateRoutes } from '../../../src/resources/templates/routes.ts';
import { templates } from '../../../src/resources/templates/table.ts';
import { phase, spec, step } from './specs.ts';
import {
  useTemplates,
  BUILTINS,
  database,
  store,
  server,
  service,
  slugs,
  list,
  get,
  patch,
  remove,
  make,
  versions,
} from './over-http.ts';

useTemplates();

// Guards: no limit on bytes or on values refuses a workflow that the numbers of phases and steps allow.
test('the largest workflow is taken', async () => {
  const steps = Array.from({ length: MAX_STEPS }, (_, at) => step(`s${at}`));
  const phases = Array.from({ length: MAX_PHASES }, (_, at) => phase(`p${at}`, { steps }));
  await make({ slug: 'largest', phases });
  const { phases: taken } = (await get('/v1/workflows/largest').expect(200)).body.spec as WorkflowSpec;
  expect([taken.length, ...new Set(taken.map((each) => each.steps.length))]).toEqual([MAX_PHASES, MAX_STEPS]);
});

describe('GET /v1/workflows', () => {
  // Guards: exactly the fields of the specification, for built-in and own workflows alike.
  test('shows the latest active version of each', async () => {
    await make({}, { collection: 'mail', tags: ['text'] });
    await make({ version: 2, title: 'Better newsletter', description: 'Weekly.', phases: [phase('a'), phase('b')] });
    const { body } = await get('/v1/workflows').expect(200);
    expect(body.meta).toEqual({ total: 3 });
    const updated_at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body.data).toEqual([
      {
        slug: 'newsletter',
        version: 2,
        name: 'Better newsletter',
        description: 'Weekly.',
        collection: null,
        tags: [],
        phase_count: 2,
        is_builtin: false,
        status: 'active',
        updated_at,
      },
      expect.objectContaining({
        slug: 'page',
        version: 1,
        is_builtin: true,
        collection: 'web',
        tags: ['html', 'text'],
      }),
      expect.objectContaining({ slug: 'story', description: 'A short story.', phase_count: 1, updated_at }),
    ]);
  });

  // Guards: filters apply to the version that is shown.
  test('filters by collection and tag', async () => {
    await make({}, { collection: 'mail', tags: ['text', 'weekly'] });
    expect(await slugs('?collection=mail')).toEqual(['newsletter']);
    expect(await slugs('?tag=text')).toEqual(['newsletter', 'page', 'story']);
    expect(await slugs('?tag=text&collection=web')).toEqual(['page']);
    expect(await slugs('?tag=tex')).toEqual([]);
    await make({ version: 2 }, { collection: 'post' });
    expect(await slugs('?collection=mail')).toEqual([]);
    expect(await slugs('?collection=post')).toEqual(['newsletter']);
  });

  // Guards: archived workflows are hidden unless they are asked for.
  test('shows archived workflows on demand', async () => {
    await make();
    await make({ version: 2 });
    await remove('newsletter').expect(204);
    expect(await slugs()).toEqual(['page', 'story']);
    expect(await slugs('?include_archived=false')).toEqual(['page', 'story']);
    const [archived] = await list('?include_archived=true');
    expect(archived).toMatchObject({ slug: 'newsletter', version: 2, status: 'archived' });
    expect((await get('/v1/workflows?include_archived=perhaps').expect(422)).body.detail[0].loc).toEqual([
      'query',
      'include_archived',
    ]);
  });

  // Guards: an API key sees what can be started, and what each start needs.
  test('with a key says what each needs', async () => {
    await make();
    const { body } = await get('/public/v1/workflows').expect(200);
    expect(body.meta).toEqual({ total: 3 });
    expect(body.data[0]).toEqual({
      slug: 'newsletter',
      version: 1,
      name: 'Newsletter',
      description: '',
      required_params: [],
    });
    expect(body.data[2]).toEqual({
      slug: 'story',
      version: 1,
      name: 'Story',
      description: 'A short story.',
      required_params: [
        { name: 'topic', type: 'string', description: 'What it is about' },
        { name: 'length', type: 'integer | null', description: '' },
        { name: 'audience', type: 'any', description: '' },
        { name: 'constructor', type: 'any', description: '' },
      ],
    });
    await remove('newsletter').expect(204);
    expect((await get('/public/v1/workflows')).body.meta).toEqual({ total: 2 });
    await request(server).get('/public/v1/workflows').expect(401);
  });
});

describe('GET /v1/workflows/{slug}', () => {
  // Guards: the detail has the fields of the list, the spec as it was sent, and the time of its making.
  test('gives the latest active version, or any by its number', async () => {
    const made = await make({ description: 'Weekly.' });
    await make({ version: 2 });
    expect(made).toMatchObject({ slug: 'newsletter', version: 1, spec: spec({ description: 'Weekly.' }) });
    expect(made.created_at).toMatch(/Z$/);
    expect((await get('/v1/workflows/newsletter').expect(200)).body.version).toBe(2);
    expect((await get('/v1/workflows/newsletter?version=1').expect(200)).body).toEqual(made);
    const { spec: own, created_at: _, ...entry } = (await get('/v1/workflows/newsletter')).body;
    expect(own).toEqual(spec({ version: 2 }));
    expect((await list())[0]).toEqual(entry);
  });

  // Guards: archived versions stay readable by their number, for the projects that are pinned to them.
  test('gives archived versions by number', async () => {
    await make();
    await remove('newsletter').expect(204);
    await get('/v1/workflows/newsletter').expect(404, { detail: 'not_found' });
    expect((await get('/v1/workflows/newsletter?version=1').expect(200)).body.status).toBe('archived');
  });

  test.each(['newsletter', 'story?version=2', 'story?version=0', 'story?version=99999999999', '%F0%9F%90%A6', 'A%20B'])(
    'knows no %s',
    async (path) => {
      await get(`/v1/workflows/${path}`).expect(404, { detail: 'not_found' });
    },
  );

  test('takes whole numbers as a version', async () => {
    for (const version of ['latest', '1.5', '-1']) await get(`/v1/workflows/story?version=${version}`).expect(422);
  });
});

describe('GET /v1/workflows/{slug}/versions', () => {
  // Guards: all versions are listed, newest first, the built-in one below the workspace's own.
  test('lists every version', async () => {
    await patch('story', { spec: spec({ slug: 'story', description: 'Mine.' }) }).expect(200);
    await remove('story').expect(204);
    await patch('story', { spec: spec({ slug: 'story' }) }).expect(200);
    const { body } = await get('/v1/workflows/story/versions').expect(200);
    expect(body.meta).toEqual({ total: 3 });
    const updated_at = expect.any(String);
    expect(body.data).toEqual([
      { version: 3, status: 'active', is_builtin: false, description: 'Mine.', created_at: updated_at, updated_at },
      { version: 2, status: 'archived', is_builtin: false, description: 'Mine.', created_at: updated_at, updated_at },
      {
        version: 1,
        status: 'active',
        is_builtin: true,
        description: 'A short story.',
        created_at: updated_at,
        updated_at,
      },
    ]);
    await get('/v1/workflows/none/versions').expect(404, { detail: 'not_found' });
  });
});

describe('the OpenAPI document', () => {
  const endpoints = () => templateRoutes({ templates: service }).map(({ endpoint }) => endpoint);
  const document = () =>
    openApiDocument({
      title: 't',
      description: 'd',
      version: '1',
      servers: [],
      surface: 'control-plane',
      endpoints: endpoints(),
    });

  // Guards: the published schema describes a spec down to its steps, for requests and replies.
  test('has the shape of a spec', () => {
    const { schemas = {} } = document().components ?? {};
    const step = ['properties', 'phases', 'items', 'properties', 'steps', 'items', 'properties', 'gate_kind', 'enum'];
    expect(step.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], schemas['WorkflowSpec'])).toEqual([
      'human',
      'webhook',
      'schedule',
      'pipeline_dep',
    ]);
    const $ref = '#/components/schemas/WorkflowSpec';
    for (const name of ['NewWorkflow', 'WorkflowChange', 'WorkflowDetail']) {
      expect(schemas[name]).toMatchObject({ properties: { spec: { $ref } } });
    }
  });

  // Guards: the documents mark the old address as deprecated.
  test('marks the alias as deprecated', () => {
    const marked = Object.entries(document().paths ?? {}).map(([path, { get }]) => [path, get?.deprecated ?? false]);
    expect(Object.fromEntries(marked)).toEqual({
      '/v1/workflows': false,
      '/v1/workflows/{slug}': false,
      '/v1/workflows/{slug}/versions': false,
      '/v1/templates': true,
      '/v1/templates/{slug}': true,
      '/v1/templates/{slug}/versions': true,
    });
  });
});

describe('for a project', () => {
  // Guards: a project starts from an active version, also where it names one.
  test('resolves active versions', async () => {
    await make();
    await make({ version: 2, title: 'Second' });
    const latest = { version: 2, name: 'Second', spec: spec({ version: 2, title: 'Second' }) };
    expect(await service.resolveForProject('acme', 'newsletter')).toEqual(latest);
    expect(await service.resolveForProject('acme', 'newsletter', 1)).toMatchObject({ version: 1, name: 'Newsletter' });
    expect(await service.resolveForProject('acme', 'newsletter', 3)).toBeUndefined();
    expect(await service.resolveForProject('other', 'newsletter')).toBeUndefined();
    expect(await service.resolveForProject('other', 'story')).toMatchObject({ version: 1 });
    await remove('newsletter').expect(204);
    expect(await service.resolveForProject('acme', 'newsletter')).toBeUndefined();
    expect(await service.resolveForProject('acme', 'newsletter', 1)).toBeUndefined();
  });

  // Guards: bindings that were right when the template was made may be gone when a project starts; the list of faults
  // is bounded.
  test('says what cannot be carried out any more', async () => {
    expect(await service.unresolvedBindings('acme', spec())).toEqual([]);
    const steps = Array.from({ length: 40 }, (_, at) => step(`s${at}`, { assignee: `agent-${at}` }));
    const told = await service.unresolvedBindings('acme', spec({ phases: [phase('p', { steps })] }));
    expect(told).toHaveLength(20);
    expect(told[0]).toBe('phases[0].steps[0]: no agent "agent-0"');
  });
});

describe('seeding', () => {
  const all = () => database.db.orm.select().from(templates).orderBy(templates.slug, templates.version);

  // Guards: simultaneous processes that seed at their start double and rewrite nothing.
  test('again changes nothing', async () => {
    const before = await all();
    await Promise.all([store.seedBuiltins(BUILTINS), store.seedBuiltins(BUILTINS), store.seedBuiltins([])]);
    expect(await all()).toEqual(before);
    expect(before.map(({ customerId }) => customerId)).toEqual([null, null]);
  });

  // Guards: a new release adds its version beside the old one, which pinned projects still read.
  test('adds a version and keeps the old one', async () => {
    const changed = BUILTINS.map((template) => ({ ...template, spec: { ...template.spec, title: 'Rewritten' } }));
    const next = { ...first(changed), spec: { ...first(changed).spec, version: 2 } };
    await store.seedBuiltins([...changed, next]);
    expect((await versions('story')).map(({ version }) => version)).toEqual([2, 1]);
    expect((await get('/v1/workflows/story')).body.name).toBe('Rewritten');
    expect((await get('/v1/workflows/story?version=1')).body.name).toBe('Story');
  });
});
