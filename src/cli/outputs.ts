/** Adds `aos outputs`, which manages where artifacts and notices are sent, and what came of it. */
import { Option, type Command } from 'commander';
import type { OutputDelivery, OutputDestination } from '../../client/src/api.ts';
import { OUTPUT_DELIVERY_STATUSES } from '../resources/output-destinations/model.ts';
import { openService } from './client.ts';
import { fieldLines } from './fields.ts';
import { readFields } from './input.ts';
import { asList, list, report, type ListOptions } from './listing.ts';
import { paintStatus, shortTime } from './output.ts';

const OUTPUTS = '/v1/output-destinations';
const pathOf = (id: string, what = ''): string => `${OUTPUTS}/${encodeURIComponent(id)}${what}`;

export function addOutputCommands(program: Command): void {
  const outputs = program
    .command('outputs')
    .description('where artifacts and notices are sent: Slack, mail, a webhook, S3');
  const json = (command: Command) => command.option('--json', 'print JSON');
  asList(outputs.command('list', { isDefault: true }))
    .description('the destinations, without secrets')
    .action(listOutputs);
  json(outputs.command('show <id>')).description('one of them, without secrets').action(show);
  json(outputs.command('create <file>'))
    .description('make one from JSON or YAML: name, kind, config; - reads standard input')
    .action(add);
  json(outputs.command('update <id> <file>'))
    .description('change what the JSON or YAML names; - reads standard input')
    .action(edit);
  json(outputs.command('enable <id>'))
    .description('switch it on')
    .action((id, options) => change(id, { enabled: true }, options));
  json(outputs.command('disable <id>'))
    .description('switch it off')
    .action((id, options) => change(id, { enabled: false }, options));
  json(outputs.command('test <id>')).description('send it a sample').action(test);
  json(outputs.command('delete <id>')).description('and its log').action(remove);
  asList(outputs.command('deliveries'))
    .description('what was sent, newest first')
    .addOption(new Option('-s, --status <status>', 'in this state').choices(OUTPUT_DELIVERY_STATUSES))
    .option('-d, --destination <id>', 'to this one')
    .option('-n, --limit <count>', 'how many', '20')
    .action(deliveries);
  json(outputs.command('redeliver <delivery>')).description('send one once more').action(redeliver);
  outputs.addHelpText(
    'after',
    `\nExamples:\n  echo '{"name":"team","kind":"slack","config":{"webhook_url":"https://hooks.slack.com/..."},"waits":true,"spending":true}' | aos outputs create -\n  aos outputs deliveries --status failed`,
  );
}

const hears = ({ artifacts, waits, spending }: OutputDestination): string =>
  [artifacts && 'artifacts', waits && 'waits', spending && 'spending'].filter(Boolean).join(',');

const listOutputs = (options: ListOptions) =>
  list<OutputDestination>(
    {
      path: OUTPUTS,
      columns: [
        { title: 'ID', value: (row) => row.id },
        { title: 'NAME', value: (row) => row.name },
        { title: 'KIND', value: (row) => row.kind },
        {
          title: 'STATE',
          value: (row) => (row.paused_at ? 'paused' : row.enabled ? (row.failing_since ? 'failing' : 'on') : 'off'),
        },
        { title: 'HEARS OF', value: hears },
        { title: 'WORKFLOWS', value: (row) => row.workflow_slugs?.join(',') ?? 'all', isWide: true },
        { title: 'FAILING SINCE', value: (row) => shortTime(row.failing_since), isWide: true },
      ],
      empty: 'no destinations; `aos outputs --help` shows how one is made',
    },
    options,
  );

interface DeliveryFilters extends ListOptions {
  status?: string;
  destination?: string;
  limit: string;
}

const deliveries = ({ status, destination, limit, ...options }: DeliveryFilters) =>
  list<OutputDelivery>(
    {
      path: `${OUTPUTS}/deliveries`,
      query: { status, destination_id: destination, limit },
      columns: [
        { title: 'DELIVERY', value: (row) => row.id },
        { title: 'TO', value: (row) => row.destination },
        { title: 'STATUS', value: (row) => row.status, paint: (text) => paintStatus(text.trimEnd(), text.length) },
        { title: 'OF', value: (row) => row.notice ?? row.project_id },
        { title: 'RECIPIENT', value: (row) => row.recipient, isWide: true },
        { title: 'ARTIFACT', value: (row) => row.artifact_id, isWide: true },
      ],
      empty: 'nothing was sent',
    },
    options,
  );

async function show(id: string, options: { json?: boolean }): Promise<void> {
  const found = await (await openService(process.env)).controlPlane<OutputDestination>('GET', pathOf(id));
  report(found, options, fieldLines(found).join('\n'));
}

async function test(id: string, options: { json?: boolean }): Promise<void> {
  const outcome = await (await openService(process.env)).controlPlane('POST', pathOf(id, '/test'));
  report(outcome, options, fieldLines(outcome).join('\n'));
}

async function add(file: string, options: { json?: boolean }): Promise<void> {
  const body = await readFields(file);
  const made = await (await openService(process.env)).controlPlane<OutputDestination>('POST', OUTPUTS, body);
  report(made, options, `${made.name} is made; try it: aos outputs test ${made.id}`);
}

const edit = async (id: string, file: string, options: { json?: boolean }): Promise<void> =>
  change(id, await readFields(file), options);

async function change(id: string, body: unknown, options: { json?: boolean }): Promise<void> {
  const changed = await (await openService(process.env)).controlPlane<OutputDestination>('PATCH', pathOf(id), body);
  report(
    changed,
    options,
    `${changed.name} is ${changed.enabled ? 'on' : 'off'}, and hears of ${hears(changed) || 'nothing'}`,
  );
}

async function remove(id: string, options: { json?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', pathOf(id));
  report({ id, deleted: true }, options, `${id} is deleted`);
}

async function redeliver(id: string, options: { json?: boolean }): Promise<void> {
  const path = `${OUTPUTS}/deliveries/${encodeURIComponent(id)}/redeliver`;
  report(await (await openService(process.env)).controlPlane('POST', path), options, `${id} is sent once more`);
}
