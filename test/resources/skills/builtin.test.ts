/** The skills that ship: used by agents and workflows that ship, and linked to what there is. */
import { expect, test } from '@jest/globals';
import { builtinAgents } from '../../../src/resources/agents/builtin/index.ts';
import { wikilinks } from '../../../src/resources/memory/model.ts';
import { builtinSkills } from '../../../src/resources/skills/builtin/index.ts';
import { MAX_BODY_LENGTH } from '../../../src/resources/skills/model.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { describedTools } from '../../support/service/builtin-tools.ts';

const skills = [...builtinSkills.values()];

// Guards: there are enough built-in skills, each of substance, in its own words, and within the limits of custom ones.
test('are of substance', () => {
  expect(skills.length).toBeGreaterThanOrEqual(8);
  for (const { slug, title, description, category, body } of skills) {
    expect([slug, slug]).toEqual([slug, expect.stringMatching(/^[a-z]+(-[a-z]+)*$/)]);
    for (const text of [title, description, category]) expect(text).toMatch(/\S/);
    expect(description.length).toBeLessThan(200);
    expect(body.length).toBeGreaterThan(1_000);
    expect(body.length).toBeLessThan(Math.min(5_000, MAX_BODY_LENGTH));
  }
  expect(new Set(skills.map(({ description }) => description)).size).toBe(skills.length);
});

// Guards against: a name in a body that leads nowhere, or that is a directive for the offline model.
test('link to skills and tools that there are', () => {
  const tools = new Set(describedTools.all.map(({ slug }) => slug));
  for (const { slug, body } of skills) {
    const lost = wikilinks(body).filter((link) => !tools.has(link) && !builtinSkills.has(link));
    expect([slug, lost]).toEqual([slug, []]);
    expect(wikilinks(body)).not.toContain(slug);
  }
});

// Guards: each skill is for agents that exist, and most agents have a skill.
test('are for agents that there are', () => {
  for (const { slug, agents } of skills) {
    expect(agents.length).toBeGreaterThan(0);
    expect([slug, agents.filter((agent) => !builtinAgents.has(agent))]).toEqual([slug, []]);
  }
  const equipped = new Set(skills.flatMap(({ agents }) => agents));
  expect([...builtinAgents.keys()].filter((slug) => !equipped.has(slug))).toEqual([]);
});

// Guards: the built-in workflows name skills that exist.
test('are bound to steps of every built-in workflow', () => {
  for (const { spec } of builtinTemplates) {
    const bound = spec.phases.flatMap(({ steps }) => steps.flatMap(({ skills: named = [] }) => named));
    expect([spec.slug, bound.length > 0]).toEqual([spec.slug, true]);
    expect(bound.filter((slug) => !builtinSkills.has(slug))).toEqual([]);
  }
});
