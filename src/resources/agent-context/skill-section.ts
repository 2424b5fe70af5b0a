/**
 * Writes what an agent is told of skills when a run of it begins: which ones it can load, and the text of those that
 * are always there or that a step of a project is bound to. Skills are written by the workspace, so they are guidance
 * and stand in the system message, unlike memories.
 */
import { present } from '../../platform/core/present.ts';
import { LOAD_SKILL, type OfferedSkill } from '../skills/model.ts';
import type { SkillStore } from '../skills/store.ts';

/** The bodies that no step asked for have at most so many characters together. Those that do not fit can be loaded. */
const MAX_BODIES = 100_000;
const MAX_LISTED = 100;
const MAX_DESCRIPTION = 300;

export interface SkillSection {
  /** It is for the system message, and empty where there is nothing to say. */
  text: string;
  /** The text contains the bodies of the skills with these slugs. */
  loaded: string[];
}

export interface SkillRequest {
  agent: string;
  /** Means what it means in `BeginningRequest`. */
  stepSkills: readonly string[] | undefined;
  /** Says whether the workspace may have skills of its own. */
  hasOwn: boolean;
}

/** @returns the part of a run's beginning that tells of skills */
export const createSkillSection =
  ({ offered }: Pick<SkillStore, 'offered'>) =>
  async (customerId: string, { agent, stepSkills, hasOwn }: SkillRequest): Promise<SkillSection> => {
    const given = stepSkills ?? [];
    const skills = await offered(customerId, { agent, given, hasOwn });
    let room = MAX_BODIES;
    const full = skills.filter(({ slug, body }) => {
      if (given.includes(slug)) return true;
      if (body === null || body.length > room) return false;
      room -= body.length;
      return true;
    });
    const missing = given.filter((slug) => !skills.some((skill) => skill.slug === slug));
    // A step works with what it is bound to, and with what is always there.
    const choice = stepSkills ? skills.filter(({ alwaysLoad }) => alwaysLoad) : skills;
    const listed = choice.filter((skill) => !full.includes(skill));
    if (full.length + listed.length + missing.length === 0) return { text: '', loaded: [] };
    return { text: sectionOf(full, listed, missing), loaded: full.map(({ slug }) => slug) };
  };

function sectionOf(full: readonly OfferedSkill[], listed: readonly OfferedSkill[], missing: readonly string[]): string {
  const unlisted = listed.length - MAX_LISTED;
  return [
    '# Skills',
    `Skills say how work is done here. Follow them as you follow this text; where a skill and the request differ, the request counts. What one names as \`[[slug]]\` is a tool that you may have, or another skill to read with ${LOAD_SKILL}.`,
    listed.length > 0 && `Before work that one of these is for, read it with ${LOAD_SKILL}:`,
    listed.length > 0 && listed.slice(0, MAX_LISTED).map(lineOf).join('\n'),
    unlisted > 0 && `(${unlisted} more are not listed.)`,
    missing.length > 0 && `Not there any more, do without: ${missing.join(', ')}`,
    ...full.map(({ slug, title, body }) => `## ${title} (${slug})\n\n${present(body).trim()}`),
  ]
    .filter(Boolean)
    .join('\n\n');
}

const lineOf = ({ slug, title, description }: OfferedSkill): string =>
  `- ${slug}: ${(description || title).replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION).toWellFormed()}`;
