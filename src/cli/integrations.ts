/** Adds `aos integrations`, which manages the credentials of third parties that the workspace has, and checks them. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import type { Integration, IntegrationDetail, IntegrationSlot } from '../../client/src/api.ts';
import { openService, type ServiceClient } from './client.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { confirmable, confirmed, type Confirming } from './otp.ts';
import { CliError, paint, print, printAside, printJson, printQuestion, printTable, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

interface Target extends Confirming, Output {
  scope: string;
  customer?: string;
}

const EXAMPLES = `
Examples:
  aos integrations
  aos integrations show github
  aos integrations set openai api_key                     asks for the value, unseen
  aos integrations set smtp server.host <<< mail.example.com
  pass show notion | aos integrations set notion token
  aos integrations unset openai api_key`;

export function addIntegrationCommands(program: Command): void {
  const integrations = program
    .command('integrations')
    .description('credentials of third parties: models, code, messages, mail')
    .addHelpText('after', EXAMPLES);
  const json = (command: Command): Command => command.option('--json', 'print JSON');
  const ofSlot = (command: Command): Command =>
    confirmable(
      json(command.argument('<integration>').argument('<slot>', 'kind of a token, or section.key of a secret')),
    )
      .option('--scope <scope>', 'of a token', 'shared')
      .addOption(new Option('--customer <id>', 'another workspace; only for the internal one'));

  asList(integrations.command('list', { isDefault: true }))
    .description('all there are, with what the providers say')
    .action(listIntegrations);
  json(integrations.command('show').argument('<integration>'))
    .description('what one can be given, and what is set')
    .action(show);
  ofSlot(integrations.command('set'))
    .description('set a token or secret, from standard input or a prompt; needs a code')
    .action(set);
  ofSlot(integrations.command('unset')).description('delete a token or secret; needs a code').action(unset);
}

const listIntegrations = (options: ListOptions) =>
  list<Integration>(
    {
      path: '/v1/integrations',
      columns: [
        { title: 'INTEGRATION', value: ({ slug }) => slug },
        {
          title: 'STATUS',
          value: ({ status }) => status,
          paint: (shown, { status }) => paintHealth(status, shown),
        },
        { title: 'SET', value: (row) => `${row.credentials_set}/${row.credentials_total}`, align: 'right' },
        { title: 'NEEDED', value: (row) => row.credentials_required, align: 'right' },
        { title: 'CATEGORY', value: ({ category }) => category },
        { title: 'FOR', value: ({ description }) => description },
      ],
      empty: 'none',
    },
    options,
  );

async function show(slug: string, { json }: Output): Promise<void> {
  const integration = await read(await openService(process.env), slug);
  if (json) return printJson(integration);
  const { name, description, status, credentials, tokens } = integration;
  print(`${paint('bold', name)}  ${paintHealth(status)}\n${description}\n`);
  printTable<IntegrationSlot>(
    credentials,
    [
      { title: 'SLOT', value: nameOf },
      { title: 'SET', value: ({ is_set }) => (is_set ? 'yes' : 'no') },
      { title: 'NEEDED', value: ({ required }) => (required ? 'yes' : 'no') },
      { title: 'WHAT', value: ({ label }) => label },
    ],
    'nothing to set',
  );
  if (tokens.length === 0) return;
  print('');
  printTable<IntegrationDetail['tokens'][number]>(
    tokens,
    [
      { title: 'TOKEN', value: ({ kind }) => kind },
      { title: 'SCOPE', value: ({ scope }) => scope },
      {
        title: 'STATUS',
        value: ({ health_status: status }) => status,
        paint: (shown, { health_status: status }) => paintHealth(status, shown),
      },
      { title: 'CHECKED (UTC)', value: ({ checked_at: at }) => shortTime(at) },
    ],
    'none',
  );
}

const read = (service: ServiceClient, slug: string): Promise<IntegrationDetail> =>
  service.controlPlane('GET', `/v1/integrations/${encodeURIComponent(slug)}`);

/** @throws CliError that names the slots of the integration */
async function findSlot(service: ServiceClient, slug: string, name: string): Promise<IntegrationSlot> {
  const { credentials } = await read(service, slug);
  const slot = credentials.find((one) => name === nameOf(one));
  if (slot) return slot;
  throw new CliError(`${slug} has no slot ${name}; it has ${credentials.map(nameOf).join(', ')}`);
}

async function set(slug: string, name: string, { json, scope, customer, ...confirming }: Target): Promise<void> {
  const service = await openService(process.env);
  const slot = await findSlot(service, slug, name);
  const value = await readValue(slot);
  const body = slot.where === 'secrets' ? { value } : { value, scope, ...(customer && { customer_id: customer }) };
  const reply = await confirmed(service, { method: 'PUT', path: pathOf(slug, slot), body }, confirming);
  if (json) printJson(reply);
  else
    print(`${slug} ${name} is set${slot.where === 'customer_token' ? '; the provider is being asked about it' : ''}`);
}

async function unset(slug: string, name: string, { json, scope, customer, ...confirming }: Target): Promise<void> {
  const service = await openService(process.env);
  const slot = await findSlot(service, slug, name);
  const query = new URLSearchParams({ scope, ...(customer && { customer_id: customer }) });
  const path = `${pathOf(slug, slot)}${slot.where === 'secrets' ? '' : `?${query}`}`;
  await confirmed(service, { method: 'DELETE', path }, confirming);
  if (json) printJson({ slug, slot: name, deleted: true });
  else print(`${slug} ${name} is deleted`);
}

const nameOf = (slot: IntegrationSlot): string => (slot.where === 'secrets' ? slot.dotted : slot.kind);

const pathOf = (slug: string, slot: IntegrationSlot): string =>
  `/v1/integrations/${encodeURIComponent(slug)}/${slot.where === 'secrets' ? 'secrets' : 'credentials'}/${encodeURIComponent(nameOf(slot))}`;

/**
 * The value never comes from the command line, where other users of the machine and the shell's history would see it.
 */
async function readValue({ label }: IntegrationSlot): Promise<string> {
  const value = process.stdin.isTTY ? await askUnseen(`${label}: `) : await text(process.stdin);
  if (value.trim() === '') throw new CliError('no value: give it on standard input');
  return value.trim();
}

async function askUnseen(question: string): Promise<string> {
  printQuestion(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  terminal.on('SIGINT', () => process.exit(130));
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    printAside('');
  }
}

const STYLES: Record<string, Parameters<typeof paint>[0]> = {
  ok: 'green',
  invalid: 'red',
  expired: 'red',
  rate_limited: 'yellow',
};
const paintHealth = (status: string, shown = status): string => paint(STYLES[status] ?? 'gray', shown);
