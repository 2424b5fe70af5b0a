/** Adds `aos webhooks`, which manages the URLs that events are posted to, and what came of it. */
import { Option, type Command } from 'commander';
import type { NewWebhook, WebhookDelivery, WebhookEndpoint } from '../../client/src/api.ts';
import { DELIVERY_STATUSES } from '../resources/webhook-subscriptions/model.ts';
import { openService } from './client.ts';
import { asList, list, report, type ListOptions } from './listing.ts';
import { paintStatus, shorten, shortTime } from './output.ts';

const DELIVERIES = '/v1/webhook-deliveries';
const ENDPOINTS = `${DELIVERIES}/endpoints`;
const endpoint = (id: string, what = ''): string => `${ENDPOINTS}/${encodeURIComponent(id)}${what}`;

export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('programs that are told of events, and what came of it');
  const json = (command: Command) => command.option('--json', 'print JSON');
  asList(webhooks.command('list', { isDefault: true }))
    .description('the URLs')
    .action(listEndpoints);
  json(webhooks.command('create <url>'))
    .description('register a URL; its secret is shown once')
    .option('-e, --events <names>', 'with commas between; by default all of them')
    .option('-d, --description <text>', 'whose it is')
    .action(add);
  json(webhooks.command('resume <id>')).description('switch one on again that was paused').action(resume);
  json(webhooks.command('rotate <id>'))
    .description('a new secret; the old one signs along for 24 hours')
    .action(rotate);
  json(webhooks.command('delete <id>')).description('and drop what is queued for it').action(remove);
  asList(webhooks.command('deliveries'))
    .description('what was posted, newest first')
    .addOption(new Option('-s, --status <status>', 'in this state').choices(DELIVERY_STATUSES))
    .option('--endpoint <id>', 'to this one')
    .option('-n, --limit <count>', 'how many', '20')
    .action(deliveries);
  json(webhooks.command('redeliver <delivery>')).description('post one once more').action(redeliver);
  webhooks.addHelpText(
    'after',
    '\nExamples:\n  aos webhooks create https://example.com/hook --events run.succeeded,run.failed\n  aos webhooks deliveries --status exhausted',
  );
}

const listEndpoints = (options: ListOptions) =>
  list<WebhookEndpoint>(
    {
      path: ENDPOINTS,
      columns: [
        { title: 'ID', value: (row) => row.id, align: 'right' },
        {
          title: 'STATE',
          value: (row) => (row.paused_at ? 'paused' : row.active ? (row.failing_since ? 'failing' : 'active') : 'off'),
        },
        { title: 'EVENTS', value: (row) => row.events.join(',') },
        { title: 'MADE (UTC)', value: (row) => shortTime(row.created_at), isWide: true },
        { title: 'FAILING SINCE', value: (row) => shortTime(row.failing_since), isWide: true },
        { title: 'DESCRIPTION', value: (row) => row.description, isWide: true },
        { title: 'URL', value: (row) => row.url },
      ],
      empty: 'no webhooks; add one with: aos webhooks create https://example.com/hook',
    },
    options,
  );

const deliveries = ({
  status,
  endpoint: id,
  limit,
  ...options
}: ListOptions & { status?: string; endpoint?: string; limit: string }) =>
  list<WebhookDelivery>(
    {
      path: DELIVERIES,
      query: { status, endpoint: id, limit },
      columns: [
        { title: 'DELIVERY', value: (row) => row.id },
        { title: 'STATUS', value: (row) => row.status, paint: (text) => paintStatus(text.trimEnd(), text.length) },
        { title: 'EVENT', value: (row) => row.event_type },
        { title: 'ATTEMPTS', value: (row) => row.attempt_count, align: 'right' },
        { title: 'LAST', value: (row) => lastOf(row) },
        { title: 'MADE (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'URL', value: (row) => row.url, isWide: true },
      ],
      empty: 'nothing was posted',
    },
    options,
  );

function lastOf({ attempts }: WebhookDelivery): string | null {
  const last = attempts.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  return last ? shorten(last.error ?? String(last.status_code), 40) : null;
}

async function add(
  url: string,
  { events, description, ...options }: { events?: string; description?: string; json?: boolean },
): Promise<void> {
  const body = {
    url,
    ...(events !== undefined && { events: events.split(',') }),
    ...(description !== undefined && { description }),
  };
  const made = await (await openService(process.env)).controlPlane<NewWebhook>('POST', ENDPOINTS, body);
  report(made, options, `webhook ${made.id} is made; its secret, shown once: ${made.secret}`);
}

async function resume(id: string, options: { json?: boolean }): Promise<void> {
  report(
    await (await openService(process.env)).controlPlane('POST', endpoint(id, '/resume')),
    options,
    `webhook ${id} is on`,
  );
}

async function rotate(id: string, options: { json?: boolean }): Promise<void> {
  const { secret } = await (
    await openService(process.env)
  ).controlPlane<{ secret: string }>('POST', endpoint(id, '/rotate-secret'));
  report({ id, secret }, options, `the new secret of webhook ${id}, shown once: ${secret}`);
}

async function remove(id: string, options: { json?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', endpoint(id));
  report({ id, deleted: true }, options, `webhook ${id} is deleted`);
}

async function redeliver(id: string, options: { json?: boolean }): Promise<void> {
  const path = `${DELIVERIES}/${encodeURIComponent(id)}/redeliver`;
  report(await (await openService(process.env)).controlPlane('POST', path), options, `${id} is posted once more`);
}
