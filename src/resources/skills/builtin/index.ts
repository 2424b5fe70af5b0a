/** The built-in skills, in the order in which they are listed. A new one needs its file and its line here. */
import { readShippedFiles } from '../../../platform/core/shipped-files.ts';
import { wikilinks } from '../../memory/model.ts';
import { SkillManifest } from '../manifest.ts';
import type { BuiltinSkill } from '../model.ts';

const SLUGS = [
  'writing-style',
  'summarising',
  'read-aloud',
  'research-method',
  'fact-checking',
  'calculating',
  'planning',
  'svg-drawing',
  'colour-and-contrast',
  'html-pages',
  'code-review',
  'exercise-design',
];

const builtinSkill = ({ slug, name, description, category, agents, body }: SkillManifest): BuiltinSkill => ({
  slug,
  title: name,
  description: description ?? '',
  category,
  agents,
  body: body.trim(),
});

export const builtinSkills: ReadonlyMap<string, BuiltinSkill> = await readShippedFiles(
  new URL('./', import.meta.url),
  SkillManifest.transform(builtinSkill),
  SLUGS,
);

const links = [...builtinSkills.values()].flatMap(({ body }) => wikilinks(body));

/** @returns how many built-in skills name a skill or a tool as `[[slug]]` */
export const builtinReferences = (slug: string): number => links.filter((link) => link === slug).length;
