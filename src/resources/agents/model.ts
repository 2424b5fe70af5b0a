/**
 * What an agent is, whether it ships with the service or a workspace made it. A definition (built-in file or `agents`
 * row) belongs to whoever wrote it; what a workspace sets on top of it is kept apart, so that a built-in agent can
 * change with a release without losing a workspace's choices.
 */

import type { Effort } from '../../platform/core/effort.ts';

/** `fixed`: the agent's model. `auto`: a model of the tier that the prompt asks for. */
export const SELECTION_MODES = ['fixed', 'auto'] as const;

/**
 * An irreversible call may have taken effect without anybody knowing. `tell`: the model is told so. `ask`: the run waits
 * until a person has found out.
 */
export const ON_LOST_EFFECT = ['tell', 'ask'] as const;
type OnLostEffect = (typeof ON_LOST_EFFECT)[number];

export const MAX_AVATAR_BYTES = 2 * 1024 * 1024;
/** Every stored picture has this width and height. */
export const AVATAR_PIXELS = 512;

/** This value of `memory_mode` says that an agent sees its own memory and the shared one. */
const MEMORY_MODE = 'both';

/** Each built-in agent is one file under `builtin/`. */
export interface BuiltinAgent {
  slug: string;
  /** The classifier compares a prompt with it when a run names no agent, so it says what the agent is for. */
  description: string;
  model: string;
  allowedTools: readonly string[];
  prompt: string;
  /** It is added to the prompt where the run belongs to a conversation. */
  sessionPrompt: string;
  /** It is added to the prompt where a heartbeat started the run. */
  heartbeatPrompt: string;
}

/** Null leaves a setting as the definition has it, or unset where the definition does not know it. */
export interface AgentSettings {
  model: string | null;
  defaultModel: string | null;
  selectionMode: string | null;
  reasoning: boolean | null;
  resolverEnforce: boolean | null;
  effort: Effort | null;
  maxOutputTokens: number | null;
  fallbackModels: string[];
  voice: string | null;
  /** The picture has this key in file storage. */
  avatarFile: string | null;
}

export interface CustomAgent extends Omit<BuiltinAgent, 'allowedTools'> {
  customerId: string;
  allowedTools: string[];
  defaultWorkspace: string | null;
  memoryMode: string;
  onLostEffect: OnLostEffect;
  version: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A definition with the workspace's settings applied: what a run uses and what the interface shows. */
export interface Agent extends AgentSettings {
  slug: string;
  description: string;
  /** The model in force. */
  model: string;
  prompt: string;
  sessionPrompt: string;
  heartbeatPrompt: string;
  allowedTools: string[];
  module: string;
  className: string;
  isBuiltin: boolean;
  memoryMode: string;
  onLostEffect: OnLostEffect;
  defaultWorkspace: string | null;
  /** This and the next three are null for built-in agents. */
  ownerCustomerId: string | null;
  version: string | null;
  createdAt: Date | null;
  updatedAt: Date | null;
}

const UNSET: AgentSettings = {
  model: null,
  defaultModel: null,
  selectionMode: null,
  reasoning: null,
  resolverEnforce: null,
  effort: null,
  maxOutputTokens: null,
  fallbackModels: [],
  voice: null,
  avatarFile: null,
};

/** @returns a built-in agent as one workspace has set it */
export const mergeAgent = (builtin: BuiltinAgent, settings: AgentSettings | null = null): Agent => ({
  slug: builtin.slug,
  description: builtin.description,
  prompt: builtin.prompt,
  sessionPrompt: builtin.sessionPrompt,
  heartbeatPrompt: builtin.heartbeatPrompt,
  allowedTools: [...builtin.allowedTools],
  module: `app.agents.${builtin.slug}`,
  className: classNameOf(builtin.slug),
  isBuiltin: true,
  memoryMode: MEMORY_MODE,
  onLostEffect: 'tell',
  defaultWorkspace: null,
  ownerCustomerId: null,
  version: null,
  createdAt: null,
  updatedAt: null,
  ...inForce(builtin.model, settings),
});

/** @returns a custom agent with its settings */
export const mergeCustomAgent = (custom: CustomAgent, settings: AgentSettings | null = null): Agent => ({
  slug: custom.slug,
  description: custom.description,
  prompt: custom.prompt,
  sessionPrompt: custom.sessionPrompt,
  heartbeatPrompt: custom.heartbeatPrompt,
  allowedTools: custom.allowedTools,
  module: '(db)',
  className: '(custom)',
  isBuiltin: false,
  memoryMode: custom.memoryMode,
  onLostEffect: custom.onLostEffect,
  defaultWorkspace: custom.defaultWorkspace,
  ownerCustomerId: custom.customerId,
  version: custom.version,
  createdAt: custom.createdAt,
  updatedAt: custom.updatedAt,
  ...inForce(custom.model, settings),
});

/** Takes exactly the fields of the settings: a database row has more, and those must not overwrite the definition's. */
function inForce(definedModel: string, settings: AgentSettings | null): AgentSettings & { model: string } {
  const { model, defaultModel, selectionMode, reasoning, resolverEnforce, ...more } = settings ?? UNSET;
  const { effort, maxOutputTokens, fallbackModels, voice, avatarFile } = more;
  const how = { selectionMode, reasoning, resolverEnforce, effort, maxOutputTokens, fallbackModels };
  return { model: model ?? definedModel, defaultModel, ...how, voice, avatarFile };
}

/** `seo_writer` -> `SeoWriterAgent`. */
const classNameOf = (slug: string): string =>
  slug
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('') + 'Agent';

/** Hides how a built-in agent is made, its texts and its place in the code, as public-visibility mode asks for. */
export const redact = (agent: Agent): Agent => ({
  ...agent,
  prompt: '',
  sessionPrompt: '',
  heartbeatPrompt: '',
  module: '',
  className: '',
});
