/** The HTTP contract of skills. Bad input is 400 here, in one sentence. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply } from '../../platform/http/schemas.ts';
import { ENTRY_STATUSES, MAX_SLUG_LENGTH, NODE_SLUG } from '../memory/model.ts';
import { DeleteQuery, warned } from '../references/contract.ts';
import { MAX_BODY_LENGTH, SKILL_SCOPES } from './model.ts';

// The slug is a plain string, so that an ill-formed one is an unknown skill and no other kind of mistake.
const SkillPath = z.object({ slug: z.string() });

const SkillListRow = z
  .object({
    slug: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    category: z.string().describe('The first word of the slug where none was given'),
    path: z.null(),
    body_length: z.int().describe('Characters'),
    is_builtin: z.boolean(),
    used_by: z.int().describe('Skills that name it as `[[slug]]`'),
  })
  .meta({ id: 'SkillListRow' });

const Skill = SkillListRow.extend({
  id: z.int().nullable().describe('Of the memory entry; null for built-in skills'),
  body: z.string(),
  redacted: z.literal(true).optional().describe('Set where the deployment shows bodies to admins only, and not to you'),
  always_load: z.boolean().describe('Its body is in every run of the agents it is for'),
  status: z.enum(ENTRY_STATUSES),
  agent: z.string().nullable().describe('The one agent it is for, where it is one'),
  agents: z.array(z.string()).describe('Agents that can load it; empty: all'),
  scope: z.enum(SKILL_SCOPES),
}).meta({ id: 'Skill' });

const SavedSkill = Skill.extend(warned).meta({ id: 'SavedSkill' });

const Name = z
  .string('name required')
  .trim()
  .min(1, 'name required')
  .max(200, 'name too long (max 200)')
  .describe('Shown as the title');
const AgentSlug = z.string().trim().min(1, 'an agent must not be blank').max(200);
const text = {
  description: z.string().max(2_000).nullable().describe('For which work it is: agents choose by this'),
  category: z
    .string()
    .trim()
    .max(64)
    .nullable()
    .transform((category) => category || null)
    .describe('By default the first word of the slug'),
  prompt_addendum: z
    .string()
    .max(MAX_BODY_LENGTH, `prompt_addendum too long (max ${MAX_BODY_LENGTH})`)
    .describe('The body, Markdown; `[[slug]]` in it names a tool or another skill'),
  agents: z.array(AgentSlug).max(200).describe('Agents that can load it'),
  scope: z
    .enum(SKILL_SCOPES, 'scope must be shared or agent')
    .describe('`shared`: for all agents, and `agents` is empty. By default `agent` where agents are given'),
  always_load: z.boolean(),
};

export const NewSkill = z
  .object(
    {
      slug: z
        .string('slug required')
        .min(1, 'slug required')
        .max(MAX_SLUG_LENGTH, `slug too long (max ${MAX_SLUG_LENGTH})`)
        .regex(NODE_SLUG, 'slug must be letters, digits, "-", "_", ".", ":" and "/"'),
      name: Name,
      ...z.object(text).partial().shape,
    },
    'slug required',
  )
  .meta({ id: 'NewSkill' });
export type NewSkill = z.output<typeof NewSkill>;

const SkillChange = z
  .object({ name: Name, ...text, agent: AgentSlug.nullable().describe('The same as one in `agents`') })
  .partial()
  .meta({ id: 'SkillChange' });
export type SkillChange = z.output<typeof SkillChange>;

export const listSkills = endpoint({
  id: 'skills.list',
  path: '/v1/skills',
  summary: 'Built-in skills and those of the workspace',
  reply: listReply(SkillListRow, { builtin: z.int(), custom: z.int() }),
});

export const getSkill = endpoint({
  id: 'skills.get',
  path: '/v1/skills/{slug}',
  summary: 'A skill with its body',
  params: SkillPath,
  reply: Skill,
  problems: ['not_found'],
});

export const createSkill = endpoint({
  id: 'skills.create',
  path: '/v1/skills',
  summary: 'Make a custom skill; agents can load it at once',
  body: NewSkill,
  badInput: 400,
  status: 201,
  reply: SavedSkill,
  problems: ['plan_limit_exceeded', 'slug_taken', 'embedding_failed'],
});

export const updateSkill = endpoint({
  id: 'skills.update',
  method: 'patch',
  path: '/v1/skills/{slug}',
  summary: 'Change a custom skill',
  description: 'Fields that are not sent stay as they are. Runs that already read it keep what they read.',
  params: SkillPath,
  // A request without a body is an empty change and answered like one.
  body: SkillChange.default({}),
  badInput: 400,
  reply: SavedSkill,
  problems: ['builtin_immutable', 'not_found', 'embedding_failed'],
});

export const deleteSkill = endpoint({
  id: 'skills.delete',
  method: 'delete',
  path: '/v1/skills/{slug}',
  summary: 'Delete a custom skill; agents cannot load it any more, runs that hold it go on',
  params: SkillPath,
  query: DeleteQuery,
  reply: NO_CONTENT,
  problems: ['builtin_immutable', 'in_use', 'not_found'],
});
