/** Adds `aos workflows`, which lists, makes and archives workflows. */
import type { Command } from 'commander';
import type { TemplatesVersionsResponse, Workflow, WorkflowDetail } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { queryOf } from './filters.ts';
import { readFields } from './input.ts';
import { asList, list, report, type Listing, type ListOptions } from './listing.ts';
import { oneLine, paint, print, printJson, shorten, shortTime } from './output.ts';

const WORKFLOWS = '/v1/workflows';
const pathOf = (slug: string): string => `${WORKFLOWS}/${encodeURIComponent(slug)}`;

export function addWorkflowCommands(program: Command): void {
  const workflows = program.command('workflows').description('what projects are started from: list, make, archive');
  const json = (command: Command) => command.option('--json', 'print JSON');
  asList(workflows.command('list', { isDefault: true }))
    .description('built-in ones and those of the workspace')
    .option('--collection <name>', 'of one collection')
    .option('--tag <tag>', 'with this tag')
    .option('--archived', 'also those of which every version is archived')
    .action(listWorkflows);
  json(workflows.command('show <slug>'))
    .description('one workflow with its phases; --json has the spec')
    .option('--version <number>', 'by default the latest active one')
    .action(show);
  asList(workflows.command('versions <slug>')).description('every version, newest first').action(versions);
  json(workflows.command('create <file>'))
    .description('make a workflow, or the next version of one, from a spec in JSON or YAML; - reads standard input')
    .action(add);
  json(workflows.command('delete <slug>').alias('archive'))
    .description('archive it: no project starts from it any more')
    .action(archive);
  workflows.addHelpText(
    'after',
    '\nExamples:\n  aos workflows show blog-post --json\n  aos workflows create report.yaml',
  );
}

const COLUMNS: Listing<Workflow>['columns'] = [
  { title: 'SLUG', value: (row) => row.slug },
  { title: 'VERSION', value: (row) => row.version, align: 'right' },
  { title: 'PHASES', value: (row) => row.phase_count, align: 'right' },
  { title: 'FROM', value: (row) => (row.is_builtin ? 'built in' : 'workspace') },
  { title: 'STATUS', value: (row) => row.status, isWide: true },
  { title: 'COLLECTION', value: (row) => row.collection, isWide: true },
  { title: 'TAGS', value: (row) => row.tags.join(','), isWide: true },
  { title: 'CHANGED (UTC)', value: (row) => shortTime(row.updated_at), isWide: true },
  { title: 'NAME', value: (row) => row.name },
  { title: 'FOR', value: (row) => shorten(oneLine(row.description), 60) },
];

interface Filters extends ListOptions {
  collection?: string;
  tag?: string;
  archived?: boolean;
}

const listWorkflows = ({ collection, tag, archived, ...options }: Filters) =>
  list<Workflow>(
    {
      path: WORKFLOWS,
      query: { collection, tag, include_archived: archived ? 'true' : undefined },
      columns: COLUMNS,
      empty: 'no workflows',
    },
    options,
  );

type Version = TemplatesVersionsResponse['data'][number];

const versions = (slug: string, options: ListOptions) =>
  list<Version>(
    {
      path: `${pathOf(slug)}/versions`,
      columns: [
        { title: 'VERSION', value: (row) => row.version, align: 'right' },
        { title: 'STATUS', value: (row) => row.status },
        { title: 'MADE (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'CHANGED (UTC)', value: (row) => shortTime(row.updated_at), isWide: true },
        { title: 'FOR', value: (row) => shorten(oneLine(row.description), 60) },
      ],
      empty: 'no versions',
    },
    options,
  );

async function show(slug: string, { version, json }: { version?: string; json?: boolean }): Promise<void> {
  const service = await openService(process.env);
  const query = queryOf({ version }).toString();
  const workflow = await service.controlPlane<WorkflowDetail>('GET', `${pathOf(slug)}${query && `?${query}`}`);
  if (json) return printJson(workflow);
  print(`${paint('bold', workflow.slug)}  version ${workflow.version}  ${oneLine(workflow.description)}`);
  for (const phase of workflow.spec.phases) {
    const after = phase.depends_on?.length ? `  after ${phase.depends_on.join(', ')}` : '';
    print(`  ${phase.slug}${after}`);
  }
}

async function add(file: string, options: { json?: boolean }): Promise<void> {
  const spec = await readFields(file);
  const service = await openService(process.env);
  const made = await service.controlPlane<Workflow>('POST', WORKFLOWS, { spec });
  report(
    made,
    options,
    `${made.slug} version ${made.version} is made; start it: aos project start ${made.slug} --brief "..."`,
  );
}

async function archive(slug: string, options: { json?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', pathOf(slug));
  report({ slug, archived: true }, options, `${slug} is archived`);
}
