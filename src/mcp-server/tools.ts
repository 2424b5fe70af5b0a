/**
 * Defines what a client of the service's own MCP server can do: endpoints under names for models. Arguments, checks,
 * caps and answers are those of the endpoint, which is declared once, in its contract.
 */
import { z } from 'zod';
import { parseJson } from '../platform/core/json.ts';
import { present } from '../platform/core/present.ts';
import { fieldsOf } from '../platform/core/record.ts';
import type { PageKeys } from '../platform/core/page-keys.ts';
import { Problem } from '../platform/core/problem.ts';
import { sha256 } from '../platform/core/crypto.ts';
import { urgently } from '../platform/db/client.ts';
import { forWorkspace } from '../platform/fairness/workspace-context.ts';
import { demand } from '../platform/core/rights.ts';
import { withAudit, type AuditTrail } from '../platform/http/audit.ts';
import {
  demandOpen,
  rightsAskedBy,
  type Caller,
  type Endpoint,
  type EndpointRequest,
  type Route,
} from '../platform/http/endpoint.ts';
import { jsonTextFor } from '../platform/http/reply-text.ts';
import { parseRequest } from '../platform/http/validate.ts';

interface Exposed {
  name: string;
  /** The id of the endpoint. */
  endpoint: string;
  /** A model reads it: what the tool does, what it answers, what to do next. */
  description: string;
  /** A client of this kind has no use for these fields. They are not told of; sent, they count as in the endpoint. */
  hidden?: readonly string[];
  /** Fields that the endpoint may do without only if a hidden one is sent. */
  required?: readonly string[];
  /** Fields of each row that the tool leaves out of a list, since another tool reads one row whole. */
  omitted?: readonly string[];
  /** What the tool ends does not go on. */
  isDestructive?: true;
}

const EXPOSED: readonly Exposed[] = [
  {
    name: 'list_agents',
    endpoint: 'agents.listInvokable',
    description: 'Lists the agents of the workspace: slug and what each is good at. Name one in dispatch_run.',
  },
  {
    name: 'list_workflows',
    endpoint: 'templates.listStartable',
    description:
      'Lists the workflows that a project can be started from, each with the params that it requires. ' +
      'Name one in start_project.',
  },
  {
    name: 'dispatch_run',
    endpoint: 'runs.dispatch',
    description:
      'Gives one task to an agent, in `prompt`, and answers {run_id, status} at once while the agent works. ' +
      'Read the result with get_run. Calling it again makes a second run.',
    hidden: ['message', 'transport', 'channel_id', 'customer_id'],
    required: ['prompt'],
  },
  {
    name: 'get_run',
    endpoint: 'runs.get',
    description:
      'Status of a run (queued, running, succeeded, failed, cancelled) and, once it has ended, its output or error. ' +
      'Wait a few seconds between calls.',
  },
  {
    name: 'cancel_run',
    endpoint: 'runs.cancel',
    description:
      'Stops a run that is queued or running, for good. A run that has ended already is refused as run_not_in_flight.',
    isDestructive: true,
  },
  {
    name: 'start_project',
    endpoint: 'projects.start',
    description:
      'Starts a project from a workflow: a pipeline of phases that works for minutes to days and may wait for people. ' +
      'Answers {project_id, status} at once. Calling it again makes a second project.',
  },
  {
    name: 'get_project',
    endpoint: 'projects.status',
    description: 'Status of a project and of each of its phases, and what it has cost.',
  },
  {
    name: 'list_projects',
    endpoint: 'projects.list',
    description: 'Lists the projects of the workspace, newest first.',
    hidden: ['owner_kind', 'owner_id'],
  },
  {
    name: 'list_artifacts',
    endpoint: 'projects.artifacts',
    description:
      'Lists what the phases of a project made, in the order of the phases, without the contents: read one with ' +
      'get_artifact. `current_only` "false" adds the versions that later ones have superseded.',
    omitted: ['content'],
  },
  {
    name: 'get_artifact',
    endpoint: 'projects.artifact',
    description: 'One artifact of a project with its `content`: text, or a JSON value. list_artifacts names its id.',
  },
  {
    name: 'list_waits',
    endpoint: 'inbox.list',
    description:
      'Lists what waits for an answer, newest first: gates, plans, questions of runs, projects that stopped themselves. ' +
      '`may_answer` says whether you can answer it; look at one with get_wait first.',
  },
  {
    name: 'get_wait',
    endpoint: 'inbox.get',
    description:
      'Everything that is needed to answer what waits: what is asked, the artifacts and work that it is about, what each ' +
      'answer leads to, and the `revision` that an answer has to name.',
  },
  {
    name: 'answer_wait',
    endpoint: 'inbox.answer',
    description:
      'Answers what waits, as it was seen: `revision` is that of get_wait. What has changed since, or was answered ' +
      'already, is refused. API keys answer only gates whose approvers include them.',
    hidden: ['data', 'raise_by_usd'],
  },
];

