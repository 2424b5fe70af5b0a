/** Declares `aos workflows`, `aos tools` and `aos mcp`. */
import type { Tool } from '../../../client/src/api.ts';
import { fieldsOf } from '../../platform/core/record.ts';
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  listTemplateVersions,
} from '../../resources/templates/contract.ts';
import {
  createTool,
  deleteTool,
  getTool,
  listMcpServers,
  listTools,
  updateTool,
} from '../../resources/tools/contract.ts';
import { ask, card, command, group, list } from '../commands.ts';
import { argumentsOf, fieldLines, previewInLine } from '../fields.ts';
import { readFields } from '../input.ts';
import { CliError, oneLine, paint, print, printTable, shorten, shortTime } from '../output.ts';
import { definitionOf } from '../tool-fields.ts';

export const workflows = group(
  'workflows',
  'what projects are started from: list, make, archive',
  [
    list('list', listTemplates, {
      about: 'built-in ones and those of the workspace',
      flags: {
        collection: '--collection <name> | of one collection',
        tag: '--tag <tag> | with this tag',
        include_archived: '--archived | also those of which every version is archived',
      },
      columns:
        'SLUG slug, VERSION> version, PHASES> phase_count, FROM, STATUS? status, COLLECTION? collection, TAGS? tags, CHANGED (UTC)? updated_at, NAME name, FOR description~60',
      cells: { FROM: (row) => (row.is_builtin ? 'built in' : 'workspace') },
      empty: 'no workflows',
    }),
    command('show <slug>', getTemplate, {
      about: 'one workflow with its phases; --json has the spec',
      flags: { version: '--version <number> | by default the latest active one' },
      say: ({ slug, version, description, spec }) =>
        [
          `${paint('bold', slug)}  version ${version}  ${oneLine(description)}`,
          ...(Array.isArray(spec.phases) ? spec.phases.map(fieldsOf) : []).map(({ slug: phase, depends_on: before }) =>
            Array.isArray(before) && before.length > 0
              ? `  ${String(phase)}  after ${before.join(', ')}`
              : `  ${String(phase)}`,
          ),
        ].join('\n'),
    }),
    list('versions <slug>', listTemplateVersions, {
      about: 'every version, newest first',
      columns: 'VERSION> version, STATUS status, MADE (UTC) created_at, CHANGED (UTC)? updated_at, FOR description~60',
      empty: 'no versions',
    }),
    command('create <file>', createTemplate, {
      about: 'make a workflow, or the next version of one, from a spec in JSON or YAML; - reads standard input',
      fields: async ({ file }) => ({ spec: await readFields(file) }),
      say: ({ slug, version }) =>
        `${slug} version ${version} is made; start it: aos project start ${slug} --brief "..."`,
    }),
    command('delete|archive <slug>', deleteTemplate, {
      about: 'archive it: no project starts from it any more',
      json: (_, { slug }) => ({ slug, archived: true }),
      say: (_, { slug }) => `${slug} is archived`,
    }),
  ],
  'Examples:\n  aos workflows show blog-post --json\n  aos workflows create report.yaml',
);

const TOOL_FLAGS = {
  file: '-f, --file <path> | fields of the tool as JSON or YAML; - reads standard input',
  description: '-d, --description <text> | what it does, when to use it and what it answers',
  kind: '-k, --kind <kind> | by default what --url, --script or --html say',
  param: '-p, --param <name:type>* | an argument; repeat it for more',
  schema: '--schema <json> | JSON Schema of the arguments, instead of --param',
  url: '--url <address> | webhook: where to; {param} in its path and query',
  method: '--method <method> | webhook: POST unless given',
  header: '--header <name: value>* | webhook: a header; {param} in its value; repeat it for more',
  script: '--script <path> | script: a file of JavaScript, the body of async (args) => {...}',
  html: '--html <path> | miniapp: a file of HTML',
  timeout: '--timeout <seconds> | how long a call may take',
  body: '--body <json> | what the kind needs, whole',
  access: '--access <who> | human: not offered to agents',
  effect: '--effect <effect> | whether a call may be repeated',
  integration: '--integration <slug> | webhook: whose credential authorizes it',
} as const;

const noteOf = ({ adapted }: Pick<Tool, 'adapted'>): string => (adapted ? `\nnote: ${oneLine(adapted)}` : '');

