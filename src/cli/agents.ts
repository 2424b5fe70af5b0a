/** Adds `aos agents`, which lists, makes and changes agents. */
import { Option, type Command } from 'commander';
import type { Agent, AgentDetail, AgentsSetModelResponse } from '../../client/src/api.ts';
import { EFFORTS } from '../platform/core/effort.ts';
import { openService } from './client.ts';
import { readText } from './input.ts';
import { asList, deletionOf, list, report, withForce, type ListOptions } from './listing.ts';
import { CliError, oneLine, paint, print, printJson, shorten } from './output.ts';

interface Fields {
  json?: boolean;
  prompt?: string;
  file?: string;
  model?: string;
  description?: string;
  tools?: string;
  effort?: string;
  maxOutputTokens?: string;
  fallback?: string;
}

const AGENTS = '/v1/agents';
const pathOf = (slug: string): string => `${AGENTS}/${encodeURIComponent(slug)}`;

export function addAgentCommands(program: Command): void {
  const agents = program.command('agents').description('who works: list, make, change');
  const json = (command: Command) => command.option('--json', 'print JSON');
  const fields = (command: Command) =>
    json(command)
      .option('-p, --prompt <text>', 'what it is told of its work')
      .option('-f, --file <path>', 'the same from a file; - reads standard input')
      .option('-m, --model <id>', 'the model it works with, or auto')
      .option('-d, --description <text>', 'what it is for: the classifier reads it')
      .option('-t, --tools <slugs>', 'tools that it may call, with commas between')
      .addOption(new Option('--effort <level>', 'how hard the model thinks').choices([...EFFORTS, 'auto']))
      .option('--max-output-tokens <count>', 'most tokens of one reply; auto leaves it to the model')
      .option('--fallback <ids>', 'models to ask while the provider of the model is out, with commas between');
  asList(agents.command('list', { isDefault: true }))
    .description('built-in ones and those of the workspace')
    .action(listAgents);
  json(agents.command('show <slug>')).description('one agent with its prompt').action(show);
  fields(agents.command('create <slug>')).description('make an agent').action(add);
  fields(agents.command('update <slug>')).description('change what is given, and nothing else').action(edit);
  json(agents.command('model <slug> <model>'))
    .description('have any agent work with another model in this workspace; `none` gives it its own again')
    .action(setModel);
  withForce(json(agents.command('delete <slug>')))
    .description('its runs keep naming it')
    .action(remove);
  agents.addHelpText(
    'after',
    '\nExamples:\n  aos agents -o wide\n  aos agents create editor --file editor.md --model auto --tools load_skill,memory_search',
  );
}

const listAgents = (options: ListOptions): Promise<void> =>
  list<Agent>(
    {
      path: AGENTS,
      columns: [
        { title: 'SLUG', value: (row) => row.slug },
        { title: 'MODEL', value: (row) => row.model },
        { title: 'TOOLS', value: (row) => row.allowed_tools_count, align: 'right' },
        { title: 'FROM', value: (row) => (row.is_builtin ? 'built in' : 'workspace') },
        { title: 'MEMORY', value: (row) => row.memory_mode, isWide: true },
        { title: 'PROMPT', value: (row) => row.prompt_length, align: 'right', isWide: true },
        { title: 'TOOL NAMES', value: (row) => row.allowed_tools.join(','), isWide: true },
        { title: 'FOR', value: (row) => shorten(oneLine(row.description), 70) },
      ],
      empty: 'no agents',
    },
    options,
  );

async function show(slug: string, { json }: { json?: boolean }): Promise<void> {
  const agent = await (await openService(process.env)).controlPlane<AgentDetail>('GET', `${pathOf(slug)}/detail`);
  if (json) return printJson(agent);
  print(`${paint('bold', agent.slug)}  ${oneLine(agent.description)}`);
  print(`model  ${agent.model}`);
  print(`tools  ${agent.allowed_tools.join(', ') || 'none'}`);
  if ('prompt' in agent && typeof agent.prompt === 'string') print(`\n${agent.prompt}`);
}

/** @returns what was given, as a body names it */
async function bodyOf(fields: Fields) {
  const { prompt, file, model, description, tools, effort, maxOutputTokens: most, fallback } = fields;
  if (prompt !== undefined && file !== undefined) throw new CliError('give --prompt or --file');
  const text = file === undefined ? prompt : await readText(file);
  return {
    ...(text !== undefined && { prompt: text }),
    ...(model !== undefined && { model }),
    ...(description !== undefined && { description }),
    ...(tools !== undefined && { allowed_tools: tools.split(',').filter(Boolean) }),
    ...(effort !== undefined && { effort: effort === 'auto' ? null : effort }),
    ...(most !== undefined && { max_output_tokens: most === 'auto' ? null : Number(most) }),
    ...(fallback !== undefined && { fallback_models: fallback.split(',').filter(Boolean) }),
  };
}

async function add(slug: string, fields: Fields): Promise<void> {
  const body = { model: 'auto', ...(await bodyOf(fields)), slug };
  if (!('prompt' in body)) throw new CliError('give --prompt or --file: what the agent is told of its work');
  report(
    await (await openService(process.env)).controlPlane('POST', AGENTS, body),
    fields,
    `${slug} is made; try it: aos run ${slug} "Hello" -f`,
  );
}

async function edit(slug: string, fields: Fields): Promise<void> {
  const body = await bodyOf(fields);
  report(
    await (await openService(process.env)).controlPlane('PATCH', pathOf(slug), body),
    fields,
    `${slug} is changed`,
  );
}

async function setModel(slug: string, model: string, options: { json?: boolean }): Promise<void> {
  const body = { default_model: model === 'none' ? null : model };
  const saved = await (
    await openService(process.env)
  ).controlPlane<AgentsSetModelResponse>('PATCH', `${pathOf(slug)}/model`, body);
  const isUsed = saved.warnings?.every(({ code }) => code !== 'model_not_used') ?? true;
  const chosen = isUsed ? `${slug} works with ${model}` : `${slug} is set to ${model}`;
  report(saved, options, model === 'none' ? `${slug} works with its own model again` : chosen);
}

async function remove(slug: string, options: { json?: boolean; force?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', deletionOf(pathOf(slug), options));
  report({ slug, deleted: true }, options, `${slug} is deleted`);
}
