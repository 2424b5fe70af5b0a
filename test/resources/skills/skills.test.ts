/** Skills over HTTP: what a workspace sees, makes and changes, and what a body links to. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import { MAX_BODY_LENGTH } from '../../../src/resources/skills/model.ts';
import { confirmed } from '../../support/service/otp.ts';
import { startTestService, type Answer, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let acme: Tenant;
let other: Tenant;
beforeAll(async () => {
  service = await startTestService({ worker: false });
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
});
afterAll(() => service?.close());

const post = (body: unknown, tenant = acme): Promise<Answer> => tenant.cp('POST', '/v1/skills', body);
const pathOf = (slug: string): string => `/v1/skills/${encodeURIComponent(slug)}`;
const get = (slug: string, tenant = acme): Promise<Answer> => tenant.cp('GET', pathOf(slug));
const patch = (slug: string, body?: unknown, tenant = acme): Promise<Answer> => tenant.cp('PATCH', pathOf(slug), body);
const remove = (slug: string, tenant = acme): Promise<Answer> => tenant.cp('DELETE', pathOf(slug));

async function made(body: { slug: string } & Record<string, unknown>, tenant = acme) {
  const { status, body: skill } = await post({ name: 'A skill', ...body }, tenant);
  expect([status, skill]).toEqual([201, skill]);
  return skill;
}
const stub = { description: 'Says yes.', kind: 'stub', schema: { type: 'object' }, body: { result: 'yes' } };

interface Edge {
  edge_type: string;
  dst_slug: string | null;
  dst_id: number | null;
  resolved: boolean;
}
/** `edge slug id`, of the links that go out from an entry. */
async function linksOf(id: number, tenant = acme): Promise<string[]> {
  const { body } = await tenant.cp('GET', `/v1/memory/entries/${id}/links`);
  return (body.outgoing as Edge[]).map(({ edge_type, dst_slug, dst_id }) => `${edge_type} ${dst_slug} ${dst_id}`);
}

describe('the catalogue', () => {
  // Guards: what ships is there before anybody made anything, and counted apart; rows have the fields of the specification.
  test('has built-in skills first, then custom ones by slug', async () => {
    const quiet = await service.tenant('acc_quiet');
    await made({ slug: 'zebra', name: 'skill: Stripes' }, quiet);
    await made({ slug: 'ant', prompt_addendum: 'Small 🐜' }, quiet);
    const { status, body } = await quiet.cp('GET', '/v1/skills');
    expect(status).toBe(200);
    expect(body.meta).toEqual({ total: builtinSkills.size + 2, builtin: builtinSkills.size, custom: 2 });
    const slugs = body.data.map(({ slug }: { slug: string }) => slug);
    expect(slugs).toEqual([...builtinSkills.keys(), 'ant', 'zebra']);
    expect(body.data.at(-2)).toEqual({
      slug: 'ant',
      title: 'A skill',
      description: null,
      category: 'ant',
      path: null,
      body_length: 7,
      is_builtin: false,
      used_by: 0,
    });
    expect(body.data.at(-1)).toMatchObject({ title: 'Stripes', body_length: 0 });
  });

  // Guards: a built-in skill is read like any other and is nobody's entry.
  test('shows a built-in skill', async () => {
    const { title, description, category, body } = builtinSkills.get('fact-checking')!;
    expect(await get('fact-checking')).toMatchObject({
      status: 200,
      body: {
        slug: 'fact-checking',
        title,
        description,
        category,
        body,
        path: null,
        is_builtin: true,
        id: null,
        body_length: body.length,
        always_load: false,
        status: 'active',
        agent: null,
        agents: [],
      },
    });
    const { body: entries } = await acme.cp('GET', '/v1/memory/entries?type=skill');
    expect(entries.data.map(({ slug }: { slug: string }) => slug)).not.toContain('fact-checking');
  });

  // Guards: `used_by` counts skills, custom and built-in, that name the slug; once each, and not the skill itself.
  test('counts who names a skill', async () => {
    const builtin = [...builtinSkills.values()].filter(({ body }) => body.includes('[[fact-checking]]')).length;
    expect(builtin).toBeGreaterThan(0);
    expect((await get('fact-checking')).body.used_by).toBe(builtin);
    await made({ slug: 'checks-1', prompt_addendum: '[[fact-checking]] and [[fact-checking|again]] and [[checks-1]]' });
    await made({ slug: 'checks-2', prompt_addendum: '[[checks-1]] [[fact-checking]]' });
    await made({ slug: 'checks-3' }, other);
    await made({ slug: 'checks-4', prompt_addendum: '[[fact-checking]]' }, other);
    expect((await get('fact-checking')).body.used_by).toBe(builtin + 2);
    const { data } = (await acme.cp('GET', '/v1/skills')).body;
    const row = (slug: string) => data.find((one: { slug: string }) => one.slug === slug);
    expect([row('fact-checking').used_by, row('checks-1').used_by, row('checks-2').used_by]).toEqual([
      builtin + 2,
      1,
      0,
    ]);
    await remove('checks-2');
    expect((await get('checks-1')).body.used_by).toBe(0);
  });
});

