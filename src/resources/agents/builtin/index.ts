/** The built-in agents, in the order in which they are listed. A new one needs its file and its line here. */
import { readShippedFiles } from '../../../platform/core/shipped-files.ts';
import { AgentManifest } from '../manifest.ts';
import type { Agent, BuiltinAgent } from '../model.ts';
import { CONVERSATION, HEARTBEAT, HOUSE_RULES } from './rules.ts';

/** A run that names no agent and resembles none gets this one. */
export const DEFAULT_AGENT = 'assistant';

const SLUGS = [
  DEFAULT_AGENT,
  'researcher',
  'planner',
  'outliner',
  'writer',
  'editor',
  'reviewer',
  'analyst',
  'coder',
  'designer',
  'tester',
  'copywriter',
  'storyteller',
  'illustrator',
  'animator',
  'educator',
  'interviewer',
];

const builtinAgent = ({ slug, description, model, allowed_tools, prompt }: AgentManifest): BuiltinAgent => ({
  slug,
  description,
  model,
  allowedTools: allowed_tools,
  prompt: `${prompt.trim()}\n${HOUSE_RULES}`,
  sessionPrompt: CONVERSATION,
  heartbeatPrompt: HEARTBEAT,
});

export const builtinAgents: ReadonlyMap<string, BuiltinAgent> = await readShippedFiles(
  new URL('./', import.meta.url),
  AgentManifest.transform(builtinAgent),
  SLUGS,
);

/** @returns whether a workspace chose the agent's model; the one that ships with a built-in agent is nobody's choice */
export const hasChosenModel = ({
  slug,
  isBuiltin,
  model,
  defaultModel,
}: Pick<Agent, 'slug' | 'isBuiltin' | 'model' | 'defaultModel'>): boolean =>
  Boolean(defaultModel) || !isBuiltin || model !== builtinAgents.get(slug)?.model;
