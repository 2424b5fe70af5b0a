/** The HTTP contract of agents: one list for callers with a key, and everything else for signed-in people. */
import { z } from 'zod';
import { BINARY, endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { Effort, listReply, notBlank, Slug, Timestamp, Usd } from '../../platform/http/schemas.ts';
import { DeleteQuery, warned } from '../references/contract.ts';
import { EFFORTS } from '../../platform/core/effort.ts';
import { RunListRow } from '../runs/contract.ts';
import { ON_LOST_EFFECT, SELECTION_MODES } from './model.ts';

/**
 * The limit lies above the 2 MB of a picture, so that a picture that is too large meets its own 400; beyond this it is
 * 413.
 */
const MAX_UPLOAD_BYTES = 10 * 1024 * 1024;

// The slug is a plain string, so that an ill-formed one is an unknown agent and no other kind of mistake.
const AgentPath = z.object({ slug: z.string() });
const ModelId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\S+$/, 'must be a model id without spaces')
  .describe('Model id, or `auto`');
const ToolSlug = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be a tool slug');

const OnLostEffect = z
  .enum(ON_LOST_EFFECT)
  .describe(
    'Where nobody knows whether an irreversible call took effect: `tell` tells the model so, `ask` has the run wait for a person',
  );

const AgentListRow = z
  .object({
    slug: z.string(),
    description: z.string(),
    model: z.string().describe('Model id in force'),
    module: z.string().describe('`(db)` for custom agents'),
    class_name: z.string().describe('`(custom)` for custom agents'),
    prompt_length: z.int().describe('Characters in the system prompt'),
    allowed_tools_count: z.int(),
    allowed_tools: z.array(z.string()),
    is_builtin: z.boolean(),
    default_model: z.string().nullable(),
    selection_mode: z.string().nullable(),
    reasoning: z.boolean().nullable(),
    resolver_enforce: z.boolean().nullable(),
    memory_mode: z.string(),
    on_lost_effect: OnLostEffect,
    owner_customer_id: z.string().optional().describe('Custom agents only'),
    version: z.string().optional().describe('Custom agents only'),
    redacted: z.literal(true).optional().describe('Set where the deployment does not show how its agents are made'),
  })
  .meta({ id: 'AgentListRow' });

const Agent = AgentListRow.extend({
  prompt: z.string(),
  session_prompt: z.string(),
  heartbeat_prompt: z.string(),
  allowlist_block: z.array(z.string()),
  allowlist_add: z.array(z.string()),
  default_workspace: z.string().nullable(),
  effort: z.enum(EFFORTS).nullable(),
  max_output_tokens: z.int().nullable(),
  fallback_models: z.array(z.string()),
  voice: z.string().nullable(),
  has_avatar: z.boolean(),
  created_at: Timestamp.nullable().describe('Null for built-in agents'),
  updated_at: Timestamp.nullable().describe('Null for built-in agents'),
}).meta({ id: 'Agent' });

const SavedAgent = Agent.extend(warned).meta({ id: 'SavedAgent' });

const RecentRuns = z
  .object({
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    cost_usd: Usd,
    last: z.array(RunListRow).max(10).describe('Newest first'),
  })
  .meta({ id: 'RecentRuns' });
export type RecentRuns = z.input<typeof RecentRuns>;

const definition = {
  model: ModelId,
  prompt: notBlank(z.string().max(200_000)).describe('System prompt'),
  description: z.string().max(2_000),
  allowed_tool_slugs: z.array(ToolSlug).max(200),
  allowed_tools: z.array(ToolSlug).max(200).describe('The same, by the name under which agents are shown'),
  default_workspace: z.string().max(200).nullable(),
  on_lost_effect: OnLostEffect,
  default_model: ModelId.nullable(),
  selection_mode: z.enum(SELECTION_MODES).nullable(),
  effort: Effort.nullable().describe('How hard the model thinks; null leaves it to the model'),
  max_output_tokens: z
    .int()
    .min(256)
    .max(1_000_000)
    .nullable()
    .describe('Most tokens of one reply; null leaves it to the model and to what the budgets can pay'),
  fallback_models: z
    .array(ModelId)
    .max(5)
    .describe('Ids of models that are asked, in this order, while the provider of the model is out'),
};

export const NewAgent = z
  .object({ slug: Slug, ...definition })
  .partial()
  .required({ slug: true, model: true, prompt: true })
  .meta({ id: 'NewAgent' });
export type NewAgent = z.output<typeof NewAgent>;

const AgentChange = z.object(definition).partial().meta({ id: 'AgentChange' });
export type AgentChange = z.output<typeof AgentChange>;

