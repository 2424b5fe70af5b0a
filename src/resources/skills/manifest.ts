/** How a file says a skill: what ships with the service and what a workspace applies are read by it. */
import { z } from 'zod';
import { NewSkill } from './contract.ts';
import { categoryOf, titleOf } from './model.ts';

const of = NewSkill.shape;
export const SkillManifest = z
  .strictObject({
    slug: of.slug,
    name: of.name.transform(titleOf),
    description: of.description.unwrap().default(null),
    category: of.category.unwrap().default(null),
    agents: of.agents.unwrap().default([]).describe('Agents that can load it; none: all of them'),
    always_load: of.always_load.unwrap().default(false).describe('Its body is in every run of the agents it is for'),
    body: of.prompt_addendum.unwrap().default(''),
  })
  .transform((skill) => ({ ...skill, category: skill.category ?? categoryOf(skill.slug) }))
  .meta({ title: 'A skill' });
export type SkillManifest = z.output<typeof SkillManifest>;
