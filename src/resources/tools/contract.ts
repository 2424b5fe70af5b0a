/**
 * The HTTP contract of tools: all that a workspace has, and those that it makes itself. Bad input is 400, never 422.
 */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { listReply, notBlank, Timestamp } from '../../platform/http/schemas.ts';
import { DeleteQuery } from '../references/contract.ts';
import { EFFECTS } from '../runs/model.ts';
import { TOOL_ACCESS, TOOL_KINDS, TOOL_SHAPES } from './model.ts';

const MAX_SLUG_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 4_000;

// The slug is a plain string, so that an ill-formed one is an unknown tool and no other kind of mistake.
const ToolPath = z.object({ slug: z.string() });

const ToolListRow = z
  .object({
    slug: z.string(),
    description: z.string(),
    module: z.string().describe('Where it is defined; `(db)` for custom tools'),
    category: z.string().describe('`custom` for custom tools'),
    sensitive: z.boolean().describe('Shown to people; gates nothing'),
    param_names: z.array(z.string()).describe('Arguments at the top of its schema'),
    param_count: z.int(),
    is_builtin: z.boolean(),
    used_by: z.int().describe('Skills that declare it'),
    kind: z.enum(TOOL_KINDS).optional().describe('Custom tools only; so are the next ones'),
    shape: z.enum(TOOL_SHAPES).optional(),
    access: z.enum(TOOL_ACCESS).optional().describe('`human`: not offered to agents'),
    owner_customer_id: z.string().optional(),
    version: z.string().optional().describe('Grows with each change'),
  })
  .meta({ id: 'ToolListRow' });

const Invocation = z.object({
  id: z.string(),
  ts: Timestamp,
  run_id: z.string(),
  agent: z.string().nullable(),
  transport: z.string(),
  params_preview: z.string().describe('The start of its arguments, without values that names tell to be secret'),
});

const JsonObject = z.record(z.string(), z.unknown());

const Tool = ToolListRow.extend({
  id: z.int().nullable().describe('Graph node id; null for built-in tools'),
  params_schema: JsonObject,
  unavailable: z.string().nullable().describe('Why agents are not offered it at the moment'),
  adapted: z.string().nullable().describe('What models are not told of its arguments, or why in another form'),
  recent_invocations: z.array(Invocation).max(50).describe('Newest first'),
  body: JsonObject.optional().describe('Custom tools only; so are the next ones. `***` stands for a secret'),
  integration: z.string().nullable().optional(),
  effect: z.enum(EFFECTS).optional().describe('Whether a call may be repeated when its outcome is unknown'),
  schema: JsonObject.optional().describe('The same as params_schema'),
}).meta({ id: 'Tool' });

const oneOf = <const Words extends readonly string[]>(name: string, words: Words) =>
  z.enum(words, `${name} must be one of ${words.join(', ')}`);

const definition = {
  description: notBlank(
    z
      .string('description required')
      .max(MAX_DESCRIPTION_LENGTH, `description too long (max ${MAX_DESCRIPTION_LENGTH})`),
    'description required',
  ).describe('What it does, when to use it and what it answers: all that an agent knows of it'),
  kind: oneOf('kind', TOOL_KINDS),
  schema: z
    .record(z.string(), z.unknown(), 'schema must be a JSON Schema object')
    .describe('JSON Schema of the arguments, of type object'),
  body: z
    .record(z.string(), z.unknown(), 'body must be an object')
    .describe(
      'What the kind needs. stub: {result}; webhook: {url, method?, headers?, timeout_s?}; script: {script, ' +
        'timeout_s?}; command: {argv, timeout_s?}; container: {image, argv?, env?, timeout_s?}; miniapp: {html}',
    ),
  shape: oneOf('shape', TOOL_SHAPES).describe('By default what the kind is'),
  access: oneOf('access', TOOL_ACCESS).describe('By default `both`'),
  integration: z
    .string()
    .max(100)
    .nullable()
    .describe('Whose credential a webhook sends as its bearer token, where it has no Authorization header'),
  effect: oneOf('effect', EFFECTS).describe('By default what the kind, or the method of a webhook, is known for'),
  sensitive: z.boolean().describe('By default true for script, command, container and miniapp'),
};

