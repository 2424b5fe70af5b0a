/**
 * Adds `aos inbox remind`, which asks those who can answer once more, and `aos inbox delegate`, which lets somebody
 * answer in another's place.
 */
import type { Command } from 'commander';
import type { WaitDetail } from '../../client/src/api.ts';
import { openService } from './client.ts';
import { inWords, pathOf } from './inbox-address.ts';
import { oneLine, print, printJson, shortTime } from './output.ts';

interface Output {
  json?: boolean;
}

export function addHandOverCommands(inbox: Command): void {
  inbox
    .command('remind')
    .argument('<id>')
    .description('remind those who can answer, at most every ten minutes')
    .option('--json', 'print JSON')
    .action(remind);
  inbox
    .command('delegate')
    .argument('<id>')
    .argument('<email>', 'of a member, whose answer then counts in the place of yours')
    .requiredOption('-u, --until <time>', 'such as 2026-12-24T18:00:00Z')
    .description('of a gate that names you among its approvers: have somebody answer in your place')
    .option('--json', 'print JSON')
    .action(delegate);
}

async function post(id: string, action: string, body?: object): Promise<WaitDetail> {
  const service = await openService(process.env);
  return service.controlPlane<WaitDetail>('POST', `${pathOf(id)}/${action}`, body).catch((error: unknown) => {
    throw inWords(error, id);
  });
}

async function remind(id: string, { json }: Output): Promise<void> {
  const wait = await post(id, 'remind');
  if (json) printJson(wait);
  else print(`reminded: ${oneLine(wait.title)}`);
}

async function delegate(id: string, to: string, { until, json }: Output & { until: string }): Promise<void> {
  const wait = await post(id, 'delegate', { to, until });
  if (json) printJson(wait);
  else
    print(`until ${shortTime(new Date(until).toISOString())} UTC ${to} answers in your place: ${oneLine(wait.title)}`);
}