describe('making one', () => {
  // Guards: all that is sent is kept and given back; the skill is an entry of the memory, found like one.
  test('keeps what is sent', async () => {
    const { status, body } = await post({
      slug: 'brand.voice',
      name: '  Skill:  Brand voice ',
      description: 'How we sound',
      category: 'brand',
      prompt_addendum: 'Sound like a lighthouse keeper.',
      agents: ['writer', 'editor', 'writer'],
      scope: 'agent',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      slug: 'brand.voice',
      title: 'Brand voice',
      description: 'How we sound',
      category: 'brand',
      path: null,
      body_length: 31,
      is_builtin: false,
      used_by: 0,
      body: 'Sound like a lighthouse keeper.',
      always_load: false,
      status: 'active',
      agent: null,
      agents: ['writer', 'editor'],
      scope: 'agent',
    });
    expect((await get('brand.voice')).body).toEqual(body);
    expect((await acme.cp('GET', `/v1/memory/entries/${body.id}`)).body).toMatchObject({
      type: 'skill',
      slug: 'brand.voice',
      content: 'Sound like a lighthouse keeper.',
      has_embedding: true,
      scope: 'agent',
    });
    const { data } = (await acme.cp('GET', '/v1/memory/entries?q=a+lighthouse+keeper&limit=1')).body;
    expect(data).toMatchObject([{ slug: 'brand.voice', score: expect.any(Number) }]);
  });

  // Guards: what is left out has the value that says the least; agents alone make a skill theirs.
  test.each([
    ['nothing', {}, { category: 'bare', scope: 'shared', agents: [], agent: null, body: '', description: null }],
    ['one agent', { agents: ['writer'] }, { scope: 'agent', agents: ['writer'], agent: 'writer' }],
    ['shared with agents', { agents: ['writer'], scope: 'shared' }, { scope: 'shared', agents: [], agent: null }],
    ['a blank category', { category: ' ' }, { category: 'bare' }],
    ['always', { always_load: true }, { always_load: true }],
  ])('with %s', async (name, more, expected) => {
    expect(await made({ slug: `bare-${name.replaceAll(' ', '-')}`, ...more })).toMatchObject(expected);
  });

  // Guards: each of these is 400 in words, never 422 and never 500, and makes nothing.
  test.each([
    ['no body', undefined, 'slug required'],
    ['no object', [], 'slug required'],
    ['no slug', { name: 'A' }, 'slug required'],
    ['a blank slug', { slug: '', name: 'A' }, 'slug required'],
    ['a slug that is a number', { slug: 7, name: 'A' }, 'slug required'],
    ['a slug of 129', { slug: 'a'.repeat(129), name: 'A' }, /^slug too long \(max 128\)$/],
    ['a slug with a space', { slug: 'a b', name: 'A' }, /^slug must be/],
    ['a slug that would end its link', { slug: 'a]]', name: 'A' }, /^slug must be/],
    ['no name', { slug: 'bad' }, 'name required'],
    ['a blank name', { slug: 'bad', name: ' \n ' }, 'name required'],
    ['a name that is null', { slug: 'bad', name: null }, 'name required'],
    ['an unknown scope', { slug: 'bad', name: 'A', scope: 'personal' }, 'scope must be shared or agent'],
    ['the scope agent alone', { slug: 'bad', name: 'A', scope: 'agent' }, /at least one agent/],
    ['the scope agent with none', { slug: 'bad', name: 'A', scope: 'agent', agents: [] }, /at least one agent/],
    ['agents as text', { slug: 'bad', name: 'A', agents: 'writer' }, /^agents/],
    ['a blank agent', { slug: 'bad', name: 'A', agents: [' '] }, /^agents/],
    ['a body that is a number', { slug: 'bad', name: 'A', prompt_addendum: 1 }, /^prompt_addendum/],
    [
      'a body that is too long',
      { slug: 'bad', name: 'A', prompt_addendum: 'a'.repeat(MAX_BODY_LENGTH + 1) },
      /^prompt_addendum too long/,
    ],
    ['a NUL', { slug: 'bad', name: 'A', prompt_addendum: 'a\0b' }, /NUL/],
    ['half a character', { slug: 'bad', name: 'A', description: 'a\ud800' }, /Unicode/],
  ])('refuses %s', async (_, body, detail) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(detail) } });
    expect((await get('bad')).status).toBe(404);
  });

  // Guards: the bound itself is inside, as is every character that a wikilink can name.
  test.each(['a'.repeat(128), 'A/b:c.d_e-1', 'Überblick', 'constructor'])('takes the slug %s', async (slug) => {
    await made({ slug });
    expect(await get(slug)).toMatchObject({ status: 200, body: { slug } });
    expect((await remove(slug)).status).toBe(204);
  });

  // Guards: a slug names one thing: a skill, a built-in one, or an entry of the memory.
  test('refuses a slug that is taken', async () => {
    await made({ slug: 'taken' });
    await acme.cp('POST', '/v1/memory/entries', { type: 'note', slug: 'noted', content: 'A note.' });
    for (const slug of ['taken', 'noted', 'writing-style']) {
      expect([slug, (await post({ slug, name: 'Again' })).status]).toEqual([slug, 409]);
    }
    for (const slug of ['taken', 'writing-style']) {
      const entry = { type: 'note', slug, content: 'A note.' };
      expect([slug, (await acme.cp('POST', '/v1/memory/entries', entry)).status]).toEqual([slug, 409]);
    }
    await made({ slug: 'noted' }, other);
  });

  // Guards: of many at once with one slug one is made; the others are told, not failed.
  test('makes one of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post({ slug: 'once', name: 'Once' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  // Guards: the cap of the plan holds against creates side by side, and says what it is.
  test('keeps to the cap', async () => {
    const small = await service.tenant('acc_small', 'free');
    const answers = await Promise.all(
      Array.from({ length: 13 }, (_, i) => post({ slug: `s-${i}`, name: 'One of many' }, small)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(3);
    expect(refused[0]!.body.detail).toEqual({
      code: 'plan_limit_exceeded',
      resource: 'custom_skills',
      current: 10,
      limit: 10,
      tier: 'free',
    });
    // Memories have a cap of their own.
    expect((await small.cp('POST', '/v1/memory/entries', { type: 'note', content: 'A note.' })).status).toBe(201);
    await remove(answers.find(({ status }) => status === 201)!.body.slug, small);
    expect((await post({ slug: 'room', name: 'Room again' }, small)).status).toBe(201);
  });
});

describe('changing one', () => {
  // Guards: each field changes alone; what is not sent stays.
  test('changes what is sent', async () => {
    const before = await made({ slug: 'change', description: 'Before', category: 'one', prompt_addendum: 'Body' });
    let now = before;
    for (const [change, expected] of [
      [{ name: 'skill: Renamed' }, { title: 'Renamed' }],
      [{ description: null }, { description: null }],
      [{ category: 'two' }, { category: 'two' }],
      [{ category: null }, { category: 'change' }],
      [{ prompt_addendum: '' }, { body: '', body_length: 0 }],
      [{ always_load: true }, { always_load: true }],
      [{ agent: 'writer' }, { agent: 'writer', agents: ['writer'], scope: 'agent' }],
      [{ agents: ['writer', 'coder'] }, { agent: null, agents: ['writer', 'coder'], scope: 'agent' }],
      [{ scope: 'agent' }, {}],
      [{ scope: 'shared' }, { agent: null, agents: [], scope: 'shared' }],
      [{ agent: null }, {}],
    ] as const) {
      now = { ...now, ...expected };
      expect([change, await patch('change', change)]).toMatchObject([change, { status: 200 }]);
      expect((await get('change')).body).toEqual(now);
    }
    expect(now.id).toBe(before.id);
  });

  // Guards: searches find a skill by the body that it has now.
  test('embeds a new body', async () => {
    await made({ slug: 'moves', prompt_addendum: 'Knitting with two needles.' });
    await patch('moves', { prompt_addendum: 'Sailing against the wind on the open sea.' });
    const { data } = (await acme.cp('GET', '/v1/memory/entries?q=sailing+boats+at+sea&limit=1')).body;
    expect(data[0].slug).toBe('moves');
  });

  // Guards: a bad change is 400 and changes nothing.
  test.each([
    ['nothing', {}, /nothing to change/],
    ['no body', undefined, /nothing to change/],
    ['only what cannot change', { slug: 'renamed' }, /nothing to change/],
    ['an empty name', { name: '' }, 'name required'],
    ['a name that is null', { name: null }, 'name required'],
    ['an unknown scope', { scope: 'all' }, 'scope must be'],
    ['agents taken away from those it is for', { agents: [] }, 'at least one agent'],
    ['the one agent taken away', { agent: null }, 'at least one agent'],
    ['a body that is an object', { prompt_addendum: {} }, /^prompt_addendum/],
  ])('refuses %s', async (name, change, detail) => {
    const slug = `kept-${name.replaceAll(' ', '-')}`;
    const before = await made({ slug, agents: ['writer'] });
    const answer = await patch(slug, change);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(detail) } });
    expect((await get(slug)).body).toEqual(before);
  });

  // Guards: what ships belongs to nobody; what is unknown is 404 whatever is sent.
  test('refuses built-in and unknown skills', async () => {
    const immutable = { status: 400, body: { detail: expect.stringContaining('is built in') } };
    expect(await patch('planning', { name: 'Ours' })).toMatchObject(immutable);
    expect(await remove('planning')).toMatchObject(immutable);
    for (const slug of ['unknown', '__proto__', 'a b', 'x'.repeat(300)]) {
      for (const answer of [await get(slug), await patch(slug, { name: 'Ours' }), await remove(slug)]) {
        expect(answer).toMatchObject({ status: 404, body: { detail: 'not_found' } });
      }
    }
    // A memory is no skill, whatever its slug.
    await acme.cp('POST', '/v1/memory/entries', { type: 'note', slug: 'a-note', content: 'A note.' });
    expect([await get('a-note'), await remove('a-note')]).toMatchObject([{ status: 404 }, { status: 404 }]);
  });
});