export const tools = group(
  'tools',
  'what agents can use',
  [
    list('list', listTools, {
      about: 'built-in ones, those of MCP servers, and those of the workspace',
      columns: 'SLUG slug, CATEGORY category, KIND, ARGUMENTS, USED BY> used_by, DESCRIPTION description~80',
      cells: {
        KIND: (row) => row.kind ?? 'built-in',
        ARGUMENTS: (row) => shorten(row.param_names.join(', '), 40),
      },
      empty: 'no tools',
    }),
    command('show <slug>', getTool, { about: 'one tool, its arguments and its latest calls', say: showTool }),
    command('create [slug]', createTool, {
      about: 'make a tool; agents can use it at once',
      flags: TOOL_FLAGS,
      fields: async ({ slug, ...given }) => ({
        schema: { type: 'object', properties: {} },
        ...(await definitionOf(given)),
        ...(slug !== undefined && { slug }),
      }),
      say: (tool) => `${tool.slug} is made; an agent with it in its allowed tools can use it now${noteOf(tool)}`,
    }),
    command('update <slug>', updateTool, {
      about: 'change what is given, and nothing else',
      flags: TOOL_FLAGS,
      async fields({ slug, ...given }, service) {
        // A body is sent whole. Its secrets come masked, and sending the masks back keeps them.
        const { body } = await ask(service, getTool, [slug]);
        return definitionOf(given, body);
      },
      say: (tool) => `${tool.slug} is changed; it is version ${tool.version}${noteOf(tool)}`,
    }),
    command('delete <slug>', deleteTool, { about: 'agents have it no more' }),
  ],
  `Examples:
  aos tools show http_request
  aos tools create weather -d "Weather of a city. Returns {status, body}." --url "https://api.example.com/weather?q={city}" --method GET -p city
  aos tools create slug -d "Makes a title an address. Returns the address." --script slug.js -p title
  aos tools create --file tool.json
  aos tools update weather --header "X-Api-Key: ..."

A parameter is name, name:type or name?:type (not required). --file has the whole tool as JSON or YAML:
  {"slug", "description", "kind", "schema", "body", "access"?, "integration"?, "effect"?, "sensitive"?}`,
);

function showTool(tool: Tool): void {
  const { category, kind, version, access, effect, integration, sensitive, unavailable, adapted, used_by } = tool;
  print(`${paint('bold', tool.slug)}\n${oneLine(tool.description)}\n`);
  print(
    card({
      category,
      kind: kind ? `${kind}, version ${version}` : 'built-in',
      access,
      effect,
      integration,
      sensitive: sensitive ? 'yes' : 'no',
      'not offered': unavailable,
      adapted,
      'used by': `${used_by} skills`,
    }),
  );
  print(`\n${paint('bold', 'arguments')}`);
  printTable(
    argumentsOf(tool.params_schema),
    [
      { title: 'NAME', value: (argument) => argument.name },
      { title: 'TYPE', value: (argument) => argument.type },
      { title: 'REQUIRED', value: (argument) => (argument.isRequired ? 'yes' : 'no') },
      { title: 'DESCRIPTION', value: (argument) => argument.description },
    ],
    'none',
  );
  if (tool.body) print([`\n${paint('bold', 'body')}`, ...fieldLines(tool.body)].join('\n'));
  print(`\n${paint('bold', 'latest calls')}`);
  printTable(
    tool.recent_invocations,
    [
      { title: 'WHEN (UTC)', value: (call) => shortTime(call.ts) },
      { title: 'RUN', value: (call) => call.run_id },
      { title: 'AGENT', value: (call) => call.agent },
      { title: 'ARGUMENTS', value: (call) => shorten(previewInLine(call.params_preview), 80) },
    ],
    'none',
  );
}

export const mcp = group('mcp', 'MCP servers whose tools agents can use', [
  list('list', listMcpServers, {
    about: 'their state as the process sees it that answers, and how many tools are taken and left out',
    columns: 'NAME name, OWNER owner, STATE state, SINCE since, TOOLS>, LEFT OUT>, REASON',
    cells: {
      TOOLS: (row) => row.tools.length,
      'LEFT OUT': (row) => row.left_out.length,
      REASON: (row) => shorten(oneLine(row.reason ?? ''), 80),
    },
    empty: 'no MCP servers',
  }),
  command('show <name>', listMcpServers, {
    about: 'one server: its tools, and what is left out and why',
    fields: () => ({}),
    json: ({ data }, { name }) => serverIn(data, name),
    say({ data }, { name }) {
      const { owner, state, since, reason, tools: taken, left_out } = serverIn(data, name);
      return [
        `${paint('bold', name)} (${owner}): ${state} since ${shortTime(since)}`,
        ...(reason ? [`reason: ${oneLine(reason)}`] : []),
        ...taken.map(({ slug, adapted }) => `${slug}${adapted ? ` (told in another form: ${adapted})` : ''}`),
        ...left_out.map((tool) => `left out: ${oneLine(tool.name) || '(no name)'}: ${oneLine(tool.reason)}`),
      ].join('\n');
    },
  }),
]);

function serverIn<Server extends { name: string }>(servers: readonly Server[], name: string): Server {
  const server = servers.find((each) => each.name === name);
  if (!server) throw new CliError(`There is no MCP server "${name}". Run \`aos mcp\` to list them.`);
  return server;
}