export const NewTool = z
  .object(
    {
      slug: z
        .string('slug required')
        .min(1, 'slug required')
        .max(MAX_SLUG_LENGTH, `slug too long (max ${MAX_SLUG_LENGTH})`)
        .regex(/^[a-z0-9][a-z0-9_-]*$/, 'slug must be lower-case letters, digits, "-" and "_"'),
      ...definition,
    },
    'slug required',
  )
  .partial({ shape: true, access: true, integration: true, effect: true, sensitive: true })
  .meta({ id: 'NewTool' });
export type NewTool = z.output<typeof NewTool>;

const ToolChange = z.object(definition, 'the body must be an object').partial().meta({ id: 'ToolChange' });
export type ToolChange = z.output<typeof ToolChange>;

export const listTools = endpoint({
  id: 'tools.list',
  path: '/v1/tools',
  summary: 'Built-in tools, those of MCP servers, and those of the workspace',
  reply: listReply(ToolListRow, { builtin: z.int(), custom: z.int() }),
});

export const getTool = endpoint({
  id: 'tools.detail',
  path: '/v1/tools/{slug}',
  summary: 'A tool with its arguments and its latest calls',
  params: ToolPath,
  badInput: 400,
  reply: Tool,
  problems: ['not_found'],
});

export const createTool = endpoint({
  id: 'tools.create',
  path: '/v1/tools',
  summary: 'Make a custom tool; agents can use it at once',
  body: NewTool,
  badInput: 400,
  status: 201,
  reply: Tool,
  problems: ['plan_limit_exceeded', 'slug_taken'],
});

export const updateTool = endpoint({
  id: 'tools.update',
  method: 'patch',
  path: '/v1/tools/{slug}',
  summary: 'Change a custom tool',
  description:
    'Fields that are not sent stay as they are; a body is sent whole, and `***` in it stands for the secret that is ' +
    'there. The slug names the tool for good.',
  params: ToolPath,
  // A request without a body is an empty change and answered like one.
  body: ToolChange.default({}),
  badInput: 400,
  reply: Tool,
  problems: ['builtin_immutable', 'not_found'],
});

export const deleteTool = endpoint({
  id: 'tools.delete',
  method: 'delete',
  path: '/v1/tools/{slug}',
  summary: 'Delete a custom tool; agents have it no more',
  params: ToolPath,
  query: DeleteQuery,
  badInput: 400,
  reply: NO_CONTENT,
  problems: ['builtin_immutable', 'in_use', 'not_found'],
});

const McpServer = z
  .object({
    name: z.string(),
    owner: z.enum(['operator', 'workspace']).describe('Who named it; a server of the operator serves every workspace'),
    state: z
      .enum(['connected', 'failed'])
      .describe('As the process that answers sees it: each API and worker has connections of its own'),
    since: Timestamp.describe('Since when it is in this state'),
    reason: z
      .string()
      .nullable()
      .describe('Why it cannot be used, with the end of what a command wrote before it died'),
    tools: z.array(
      z.object({
        slug: z.string().describe('`mcp.<server>.<tool>`'),
        description: z.string(),
        adapted: z.string().nullable().describe('Why models are told of its arguments in another form'),
      }),
    ),
    left_out: z
      .array(
        z.object({ name: z.string().describe('As the server names it; empty: it has no name'), reason: z.string() }),
      )
      .describe('Tools of the server that no agent can use'),
  })
  .meta({ id: 'McpServer' });

export const listMcpServers = endpoint({
  id: 'tools.mcpServers',
  path: '/v1/mcp-servers',
  summary: 'MCP servers that agents can use: their state, their tools, and tools that are left out',
  description:
    'As the process that answers sees them. Each API and each worker has connections of its own, so another one may see another ' +
    'state; what the worker of a run saw is in its `context_loaded`. It waits up to five seconds for a server that is starting.',
  reply: listReply(McpServer),
});
