/** Adds `aos tools`, which shows what agents can use and manages the workspace's own tools. */
import { Option, type Command } from 'commander';
import type { Tool, ToolListRow } from '../../client/src/api.ts';
import { EFFECTS } from '../resources/runs/model.ts';
import { TOOL_ACCESS, TOOL_KINDS } from '../resources/tools/model.ts';
import { openService } from './client.ts';
import { argumentsOf, fieldLines, previewInLine } from './fields.ts';
import { asList, deletionOf, list, report, withForce, type ListOptions } from './listing.ts';
import { oneLine, paint, print, printJson, printTable, shorten, shortTime } from './output.ts';
import { definitionOf, type ToolFields } from './tool-fields.ts';

interface Output {
  json?: boolean;
}

const EXAMPLES = `
Examples:
  aos tools show http_request
  aos tools create weather -d "Weather of a city. Returns {status, body}." --url "https://api.example.com/weather?q={city}" --method GET -p city
  aos tools create slug -d "Makes a title an address. Returns the address." --script slug.js -p title
  aos tools create --file tool.json
  aos tools update weather --header "X-Api-Key: ..."

A parameter is name, name:type or name?:type (not required). --file has the whole tool as JSON or YAML:
  {"slug", "description", "kind", "schema", "body", "access"?, "integration"?, "effect"?, "sensitive"?}`;

export function addToolCommands(program: Command): void {
  const tools = program.command('tools').description('what agents can use').addHelpText('after', EXAMPLES);
  const json = (command: Command) => command.option('--json', 'print JSON');
  const fields = (command: Command) =>
    json(command)
      .option('-f, --file <path>', 'fields of the tool as JSON or YAML; - reads standard input')
      .option('-d, --description <text>', 'what it does, when to use it and what it answers')
      .addOption(new Option('-k, --kind <kind>', 'by default what --url, --script or --html say').choices(TOOL_KINDS))
      .option('-p, --param <name:type>', 'an argument; repeat it for more', collect, [])
      .option('--schema <json>', 'JSON Schema of the arguments, instead of --param')
      .option('--url <address>', 'webhook: where to; {param} in its path and query')
      .option('--method <method>', 'webhook: POST unless given')
      .option('--header <name: value>', 'webhook: a header; {param} in its value; repeat it for more', collect, [])
      .option('--script <path>', 'script: a file of JavaScript, the body of async (args) => {...}')
      .option('--html <path>', 'miniapp: a file of HTML')
      .option('--timeout <seconds>', 'how long a call may take')
      .option('--body <json>', 'what the kind needs, whole')
      .addOption(new Option('--access <who>', 'human: not offered to agents').choices(TOOL_ACCESS))
      .addOption(new Option('--effect <effect>', 'whether a call may be repeated').choices(EFFECTS))
      .option('--integration <slug>', 'webhook: whose credential authorizes it');
  asList(tools.command('list', { isDefault: true }))
    .description('built-in ones, those of MCP servers, and those of the workspace')
    .action(listTools);
  json(tools.command('show <slug>')).description('one tool, its arguments and its latest calls').action(show);
  fields(tools.command('create [slug]')).description('make a tool; agents can use it at once').action(add);
  fields(tools.command('update <slug>')).description('change what is given, and nothing else').action(edit);
  withForce(json(tools.command('delete <slug>')))
    .description('agents have it no more')
    .action(remove);
}

const collect = (value: string, before: string[]): string[] => [...before, value];
const TOOLS = '/v1/tools';
const pathOf = (slug: string): string => `${TOOLS}/${encodeURIComponent(slug)}`;

const listTools = (options: ListOptions) =>
  list<ToolListRow>(
    {
      path: TOOLS,
      columns: [
        { title: 'SLUG', value: (row) => row.slug },
        { title: 'CATEGORY', value: (row) => row.category },
        { title: 'KIND', value: (row) => row.kind ?? 'built-in' },
        { title: 'ARGUMENTS', value: (row) => shorten(row.param_names.join(', '), 40) },
        { title: 'USED BY', value: (row) => row.used_by, align: 'right' },
        { title: 'DESCRIPTION', value: (row) => shorten(oneLine(row.description), 80) },
      ],
      empty: 'no tools',
    },
    options,
  );

async function show(slug: string, { json }: Output): Promise<void> {
  const tool = await (await openService(process.env)).controlPlane<Tool>('GET', pathOf(slug));
  if (json) return printJson(tool);
  const line = (name: string, value: string | null | undefined) =>
    value && print(`${name.padEnd(12)}${oneLine(value)}`);
  print(`${paint('bold', tool.slug)}\n${oneLine(tool.description)}\n`);
  line('category', tool.category);
  line('kind', tool.kind ? `${tool.kind}, version ${tool.version}` : 'built-in');
  line('access', tool.access);
  line('effect', tool.effect);
  line('integration', tool.integration);
  line('sensitive', tool.sensitive ? 'yes' : 'no');
  line('not offered', tool.unavailable);
  line('adapted', tool.adapted);
  line('used by', `${tool.used_by} skills`);
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

async function add(slug: string | undefined, { json, ...fields }: ToolFields & Output): Promise<void> {
  const definition = await definitionOf(fields);
  const service = await openService(process.env);
  const tool = await service.controlPlane<Tool>('POST', TOOLS, {
    schema: { type: 'object', properties: {} },
    ...definition,
    ...(slug === undefined ? {} : { slug }),
  });
  if (json) printJson(tool);
  else print(`${tool.slug} is made; an agent with it in its allowed tools can use it now${noteOf(tool)}`);
}

async function edit(slug: string, { json, ...fields }: ToolFields & Output): Promise<void> {
  const service = await openService(process.env);
  // A body is sent whole. Its secrets come masked, and sending the masks back keeps them.
  const { body } = await service.controlPlane<Tool>('GET', pathOf(slug));
  const tool = await service.controlPlane<Tool>('PATCH', pathOf(slug), await definitionOf(fields, body));
  if (json) printJson(tool);
  else print(`${tool.slug} is changed; it is version ${tool.version}${noteOf(tool)}`);
}

const noteOf = ({ adapted }: Tool): string => (adapted ? `\nnote: ${oneLine(adapted)}` : '');

async function remove(slug: string, options: Output & { force?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', deletionOf(pathOf(slug), options));
  report({ slug, deleted: true }, options, `${slug} is deleted`);
}
