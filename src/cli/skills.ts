/** Adds `aos skills`, which manages texts that tell agents how a kind of work is done. */
import { Option, type Command } from 'commander';
import type { Skill, SkillListRow } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { readText } from './input.ts';
import { asList, deletionOf, list, report, withForce, type ListOptions } from './listing.ts';
import { CliError, oneLine, paint, print, printJson, shorten } from './output.ts';

interface Output {
  json?: boolean;
}

interface Fields extends Output {
  name?: string;
  description?: string;
  category?: string;
  body?: string;
  file?: string;
  agents?: string;
  scope?: string;
  always?: boolean;
}

export function addSkillCommands(program: Command): void {
  const skills = program.command('skills').description('what agents can read of how work is done');
  const json = (command: Command) => command.option('--json', 'print JSON');
  const fields = (command: Command) =>
    json(command)
      .option('-d, --description <text>', 'for which work it is: agents choose by this')
      .option('--category <word>', 'by default the first word of the slug')
      .option('-b, --body <text>', 'the skill itself, Markdown; [[slug]] names a tool or another skill')
      .option('-f, --file <path>', 'the same from a file; - reads standard input')
      .option('-a, --agents <slugs>', 'agents that can load it, with commas between')
      .addOption(new Option('--scope <scope>', 'shared: for all agents').choices(['shared', 'agent']))
      .option('--always', 'put its body into every run of the agents it is for');
  asList(skills.command('list', { isDefault: true }))
    .description('built-in ones and those of the workspace')
    .action(listSkills);
  json(skills.command('show <slug>')).description('one skill with its body').action(show);
  fields(skills.command('create <slug> <name>')).description('make a skill').action(add);
  fields(skills.command('update <slug>').option('-n, --name <name>', 'its title'))
    .option('--no-always', 'leave it to the agents when to read it')
    .description('change what is given, and nothing else')
    .action(edit);
  withForce(json(skills.command('delete <slug>')))
    .description('agents cannot load it from now on')
    .action(remove);
  skills.addHelpText(
    'after',
    '\nExamples:\n  aos skills show writing-style\n  aos skills create house-style "House style" --file house-style.md --agents writer,editor',
  );
}

const pathOf = (slug: string): string => `/v1/skills/${encodeURIComponent(slug)}`;

const listSkills = (options: ListOptions) =>
  list<SkillListRow>(
    {
      path: '/v1/skills',
      columns: [
        { title: 'SLUG', value: (row) => row.slug },
        { title: 'CATEGORY', value: (row) => row.category },
        { title: 'KIND', value: (row) => (row.is_builtin ? 'built-in' : 'custom') },
        { title: 'LENGTH', value: (row) => row.body_length, align: 'right' },
        { title: 'USED BY', value: (row) => row.used_by, align: 'right' },
        { title: 'TITLE', value: (row) => row.title, isWide: true },
        { title: 'FOR', value: (row) => shorten(row.description ?? row.title, 80) },
      ],
      empty: 'no skills',
    },
    options,
  );

async function show(slug: string, { json }: Output): Promise<void> {
  const skill = await (await openService(process.env)).controlPlane<Skill>('GET', pathOf(slug));
  if (json) return printJson(skill);
  const line = (name: string, value: string) => print(`${name.padEnd(12)}${oneLine(value)}`);
  print(paint('bold', oneLine(skill.title)));
  if (skill.description) print(oneLine(skill.description));
  print();
  line('slug', skill.slug);
  line('category', skill.category);
  line('kind', skill.is_builtin ? 'built-in' : `custom, ${skill.status}`);
  line('agents', skill.agents.join(', ') || 'all');
  line('read', skill.always_load ? 'in every run' : 'when an agent loads it');
  line('used by', `${skill.used_by} skills`);
  print(`\n${skill.redacted ? '(the body is shown to admins only)' : skill.body}`);
}

async function add(slug: string, name: string, { json, ...given }: Fields): Promise<void> {
  const service = await openService(process.env);
  const made = await service.controlPlane<Skill>('POST', '/v1/skills', { ...(await bodyOf(given)), slug, name });
  if (json) printJson(made);
  else print(`${made.slug}: ${who(made)} can load it now`);
}

async function edit(slug: string, { json, ...given }: Fields): Promise<void> {
  const service = await openService(process.env);
  const changed = await service.controlPlane<Skill>('PATCH', pathOf(slug), await bodyOf(given));
  if (json) printJson(changed);
  else print(`${changed.slug} is changed; ${who(changed)} can load it`);
}

async function remove(slug: string, options: Output & { force?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', deletionOf(pathOf(slug), options));
  report({ slug, deleted: true }, options, `${slug} is deleted`);
}

const who = ({ agents }: Skill): string => agents.join(', ') || 'every agent';

async function bodyOf({ name, description, category, body, file, agents, scope, always }: Omit<Fields, 'json'>) {
  if (body !== undefined && file !== undefined) throw new CliError('give --body or --file, not both');
  return {
    name,
    description,
    category,
    prompt_addendum: file === undefined ? body : await readText(file),
    agents: agents
      ?.split(',')
      .map((slug) => slug.trim())
      .filter((slug) => slug !== ''),
    scope,
    always_load: always,
  };
}
