/** Declares `aos integrations`, which manages the credentials of third parties that the workspace has, and checks them. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { IntegrationSlot } from '../../../client/src/api.ts';
import {
  deleteCredential,
  deleteSecret,
  getIntegration,
  listIntegrations,
  setCredential,
  setSecret,
} from '../../resources/integrations/contract.ts';
import type { ServiceClient } from '../client.ts';
import { ask, command, group, list, table } from '../commands.ts';
import { CliError, paint, print, printAside, printQuestion } from '../output.ts';

const STYLES: Record<string, Parameters<typeof paint>[0]> = {
  ok: 'green',
  invalid: 'red',
  expired: 'red',
  rate_limited: 'yellow',
};
const paintHealth = (status: string, shown = status): string => paint(STYLES[status] ?? 'gray', shown);

const nameOf = (slot: IntegrationSlot): string => (slot.where === 'secrets' ? slot.dotted : slot.kind);

/** @throws CliError that names the slots of the integration */
async function findSlot(service: ServiceClient, slug: string, name: string): Promise<IntegrationSlot> {
  const { credentials } = await ask(service, getIntegration, [slug]);
  const slot = credentials.find((one) => name === nameOf(one));
  if (slot) return slot;
  throw new CliError(`${slug} has no slot ${name}; it has ${credentials.map(nameOf).join(', ')}`);
}

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

const words = { slot: 'kind of a token, or section.key of a secret' };
const FLAGS = {
  scope: '--scope <scope> = shared | of a token',
  customer_id: '--customer <id> | another workspace; only for the internal one',
} as const;

export const integrations = group(
  'integrations',
  'credentials of third parties: models, code, messages, mail',
  [
    list('list', listIntegrations, {
      about: 'all there are, with what the providers say',
      columns:
        'INTEGRATION slug, STATUS status, SET>, NEEDED> credentials_required, CATEGORY category, FOR description',
      cells: { SET: (row) => `${row.credentials_set}/${row.credentials_total}` },
      paint: { STATUS: (shown, { status }) => paintHealth(status, shown) },
      empty: 'none',
    }),
    command('show <integration>', getIntegration, {
      about: 'what one can be given, and what is set',
      say({ name, description, status, credentials, tokens }) {
        print(`${paint('bold', name)}  ${paintHealth(status)}\n${description}\n`);
        table(credentials, {
          columns: 'SLOT, SET, NEEDED, WHAT label',
          cells: {
            SLOT: nameOf,
            SET: ({ is_set }) => (is_set ? 'yes' : 'no'),
            NEEDED: ({ required }) => (required ? 'yes' : 'no'),
          },
          empty: 'nothing to set',
        });
        if (tokens.length === 0) return;
        print('');
        table(tokens, {
          columns: 'TOKEN kind, SCOPE scope, STATUS health_status, CHECKED (UTC) checked_at',
          paint: { STATUS: (shown, { health_status }) => paintHealth(health_status, shown) },
          empty: 'none',
        });
      },
    }),
    command('set <integration> <slot>', setCredential, {
      about: 'set a token or secret, from standard input or a prompt; needs a code',
      words,
      flags: FLAGS,
      async choose({ integration, slot: name, scope, customer_id }, service) {
        const slot = await findSlot(service, integration, name);
        const value = await readValue(slot);
        if (slot.where === 'secrets') return { endpoint: setSecret, fields: { value } };
        return { fields: { value, scope, customer_id } };
      },
      say: (reply, { integration, slot }) =>
        `${integration} ${slot} is set${'token_id' in reply ? '; the provider is being asked about it' : ''}`,
    }),
    command('unset <integration> <slot>', deleteCredential, {
      about: 'delete a token or secret; needs a code',
      words,
      flags: FLAGS,
      async choose({ integration, slot: name, scope, customer_id }, service) {
        const { where } = await findSlot(service, integration, name);
        if (where === 'secrets') return { endpoint: deleteSecret, fields: {} };
        return { fields: { scope, customer_id } };
      },
      json: (_, { integration, slot }) => ({ slug: integration, slot, deleted: true }),
      say: (_, { integration, slot }) => `${integration} ${slot} is deleted`,
    }),
  ],
  `Examples:
  aos integrations
  aos integrations show github
  aos integrations set openai api_key                     asks for the value, unseen
  aos integrations set smtp server.host <<< mail.example.com
  pass show notion | aos integrations set notion token
  aos integrations unset openai api_key`,
);
