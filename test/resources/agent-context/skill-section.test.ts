/** What a run is told of skills where there are too many of them, or one has gone. */
import { expect, test } from '@jest/globals';
import { createSkillSection } from '../../../src/resources/agent-context/skill-section.ts';
import type { OfferedSkill } from '../../../src/resources/skills/model.ts';

const skill = (slug: string, more: Partial<OfferedSkill> = {}): OfferedSkill => ({
  slug,
  title: `Title of ${slug}`,
  description: null,
  alwaysLoad: false,
  body: null,
  ...more,
});
const sectionOf = (skills: OfferedSkill[], stepSkills?: string[]) =>
  createSkillSection({ offered: async () => skills })('acme', { agent: 'writer', stepSkills, hasOwn: true });

// Guards: an agent without skills spends no token on them.
test('is empty without skills', async () => {
  expect(await sectionOf([])).toEqual({ text: '', loaded: [] });
  expect(await sectionOf([], [])).toEqual({ text: '', loaded: [] });
});

// Guards: skills that are always loaded cannot fill the context window; those without room can be loaded by the agent.
test('lists what has no room', async () => {
  const large = (slug: string) => skill(slug, { alwaysLoad: true, body: `${slug} ${'a'.repeat(49_000)}` });
  const { text, loaded } = await sectionOf([large('one'), large('two'), large('three')]);
  expect(loaded).toEqual(['one', 'two']);
  expect(text).toContain('\n- three: Title of three\n');
  expect(text.length).toBeLessThan(101_000);
  // What a step asked for has room whatever else there is.
  expect((await sectionOf([large('one'), large('two'), large('three')], ['three'])).loaded).toEqual([
    ...['one', 'two', 'three'],
  ]);
});

// Guards: a catalogue of a thousand skills stays a list that fits.
test('lists a hundred', async () => {
  const description = 'x'.repeat(2_000);
  const many = Array.from({ length: 1_000 }, (_, i) => skill(`s-${i}`, { description }));
  const { text, loaded } = await sectionOf(many);
  expect(loaded).toEqual([]);
  expect(text.match(/^- s-\d+: x+$/gm)).toHaveLength(100);
  expect(text).toContain('(900 more are not listed.)');
  expect(text.length).toBeLessThan(40_000);
});

// Guards: a step whose skill was deleted goes on and is told so.
test('names what has gone', async () => {
  const { text, loaded } = await sectionOf([skill('here', { body: 'Body.' })], ['here', 'gone']);
  expect(loaded).toEqual(['here']);
  expect(text).toContain('Not there any more, do without: gone');
});
