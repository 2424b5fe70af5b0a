/** Skills over HTTP: what a workspace changes and deletes, and what a body links to. */
import { describe, expect, test } from '@jest/globals';
import { confirmed } from '../../support/service/otp.ts';
import { acme, get, made, other, patch, remove, useSkills } from './over-http.ts';

useSkills();

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

describe('changing one', () => {
  // Guards: each field can be changed alone; fields that are not sent stay.
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

  // Guards: searches find a skill by its present body.
  test('embeds a new body', async () => {
    await made({ slug: 'moves', prompt_addendum: 'Knitting with two needles.' });
    await patch('moves', { prompt_addendum: 'Sailing against the wind on the open sea.' });
    const { data } = (await acme.cp('GET', '/v1/memory/entries?q=sailing+boats+at+sea&limit=1')).body;
    expect(data[0].slug).toBe('moves');
  });

  // Guards: a bad change is 400 and changes nothing.
  test.each([
    ['no body', undefined, /nothing to change/],
    ['an empty change', {}, /nothing to change/],
    ['what cannot change', { slug: 'renamed' }, /^slug: Unknown field; known are name, /],
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

  // Guards: a built-in skill cannot be changed; an unknown one is a 404 whatever is sent.
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
  // Guards: a link to a tool of the workspace, built-in or its own, is a use; any other link is a dependency.
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

  // Guards: a link counts as a use of a tool while that tool exists, in this workspace and no other.
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
    expect((await acme.cp('DELETE', '/v1/tools/hammer?force=true')).status).toBe(204);
    expect(await links()).toEqual([`depends_on hammer ${skill}`, dependency, `links_to hammer ${skill}`]);
  });

  // Guards: links to a slug lead to the skill while it exists, inside the workspace.
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
    await acme.cp('DELETE', '/v1/skills/late?force=true');
    expect([await linksOf(id), await linksOf(note.id)]).toEqual([['depends_on late null'], ['links_to late null']]);
    expect((await get('late', other)).status).toBe(200);
  });
});

describe('deleting one', () => {
  // Guards: a deleted skill is gone from everywhere, and its slug is free again.
  test('takes it away', async () => {
    const { id } = await made({ slug: 'gone' });
    expect([(await remove('gone')).status, (await remove('gone')).status]).toEqual([204, 404]);
    expect((await get('gone')).status).toBe(404);
    expect((await acme.cp('GET', `/v1/memory/entries/${id}`)).status).toBe(404);
    await made({ slug: 'gone' });
  });
});

// Guards: a workflow can name existing skills: built-in ones, and active ones of the workspace.
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