describe('links', () => {
  // Guards: a link to a tool of the workspace, built-in or its own, is a use; every other is a dependency.
  test('are uses of tools and dependencies on skills', async () => {
    await acme.cp('POST', '/v1/tools', { slug: 'our-tool', ...stub });
    await acme.cp('POST', '/v1/tools', { slug: 'by-hand', access: 'human', ...stub });
    await other.cp('POST', '/v1/tools', { slug: 'their-tool', ...stub });
    const { id: target } = await made({ slug: 'linked' });
    const links = ['calculator', 'our-tool', 'by-hand', 'their-tool', 'linked', 'nowhere', 'planning'];
    const body = links.map((slug) => `[[${slug}]] [[${slug}|twice]]`).join(' ');
    const { id } = await made({ slug: 'linking', prompt_addendum: body });
    const expected = [
      'uses_tool calculator null',
      'uses_tool our-tool null',
      'uses_tool by-hand null',
      'depends_on their-tool null',
      `depends_on linked ${target}`,
      'depends_on nowhere null',
      'depends_on planning null',
    ];
    expect(await linksOf(id)).toEqual(expected);
    expect((await acme.cp('GET', '/v1/tools/our-tool')).body.used_by).toBe(1);

    await patch('linking', { prompt_addendum: '[[nowhere]] alone' });
    expect(await linksOf(id)).toEqual(['depends_on nowhere null']);
    await patch('linking', { name: 'Another name' });
    expect(await linksOf(id)).toEqual(['depends_on nowhere null']);
    expect((await acme.cp('GET', '/v1/tools/our-tool')).body.used_by).toBe(0);
  });

  // Guards: a link is a use from when the tool is made until it is deleted, in this workspace and no other.
  test('follow the tools of the workspace', async () => {
    const { id: entry } = await made({ slug: 'hammer-time', prompt_addendum: '[[hammer]]' });
    const { id: theirs } = await made({ slug: 'hammer-time', prompt_addendum: '[[hammer]]' }, other);
    const { body: note } = await acme.cp('POST', '/v1/memory/entries', { type: 'note', content: 'See [[hammer]].' });
    const links = async () => [await linksOf(entry), await linksOf(theirs, other), await linksOf(note.id)].flat();
    const dependency = 'depends_on hammer null';
    expect(await links()).toEqual([dependency, dependency, 'links_to hammer null']);
    expect((await acme.cp('POST', '/v1/tools', { slug: 'hammer', ...stub })).body.used_by).toBe(1);
    expect(await links()).toEqual(['uses_tool hammer null', dependency, 'links_to hammer null']);
    const { id: skill } = await made({ slug: 'hammer' });
    expect((await acme.cp('DELETE', '/v1/tools/hammer')).status).toBe(204);
    expect(await links()).toEqual([`depends_on hammer ${skill}`, dependency, `links_to hammer ${skill}`]);
  });

  // Guards: links that wait for a slug lead to the skill from when it is made until it goes, inside the workspace.
  test('resolve when the skill appears and not after it has gone', async () => {
    const { id } = await made({ slug: 'early', prompt_addendum: 'See [[late]].' });
    const { body: note } = await acme.cp('POST', '/v1/memory/entries', { type: 'note', content: 'See [[late]].' });
    await made({ slug: 'late' }, other);
    expect([await linksOf(id), await linksOf(note.id)]).toEqual([['depends_on late null'], ['links_to late null']]);
    const { id: late } = await made({ slug: 'late' });
    expect([await linksOf(id), await linksOf(note.id)]).toEqual([
      [`depends_on late ${late}`],
      [`links_to late ${late}`],
    ]);
    await remove('late');
    expect([await linksOf(id), await linksOf(note.id)]).toEqual([['depends_on late null'], ['links_to late null']]);
    expect((await get('late', other)).status).toBe(200);
  });
});

