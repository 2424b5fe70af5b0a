/** Adds `aos flags`, which shows the feature flags of the workspace. The operator switches them. */
import { InvalidArgumentError, type Command } from 'commander';
import type { FeatureFlag } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { asList, list, type ListOptions } from './listing.ts';
import { paint, print, printJson, shorten, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

export function addFlagCommands(program: Command): void {
  const flags = program.command('flags').description('feature flags');
  asList(flags.command('list', { isDefault: true }))
    .description('every flag, with what it is for your workspace')
    .action(listFlags);
  flags
    .command('set')
    .description('make or switch a flag (for the workspace that operates the service)')
    .argument('<name>')
    .argument('<on|off>', 'for every workspace without an exception', parseSwitch)
    .option('-d, --description <text>', 'what it is for')
    .option('--on <customer id...>', 'exceptions that have it on')
    .option('--off <customer id...>', 'exceptions that have it off')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExceptions that you name take the place of all that there were.')
    .action(set);
  flags.command('delete').description('remove a flag').argument('<name>').action(remove);
}

function parseSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('expects on or off');
}

const listFlags = (options: ListOptions) =>
  list<FeatureFlag>(
    {
      path: '/v1/feature-flags',
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        {
          title: 'HERE',
          value: ({ enabled }) => onOff(enabled),
          paint: (text, { enabled }) => paint(enabled ? 'green' : 'gray', text),
        },
        { title: 'EXCEPTIONS', value: exceptionsOf },
        { title: 'CHANGED (UTC)', value: ({ updated_at }) => shortTime(updated_at) },
        { title: 'DESCRIPTION', value: ({ description }) => description && shorten(description, 60) },
      ],
      empty: 'no flags',
    },
    options,
  );

const onOff = (enabled: boolean): string => (enabled ? 'on' : 'off');
const exceptionsOf = ({ workspaces }: FeatureFlag): string =>
  Object.entries(workspaces ?? {})
    .map(([customerId, enabled]) => `${customerId}: ${onOff(enabled)}`)
    .join(', ') || '-';

interface SetOptions extends Output {
  description?: string;
  on?: string[];
  off?: string[];
}

async function set(name: string, enabled: boolean, { description, on, off, json }: SetOptions): Promise<void> {
  const exceptions = [...(on ?? []).map((id) => [id, true]), ...(off ?? []).map((id) => [id, false])];
  const flag = await (
    await openService(process.env)
  ).controlPlane<FeatureFlag>('PUT', `/v1/feature-flags/${encodeURIComponent(name)}`, {
    enabled,
    description,
    workspaces: on || off ? Object.fromEntries(exceptions) : undefined,
  });
  if (json) printJson(flag);
  else print(`${flag.name} is ${onOff(flag.default_enabled ?? enabled)}; exceptions: ${exceptionsOf(flag)}`);
}

async function remove(name: string): Promise<void> {
  const service = await openService(process.env);
  await service.controlPlane('DELETE', `/v1/feature-flags/${encodeURIComponent(name)}`);
  print(`${name} is removed`);
}
