/** The built-in skills, in the order in which they are listed. A new one needs its file and its line here. */
import { wikilinks } from '../../memory/model.ts';
import type { BuiltinSkill } from '../model.ts';
import { calculating } from './calculating.ts';
import { codeReview } from './code-review.ts';
import { colourAndContrast } from './colour-and-contrast.ts';
import { exerciseDesign } from './exercise-design.ts';
import { factChecking } from './fact-checking.ts';
import { htmlPages } from './html-pages.ts';
import { planning } from './planning.ts';
import { readAloud } from './read-aloud.ts';
import { researchMethod } from './research-method.ts';
import { summarising } from './summarising.ts';
import { svgDrawing } from './svg-drawing.ts';
import { writingStyle } from './writing-style.ts';

/**
 * Built-in skills by slug. It is a Map, because a slug comes from an address and `__proto__` must be as unknown as any
 * other.
 */
export const builtinSkills: ReadonlyMap<string, BuiltinSkill> = new Map(
  [
    writingStyle,
    summarising,
    readAloud,
    researchMethod,
    factChecking,
    calculating,
    planning,
    svgDrawing,
    colourAndContrast,
    htmlPages,
    codeReview,
    exerciseDesign,
  ].map((skill) => [skill.slug, skill]),
);

const links = [...builtinSkills.values()].flatMap(({ body }) => wikilinks(body));

/** @returns how many built-in skills name a skill or a tool as `[[slug]]` */
export const builtinReferences = (slug: string): number => links.filter((link) => link === slug).length;
