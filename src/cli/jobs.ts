/** Adds `aos jobs`, which manages scheduled jobs. */
import { Option, type Command } from 'commander';
import type {
  ScheduledJob,
  ScheduledJobsCreateResponse,
  ScheduledJobsUpdateResponse,
  ScheduledJobsUploadAttachmentsResponse,
} from '../../client/src/api.ts';
import { describeAttachment, formOf } from './attached.ts';
import { openService } from './client.ts';
import { readFields, readText } from './input.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { CliError, paint, print, printJson, shorten, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

interface Fields extends Output {
  name?: string;
  cron?: string;
  brief?: string;
  file?: string;
  model?: string;
  reasoning?: string;
  schema?: string;
}

const JOBS = '/v1/scheduled-jobs';

export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('scheduled jobs: those that ship, and those of the workspace');
  const json = (command: Command) => command.option('--json', 'print JSON');
  const fields = (command: Command) =>
    json(command)
      .option('-b, --brief <text>', 'what the agent is told')
      .option('-f, --file <path>', 'the same from a file; - reads standard input')
      .option('-m, --model <id>', 'model id, or auto')
      .addOption(new Option('--reasoning <mode>', 'let the model think first').choices(['on', 'off', 'auto']))
      .option('--schema <path>', 'a file with the JSON Schema of its answers, in JSON or YAML; none takes it away');
  asList(jobs.command('list', { isDefault: true }))
    .description('all of them, with when each runs next')
    .action(listJobs);
  fields(jobs.command('create <name> <cron> <agent>').option('--disabled', 'do not run it yet'))
    .description('run an agent with a brief at the times of a cron expression, UTC')
    .action(create);
  json(jobs.command('enable <id>'))
    .description('run it from now on')
    .action((id: string, output: Output) => change(id, { enabled: true }, output));
  json(jobs.command('disable <id>'))
    .description('do not run it until it is enabled again')
    .action((id: string, output: Output) => change(id, { enabled: false }, output));
  fields(
    jobs.command('update <id>').option('-c, --cron <expression>', 'when, UTC').option('-n, --name <name>', 'its name'),
  )
    .description('change what is given, and nothing else; of a job that ships only when it runs')
    .action(edit);
  json(jobs.command('delete <id>')).description('its runs stay').action(remove);
  json(jobs.command('attach <id> <files...>'))
    .description('put files beside a job, for its runs to read')
    .action(attach);
  jobs.addHelpText(
    'after',
    '\nExamples:\n  aos jobs create "Morning report" "0 6 * * 1-5" analyst --brief "What happened to our metrics overnight?"\n  aos jobs enable daily-digest\n  aos jobs update daily-digest --cron "30 7 * * *"',
  );
}

const pathOf = (id: string): string => `${JOBS}/${encodeURIComponent(id)}`;

const listJobs = (options: ListOptions) =>
  list<ScheduledJob>(
    {
      path: JOBS,
      columns: [
        { title: 'ID', value: (row) => row.id },
        { title: 'KIND', value: (row) => row.kind },
        { title: 'AGENT', value: (row) => row.agent },
        { title: 'WHEN (UTC)', value: (row) => row.schedule },
        {
          title: 'ENABLED',
          value: (row) => (row.enabled ? 'yes' : 'no'),
          paint: (text, row) => paint(row.enabled ? 'green' : 'gray', text),
        },
        { title: 'NEXT (UTC)', value: (row) => shortTime(row.next_run_at) },
        { title: 'FOR', value: (row) => shorten(row.name ?? row.description, 60) },
      ],
      empty: 'no jobs',
    },
    options,
  );

async function create(
  name: string,
  cron: string,
  agent: string,
  { json, disabled, ...given }: Fields & { disabled?: boolean },
): Promise<void> {
  const body = { ...(await bodyOf(given)), name, cron, agent_slug: agent, enabled: !disabled };
  const made = await (await openService(process.env)).controlPlane<ScheduledJobsCreateResponse>('POST', JOBS, body);
  if (json) printJson(made);
  else print(`${made.id}: ${agent} runs at ${cron} UTC${disabled ? ' once it is enabled' : ''}`);
}

async function edit(id: string, { json, ...given }: Fields): Promise<void> {
  await change(id, await bodyOf(given), { json: json ?? false });
}

async function change(id: string, body: object, { json }: Output): Promise<void> {
  const job = await (
    await openService(process.env)
  ).controlPlane<ScheduledJobsUpdateResponse>('PATCH', pathOf(id), body);
  if (json) return printJson(job);
  print(job.enabled ? `${job.id} runs next at ${shortTime(job.next_run_at)} UTC` : `${job.id} is disabled`);
}

async function remove(id: string, { json }: Output): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', pathOf(id));
  if (json) printJson({ id, deleted: true });
  else print(`${id} is deleted`);
}

async function attach(id: string, files: string[], { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const reply = await service.controlPlane<ScheduledJobsUploadAttachmentsResponse>(
    'POST',
    `${pathOf(id)}/attachments`,
    await formOf(files),
  );
  if (json) printJson(reply);
  else for (const file of reply.data) print(describeAttachment(file));
}

const REASONING: Record<string, boolean | null> = { on: true, off: false, auto: null };

async function bodyOf({ name, cron, brief, file, model, reasoning, schema }: Omit<Fields, 'json'>) {
  if (brief !== undefined && file !== undefined) throw new CliError('give --brief or --file, not both');
  return {
    name,
    cron,
    model,
    brief: file === undefined ? brief : await readText(file),
    ...(reasoning !== undefined && { reasoning: REASONING[reasoning] }),
    ...(schema !== undefined && { output_schema: schema === 'none' ? null : await readFields(schema) }),
  };
}
