/** Declares the commands for what agents are made of: `aos agents`, `aos skills`, `aos workflows`. */
import {
  createAgent,
  deleteAgent,
  getAgentDetail,
  listAgents,
  setAgentModel,
  updateAgent,
} from '../../resources/agents/contract.ts';
import { createSkill, deleteSkill, getSkill, listSkills, updateSkill } from '../../resources/skills/contract.ts';
import { card, command, group, list } from '../commands.ts';
import { oneLine, paint, shorten } from '../output.ts';

const origin = ({ is_builtin }: { is_builtin: boolean }) => (is_builtin ? 'built in' : 'workspace');

const AGENT_FLAGS = {
  prompt: '-p, --prompt <text> | what it is told of its work',
  model: '-m, --model <id> | the model it works with, or auto',
  description: '-d, --description <text> | what it is for: the classifier reads it',
  allowed_tools: '-t, --tools <slugs> | tools that it may call, with commas between',
  effort: '--effort <level> | how hard the model thinks, or auto',
  max_output_tokens: '--max-output-tokens <count> | most tokens of one reply; auto leaves it to the model',
  fallback_models: '--fallback <ids> | models to ask while the provider of the model is out, with commas between',
} as const;

export const agents = group(
  'agents',
  'who works: list, make, change',
  [
    list('list', listAgents, {
      about: 'built-in ones and those of the workspace',
      columns:
        'SLUG slug, MODEL model, TOOLS> allowed_tools_count, FROM, MEMORY? memory_mode, PROMPT>? prompt_length, TOOL NAMES? allowed_tools, FOR description~70',
      cells: { FROM: origin },
      empty: 'no agents',
    }),
    command('show <slug>', getAgentDetail, {
      about: 'one agent with its prompt',
      say: ({ slug, description, model, allowed_tools, prompt }) =>
        [
          `${paint('bold', slug)}  ${oneLine(description)}`,
          `model  ${model}`,
          `tools  ${allowed_tools.join(', ') || 'none'}`,
          ...(typeof prompt === 'string' ? [`\n${prompt}`] : []),
        ].join('\n'),
    }),
    command('create <slug>', createAgent, {
      about: 'make an agent',
      flags: AGENT_FLAGS,
      file: 'prompt',
      needs: 'give --prompt or --file: what the agent is told of its work',
      fields: (given) => ({ model: 'auto', ...given }),
      say: ({ slug }) => `${slug} is made; try it: aos run ${slug} "Hello" -f`,
    }),
    command('update <slug>', updateAgent, {
      about: 'change what is given, and nothing else',
      flags: AGENT_FLAGS,
      file: 'prompt',
      say: (_, { slug }) => `${slug} is changed`,
    }),
    command('model <slug> <model>', setAgentModel, {
      about: 'have any agent work with another model in this workspace; `none` gives it its own again',
      fields: ({ model }) => ({ default_model: model === 'none' ? null : model }),
      say({ warnings }, { slug, model }) {
        if (model === 'none') return `${slug} works with its own model again`;
        const isUsed = warnings?.every(({ code }) => code !== 'model_not_used') ?? true;
        return isUsed ? `${slug} works with ${model}` : `${slug} is set to ${model}`;
      },
    }),
    command('delete <slug>', deleteAgent, { about: 'its runs keep naming it' }),
  ],
  'Examples:\n  aos agents -o wide\n  aos agents create editor --file editor.md --model auto --tools load_skill,memory_search',
);

const SKILL_FLAGS = {
  description: '-d, --description <text> | for which work it is: agents choose by this',
  category: '--category <text> | by default the first word of the slug',
  prompt_addendum: '-b, --body <text> | the skill itself, Markdown; [[slug]] names a tool or another skill',
  agents: '-a, --agents <slugs> | agents that can load it, with commas between',
  scope: '--scope <scope> | shared: for all agents',
  always_load: '--always | put its body into every run of the agents it is for',
} as const;
const readers = ({ agents: slugs }: { agents: string[] }): string => slugs.join(', ') || 'every agent';

export const skills = group(
  'skills',
  'what agents can read of how work is done',
  [
    list('list', listSkills, {
      about: 'built-in ones and those of the workspace',
      columns: 'SLUG slug, CATEGORY category, KIND, LENGTH> body_length, USED BY> used_by, TITLE? title, FOR',
      cells: {
        KIND: (row) => (row.is_builtin ? 'built-in' : 'custom'),
        FOR: (row) => shorten(row.description ?? row.title, 80),
      },
      empty: 'no skills',
    }),
    command('show <slug>', getSkill, {
      about: 'one skill with its body',
      say: (skill) =>
        [
          paint('bold', oneLine(skill.title)),
          ...(skill.description ? [oneLine(skill.description)] : []),
          '',
          card({
            slug: skill.slug,
            category: skill.category,
            kind: skill.is_builtin ? 'built-in' : `custom, ${skill.status}`,
            agents: skill.agents.join(', ') || 'all',
            read: skill.always_load ? 'in every run' : 'when an agent loads it',
            'used by': `${skill.used_by} skills`,
          }),
          `\n${skill.redacted ? '(the body is shown to admins only)' : skill.body}`,
        ].join('\n'),
    }),
    command('create <slug> <name>', createSkill, {
      about: 'make a skill',
      flags: SKILL_FLAGS,
      file: 'prompt_addendum',
      say: (skill) => `${skill.slug}: ${readers(skill)} can load it now`,
    }),
    command('update <slug>', updateSkill, {
      about: 'change what is given, and nothing else',
      flags: {
        ...SKILL_FLAGS,
        name: '-n, --name <text> | its title',
        'always_load!': '--no-always | leave it to the agents when to read it',
      },
      file: 'prompt_addendum',
      say: (skill) => `${skill.slug} is changed; ${readers(skill)} can load it`,
    }),
    command('delete <slug>', deleteSkill, { about: 'agents cannot load it from now on' }),
  ],
  'Examples:\n  aos skills show writing-style\n  aos skills create house-style "House style" --file house-style.md --agents writer,editor',
);