type JsonSchema = Record<string, unknown>;

/** No tool has a tenth of them. Each step that splits and checks arguments takes its time for each. */
const MAX_ARGUMENTS = 1_000;
const tooManyArguments = (): Problem =>
  new Problem('validation', [
    { loc: ['body'], msg: `Too big: expected at most ${MAX_ARGUMENTS} arguments`, type: 'too_big' },
  ]);

export interface ServedTool {
  name: string;
  description: string;
  inputSchema: JsonSchema & { type: 'object' };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  /** @throws Problem for what the caller did wrong, or may not do, or cannot have at the moment */
  call(caller: Caller, args: JsonSchema): Promise<JsonSchema>;
}

interface ServedToolsOptions {
  audit: AuditTrail;
  pageKeys: PageKeys;
}

export const servedTools = (routes: readonly Route[], { audit, pageKeys }: ServedToolsOptions): ServedTool[] =>
  EXPOSED.map(({ name, endpoint: id, description, hidden, required, omitted = [], isDestructive = false }) => {
    const route = routes.find(({ endpoint }) => endpoint.id === id);
    if (!route) throw new Error(`the tool ${name} is of an endpoint that does not exist: ${id}`);
    const { endpoint, handler } = route;
    const isReading = endpoint.method === 'get';
    const annotations = {
      readOnlyHint: isReading,
      destructiveHint: isDestructive,
      idempotentHint: isReading,
      openWorldHint: false,
    };
    return {
      name,
      description,
      annotations,
      inputSchema: inputSchemaOf(endpoint, hidden, required),
      async call(caller, args) {
        for (const right of rightsAskedBy(endpoint)) demand(caller, right);
        demandOpen(endpoint, caller);
        if (Object.keys(args).length > MAX_ARGUMENTS) throw tooManyArguments();
        const asked = requestOf(endpoint, caller, parseRequest(endpoint, partsOf(endpoint, args)));
        const result = await urgently(() =>
          forWorkspace(caller.customerId, () => withAudit(audit, route, asked, () => handler(asked))),
        );
        const reply = withoutFields((endpoint.reply as z.ZodType).parse(result), omitted);
        return parseJson(jsonTextFor(caller, JSON.stringify(reply), pageKeys)) as JsonSchema;
      },
    };
  });

function withoutFields(reply: unknown, omitted: readonly string[]): unknown {
  const { data, ...rest } = fieldsOf(reply);
  if (omitted.length === 0 || !Array.isArray(data)) return reply;
  return { ...rest, data: data.map((row) => omit(fieldsOf(row), omitted)) };
}

const omit = (fields: JsonSchema, names: readonly string[]): JsonSchema =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

function inputSchemaOf(
  { params, query, body }: Endpoint,
  hidden: readonly string[] = [],
  demanded: readonly string[] = [],
): ServedTool['inputSchema'] {
  const parts = [params, query, body].flatMap((schema) => (schema ? [objectSchema(schema)] : []));
  const properties = Object.fromEntries(parts.flatMap((part) => Object.entries(part.properties ?? {})));
  const required = [...parts.flatMap((part) => part.required ?? []), ...demanded];
  return {
    type: 'object',
    properties: omit(properties, hidden),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** A schema with a name of its own is a reference to itself, so it is resolved. */
function objectSchema(schema: z.ZodType): { properties?: JsonSchema; required?: string[] } {
  const { $ref, $defs, ...plain } = z.toJSONSchema(schema, { io: 'input' });
  return $ref === undefined ? plain : present(present($defs)[$ref.slice('#/$defs/'.length)]);
}

/**
 * Splits the arguments, which are one flat object, into those of the address, the query and the body. What is known
 * nowhere is in the last of them that the endpoint takes, so that it is refused there.
 */
function partsOf({ params, query, body }: Endpoint, args: JsonSchema) {
  const namesOf = (schema: z.ZodType | undefined) => new Set(schema ? Object.keys((schema as z.ZodObject).shape) : []);
  const [inPath, inQuery] = [namesOf(params), namesOf(query)];
  const pick = (isIn: (field: string) => boolean) =>
    Object.fromEntries(Object.entries(args).filter(([field]) => isIn(field)));
  return {
    params: pick((field) => inPath.has(field)),
    query: pick((field) => inQuery.has(field) || !(body || inPath.has(field))),
    body: body && pick((field) => !inPath.has(field) && !inQuery.has(field)),
  };
}

const requestOf = (
  { id }: Endpoint,
  caller: Caller,
  given: Pick<EndpointRequest, 'params' | 'query' | 'body'>,
): EndpointRequest => ({
  ...given,
  caller,
  confirmation: {
    operation: id,
    bodyHash: sha256(JSON.stringify([given.params, given.query, given.body])),
    challengeId: undefined,
    code: undefined,
  },
  header: () => undefined,
  rawBody: undefined,
  file: undefined,
  receiveFiles: async () => {
    throw new Problem('invalid_upload');
  },
});