const ModelChange = z
  .object({
    model: ModelId.nullable().describe('Null: a built-in agent goes back to its own'),
    default_model: definition.default_model,
    selection_mode: definition.selection_mode,
    effort: definition.effort,
    max_output_tokens: definition.max_output_tokens,
    fallback_models: definition.fallback_models,
    reasoning: z.boolean().nullable(),
    resolver_enforce: z.boolean().nullable().describe("The agent's model wins over a request's override"),
  })
  .partial()
  .meta({ id: 'AgentModelChange' });
export type ModelChange = z.output<typeof ModelChange>;

const VoiceChange = z
  .object({ voice: z.string().min(1).max(200).nullable() })
  .partial()
  .meta({ id: 'AgentVoiceChange' });
export type VoiceChange = z.output<typeof VoiceChange>;

export const listInvokableAgents = endpoint({
  id: 'agents.listInvokable',
  surface: 'public',
  path: '/v1/agents',
  summary: 'List the agents that a run can name',
  reply: listReply(z.object({ slug: z.string(), description: z.string() })),
});

export const listAgents = endpoint({
  id: 'agents.list',
  path: '/v1/agents',
  summary: 'Built-in agents and those of the workspace',
  reply: listReply(AgentListRow, { builtin: z.int(), custom: z.int() }),
});

export const getAgentDetail = endpoint({
  id: 'agents.detail',
  path: '/v1/agents/{slug}/detail',
  summary: 'An agent with its prompts and what it ran lately',
  params: AgentPath,
  reply: Agent.extend({ recent_runs: RecentRuns }).meta({ id: 'AgentDetail' }),
  problems: ['not_found'],
});

export const createAgent = endpoint({
  id: 'agents.create',
  path: '/v1/agents',
  summary: 'Make a custom agent',
  body: NewAgent,
  status: 201,
  reply: SavedAgent,
  problems: ['plan_limit_exceeded', 'slug_taken'],
});

export const updateAgent = endpoint({
  id: 'agents.update',
  method: 'patch',
  path: '/v1/agents/{slug}',
  summary: 'Change the definition of a custom agent',
  description: 'Fields that are not sent stay as they are. The slug names the agent for good.',
  params: AgentPath,
  // A request without a body is an empty change and answered like one; so are those below.
  body: AgentChange.default({}),
  reply: SavedAgent,
  problems: ['bad_request', 'builtin_immutable', 'not_found'],
});

export const setAgentModel = endpoint({
  id: 'agents.setModel',
  method: 'patch',
  path: '/v1/agents/{slug}/model',
  summary: 'Set the model of any agent for this workspace, and how it is chosen',
  params: AgentPath,
  body: ModelChange.default({}),
  reply: SavedAgent,
  problems: ['bad_request', 'not_found'],
});

export const setAgentVoice = endpoint({
  id: 'agents.setVoice',
  method: 'patch',
  path: '/v1/agents/{slug}/voice',
  summary: 'Set the voice of any agent for this workspace; null takes it away',
  params: AgentPath,
  body: VoiceChange.default({}),
  reply: Agent,
  problems: ['bad_request', 'not_found'],
});

export const deleteAgent = endpoint({
  id: 'agents.delete',
  method: 'delete',
  path: '/v1/agents/{slug}',
  summary: 'Delete a custom agent; its runs keep naming it',
  params: AgentPath,
  query: DeleteQuery,
  reply: NO_CONTENT,
  problems: ['builtin_immutable', 'in_use', 'not_found'],
});

export const getAgentAvatar = endpoint({
  id: 'agents.getAvatar',
  path: '/v1/agents/{slug}/avatar',
  summary: 'The picture of an agent, a WebP of 512 by 512 pixels',
  params: AgentPath,
  reply: BINARY,
  problems: ['not_found'],
});

export const putAgentAvatar = endpoint({
  id: 'agents.putAvatar',
  method: 'put',
  path: '/v1/agents/{slug}/avatar',
  summary: 'Give any agent a picture in this workspace: PNG, JPEG or WebP, at most 2 MB',
  params: AgentPath,
  upload: { maxBytes: MAX_UPLOAD_BYTES },
  reply: Agent,
  problems: ['invalid_upload', 'payload_too_large', 'not_found'],
});

export const deleteAgentAvatar = endpoint({
  id: 'agents.deleteAvatar',
  method: 'delete',
  path: '/v1/agents/{slug}/avatar',
  summary: 'Take the picture of an agent away',
  params: AgentPath,
  reply: NO_CONTENT,
  problems: ['not_found'],
});
