/** Adds `aos tokens`, which gives pipelines a credential that deploys files and does nothing else. */
import { InvalidArgumentError, type Command } from 'commander';
import type { CreatedDeployToken, DeployToken } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { asList, list, report, type ListOptions } from './listing.ts';
import { print, printJson, shortTime } from './output.ts';

const TOKENS = '/v1/deploy-tokens';

export function addTokenCommands(program: Command): void {
  const tokens = program.command('tokens').description('deploy tokens: what a pipeline shows to plan and apply files');
  asList(tokens.command('list', { isDefault: true }))
    .description('those that can be used first')
    .action(listTokens);
  tokens
    .command('create <name>')
    .description('make a token; it is shown this once')
    .option('--expires-in <days>', 'days until it ends', days, 90)
    .option('--json', 'print JSON')
    .action(create);
  tokens
    .command('delete <id>')
    .alias('revoke')
    .description('refuse a token from now on')
    .option('--json', 'print JSON')
    .action(revoke);
  tokens.addHelpText(
    'after',
    '\nA pipeline has it as AOS_SESSION, beside AOS_URL.\n\nExamples:\n  aos tokens create "github: deploy" --expires-in 30\n  aos tokens delete 3',
  );
}

function days(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 365) return count;
  throw new InvalidArgumentError('expects a number of days from 1 to 365');
}

const listTokens = (options: ListOptions): Promise<void> =>
  list<DeployToken>(
    {
      path: TOKENS,
      columns: [
        { title: 'ID', value: (row) => row.id, align: 'right' },
        { title: 'NAME', value: (row) => row.name },
        { title: 'STATE', value: (row) => row.state },
        { title: 'EXPIRES (UTC)', value: (row) => shortTime(row.expires_at) },
        { title: 'LAST USED (UTC)', value: (row) => shortTime(row.last_used_at) },
        { title: 'MADE BY', value: (row) => row.created_by, isWide: true },
        { title: 'IN THE AUDIT LOG', value: (row) => row.actor, isWide: true },
      ],
      empty: 'no deploy tokens; make one with: aos tokens create <name>',
    },
    options,
  );

async function create(name: string, { json, expiresIn }: { json?: boolean; expiresIn: number }): Promise<void> {
  const service = await openService(process.env);
  const body = { name, expires_in_days: expiresIn };
  const made = await service.controlPlane<CreatedDeployToken>('POST', TOKENS, body);
  if (json) return printJson(made);
  print(made.token);
  print(`\nToken ${made.id} (${made.name}), until ${shortTime(made.expires_at)}. It is not shown again.`);
  print(`A pipeline has it as AOS_SESSION, beside AOS_URL=${service.baseUrl}`);
}

async function revoke(id: string, options: { json?: boolean }): Promise<void> {
  await (await openService(process.env)).controlPlane('DELETE', `${TOKENS}/${encodeURIComponent(id)}`);
  report({ id: Number(id), revoked: true }, options, `token ${id} is revoked`);
}