describe('deleting one', () => {
  // Guards: it is gone from everywhere, once; its slug is free again.
  test('takes it away', async () => {
    const { id } = await made({ slug: 'gone' });
    expect([(await remove('gone')).status, (await remove('gone')).status]).toEqual([204, 404]);
    expect((await get('gone')).status).toBe(404);
    expect((await acme.cp('GET', `/v1/memory/entries/${id}`)).status).toBe(404);
    await made({ slug: 'gone' });
  });
});

// Guards: a workflow can name skills that there are: built-in ones, and active ones of the workspace.
test('a step can be bound to skills alone', async () => {
  await made({ slug: 'bound' });
  await made({ slug: 'theirs' }, other);
  const { id } = await made({ slug: 'archived' });
  expect((await confirmed(acme, 'PATCH', `/v1/memory/entries/${id}`, { status: 'archived' })).status).toBe(200);
  expect((await get('archived')).body.status).toBe('archived');
  const specOf = (skills: string[]) => ({
    slug: `of-${skills.join('-')}`,
    version: 1,
    title: 'Bound',
    phases: [
      {
        slug: 'one',
        title: 'One',
        artifact: { schema_slug: 'one/text' },
        steps: [{ step_slug: 'do', kind: 'agent', role: 'producer', assignee: 'writer', skills }],
      },
    ],
  });
  const create = (...skills: string[]) => acme.cp('POST', '/v1/workflows', { spec: specOf(skills) });
  expect((await create('bound', 'planning')).status).toBe(201);
  for (const slug of ['theirs', 'archived', 'unknown', '__proto__']) {
    expect(await create('bound', slug)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(`no skill "${slug}"`) },
    });
  }
});
