import { z } from 'zod';
import { LOAD_SKILL } from '../../skills/model.ts';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';
import { Offset, PAGE_LENGTH, pageOf } from './text-page.ts';

/** Gives the skills that one agent may load. */
export interface LoadSkillSource {
  load(customerId: string, agent: string, slug: string): Promise<{ title: string; body: string } | undefined>;
  loadable(customerId: string, agent: string): Promise<string[]>;
}

const MAX_NAMED = 100;

export const createLoadSkill = ({ load, loadable }: LoadSkillSource) =>
  builtinTool({
    slug: LOAD_SKILL,
    area: 'skills',
    description:
      'Reads a skill: how a kind of work is done here. Use it before you begin work that a skill is for, once each. ' +
      `Returns {slug, title, content, next_offset}, at most ${PAGE_LENGTH} characters at a time; next_offset is null at ` +
      'the end.',
    effect: 'read',
    isQuick: true,
    args: z.strictObject({ slug: z.string().min(1).max(200).describe('Of the skill'), offset: Offset }),
    async execute({ slug, offset }, { customerId, agent }) {
      const skill = await load(customerId, agent, slug);
      if (skill) return { slug, title: skill.title, ...pageOf(skill.body, offset) };
      const others = (await loadable(customerId, agent)).slice(0, MAX_NAMED);
      throw new ToolError(`there is no skill "${slug}" that you can load; there are: ${others.join(', ')}`);
    },
  });
