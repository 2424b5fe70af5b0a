/** Adds `aos inbox list`, which lists what waits, once or for as long as somebody watches. */
import { Option, type Command } from 'commander';
import type { InboxListResponse, Wait } from '../../client/src/api.ts';
import { listWaits } from '../resources/inbox/contract.ts';
import { WAIT_KINDS, type WaitKind } from '../resources/inbox/model.ts';
import { openService, outlastingRestarts, type ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { changesOf } from './following.ts';
import { clearScreen, CliError, oneLine, paint, print, printJson, printTable, shorten, shortTime } from './output.ts';

export function addListCommand(inbox: Command): void {
  inbox
    .command('list', { isDefault: true })
    .description('newest first')
    .addOption(new Option('-k, --kind <kind>', 'of one kind').choices(WAIT_KINDS))
    .option('-p, --project <id>', 'of one project')
    .option('-r, --run <id>', 'of one run')
    .option('--mine', 'only what you may answer')
    .option('--overdue', 'only what is past its time')
    .option('--settled', 'what was answered or closed, instead of what waits')
    .option(
      '-w, --watch',
      'go on: draw it anew when it changes; without a terminal, a line for each that comes or goes',
    )
    .option('-n, --limit <count>', 'how many', '50')
    .option('--json', 'print JSON')
    .action(list);
}

interface ListOptions {
  json?: boolean;
  watch?: boolean;
  kind?: WaitKind;
  project?: string;
  run?: string;
  mine?: boolean;
  overdue?: boolean;
  settled?: boolean;
  limit: string;
}

async function list(options: ListOptions): Promise<void> {
  const { watch, settled, json } = options;
  const service = await openService(process.env);
  if (watch) {
    if (json || settled) throw new CliError('--watch shows what waits, to people: leave --json and --settled away');
    return watchWaits(outlastingRestarts(service), options);
  }
  const reply = await read(service, options);
  if (json) printJson(reply);
  else {
    printWaits(reply.data, settled);
    for (const { title } of reply.meta.spending) print(paint('yellow', `\n${oneLine(title)}; look with: aos costs`));
  }
}

function read(service: ServiceClient, given: ListOptions): Promise<InboxListResponse> {
  const { kind, project, run, mine, overdue, settled, limit } = given;
  return ask(service, listWaits, [], {
    limit,
    status: settled ? 'settled' : 'open',
    kind,
    project_id: project,
    run_id: run,
    for: mine ? 'me' : undefined,
    overdue: overdue ? 'true' : undefined,
  });
}

function printWaits(waits: readonly Wait[], settled = false): void {
  printTable<Wait>(
    waits,
    [
      { title: 'ID', value: ({ id }) => id },
      { title: 'KIND', value: (wait) => wait.kind },
      { title: 'REV', value: ({ revision }) => revision, align: 'right' },
      settled
        ? {
            title: 'ANSWERED',
            value: (wait) => (wait.answer === null ? 'closed' : `${wait.answer} by ${wait.settled_by}`),
          }
        : { title: 'ANSWERS', value: ({ answers }) => answers.join(', ') },
      { title: 'SINCE (UTC)', value: ({ opened_at }) => shortTime(opened_at) },
      { title: 'OF', value: placeOf },
      { title: 'TITLE', value: ({ title }) => shorten(oneLine(title), 70) },
    ],
    settled ? 'nothing was answered yet' : 'nothing waits',
  );
  if (!settled && waits.length > 0) print(paint('gray', '\nlook at one with: aos inbox show <id>'));
}

export const placeOf = ({ project_id, phase_slug, step_slug, run_id }: Wait): string =>
  [project_id ?? run_id, phase_slug, step_slug].filter(Boolean).join('/');

/** Prints waits until it is interrupted. */
async function watchWaits(service: ServiceClient, options: ListOptions): Promise<never> {
  const isDrawn = process.stdout.isTTY;
  const changes = await changesOf(service, { kinds: ['wait'] });
  let before: Wait[] | undefined;
  for (;;) {
    const { data } = await read(service, options);
    const [came, gone] = [without(data, before ?? []), without(before ?? [], data)];
    if (isDrawn && (!before || came.length + gone.length > 0)) {
      clearScreen();
      printWaits(data);
    } else if (!isDrawn) {
      for (const wait of gone) if (isGone(wait, data)) print(`settled  ${wait.id}`);
      for (const wait of came.toReversed()) print(`waits    ${describe(wait)}`);
    }
    before = data;
    await changes.next();
  }
}

const isGone = ({ id }: Wait, waits: readonly Wait[]): boolean => !waits.some((wait) => wait.id === id);

/** A wait with another revision counts as another one. */
const without = (waits: readonly Wait[], others: readonly Wait[]): Wait[] => {
  const known = new Set(others.map(({ id, revision }) => `${id} ${revision}`));
  return waits.filter(({ id, revision }) => !known.has(`${id} ${revision}`));
};

const describe = (wait: Wait): string =>
  `${wait.id} ${wait.kind} ${wait.revision}  ${placeOf(wait)}  ${shorten(oneLine(wait.title), 70)}`;
