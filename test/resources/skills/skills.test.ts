/** Skills over HTTP: what a workspace sees, and what it makes. */
import { describe, expect, test } from '@jest/globals';
import { first, present } from '../../../src/platform/core/present.ts';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import { MAX_BODY_LENGTH } from '../../../src/resources/skills/model.ts';
import { acme, get, made, other, post, remove, service, useSkills } from './over-http.ts';

useSkills();

describe('the catalogue', () => {
  // Guards: built-in skills exist from the beginning and are counted apart; rows have the fields of the specification.
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

  // Guards: a built-in skill is read like any other and is no entry of the memory.
  test('shows a built-in skill', async () => {
    const { title, description, category, body } = present(builtinSkills.get('fact-checking'));
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

  // Guards: `used_by` counts the skills that name the slug, custom and built-in, each once and without the skill
  // itself.
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
  // Guards: everything that is sent is kept and returned; a skill is also found as an entry of the memory.
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

  // Guards: fields that are left out have the smallest default; naming agents makes the skill personal to them.
  test.each([
    ['nothing', {}, { category: 'bare', scope: 'shared', agents: [], agent: null, body: '', description: null }],
    ['one agent', { agents: ['writer'] }, { scope: 'agent', agents: ['writer'], agent: 'writer' }],
    ['shared with agents', { agents: ['writer'], scope: 'shared' }, { scope: 'shared', agents: [], agent: null }],
    ['a blank category', { category: ' ' }, { category: 'bare' }],
    ['always', { always_load: true }, { always_load: true }],
  ])('with %s', async (name, more, expected) => {
    expect(await made({ slug: `bare-${name.replaceAll(' ', '-')}`, ...more })).toMatchObject(expected);
  });

  // Guards: each fault is a 400 in words, never a 422 or a 500, and makes nothing.
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

  // Guards: the limits themselves are allowed, and so is every character that a wikilink can have.
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

  // Guards: of many simultaneous creates of one slug one succeeds, and the others are told.
  test('makes one of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post({ slug: 'once', name: 'Once' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  // Guards: the cap of the plan holds under simultaneous creates, and the refusal names it.
  test('keeps to the cap', async () => {
    const small = await service.tenant('acc_small', 'free');
    const answers = await Promise.all(
      Array.from({ length: 13 }, (_, i) => post({ slug: `s-${i}`, name: 'One of many' }, small)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(3);
    expect(first(refused).body.detail).toEqual({
      code: 'plan_limit_exceeded',
      resource: 'custom_skills',
      current: 10,
      limit: 10,
      tier: 'free',
    });
    // Memories have a cap of their own.
    expect((await small.cp('POST', '/v1/memory/entries', { type: 'note', content: 'A note.' })).status).toBe(201);
    await remove(present(answers.find(({ status }) => status === 201)).body.slug, small);
    expect((await post({ slug: 'room', name: 'Room again' }, small)).status).toBe(201);
  });
});
