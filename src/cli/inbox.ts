/**
 * Adds `aos inbox`, which shows everything that waits for somebody, with what is needed to decide, and takes the
 * answer, which is bound to the revision that was shown.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { WaitDetail } from '../../client/src/api.ts';
import { ANSWERS, type Answer } from '../resources/inbox/model.ts';
import { agrees } from './asking.ts';
import { openService, type ServiceClient } from './client.ts';
import { fieldLines } from './fields.ts';
import { addHandOverCommands } from './inbox-hand-over.ts';
import { inWords, pathOf } from './inbox-address.ts';
import { addListCommand, placeOf } from './inbox-list.ts';
import { CliError, oneLine, paint, print, printJson, shortTime } from './output.ts';
import { ServiceProblem, withoutCode } from './problems.ts';
import { formatUsd } from './timeline.ts';

interface Output {
  json?: boolean;
}

const EXAMPLES = `
Examples:
  aos inbox
  aos inbox show 01a1fef6-3915-7498-a48c-b49f59a086a0
  aos inbox answer 01a1fef6-3915-7498-a48c-b49f59a086a0 approve --revision 1 --comment "Good as it is"
  aos inbox delegate 01a1fef6-3915-7498-a48c-b49f59a086a0 ben@acme.example --until 2026-12-24T18:00:00Z`;

export function addInboxCommands(program: Command): void {
  const inbox = program
    .command('inbox')
    .description('what waits for somebody, and the answers')
    .addHelpText('after', EXAMPLES);
  addListCommand(inbox);
  inbox
    .command('show')
    .argument('<id>')
    .description('everything that is needed to answer')
    .option('--json', 'print JSON')
    .action(show);
  inbox
    .command('answer')
    .argument('<id>')
    .addArgument(inbox.createArgument('<answer>', 'one of those that `aos inbox show` names').choices(ANSWERS))
    .description('answer it, as it was seen')
    .option('-r, --revision <number>', 'that you saw; without it what is there is shown, and you are asked', revisionOf)
    .option('-y, --yes', 'answer what is there without having seen it')
    .option('-c, --comment <text>', 'kept with the answer; whoever does the work again is told')
    .option('--text <text>', 'with submit: the answer to the question')
    .option('--data <json>', 'with submit: what the form would send', parseJson)
    .option('--by <usd>', 'with raise_budget: what is added to each limit that stops it')
    .option('--json', 'print JSON')
    .action(answer);
  addHandOverCommands(inbox);
}

function revisionOf(given: string): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('expects a whole number from 1');
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidArgumentError('expects JSON');
  }
}

const read = (service: ServiceClient, id: string): Promise<WaitDetail> =>
  service.controlPlane<WaitDetail>('GET', pathOf(id)).catch((error: unknown) => {
    const isMissing = error instanceof ServiceProblem && error.status === 404;
    throw isMissing ? new CliError(`there is no wait ${id}; list them with: aos inbox`) : error;
  });

async function show(id: string, { json }: Output): Promise<void> {
  const wait = await read(await openService(process.env), id);
  if (json) printJson(wait);
  else printWait(wait);
}

function printWait(wait: WaitDetail): void {
  const line = (name: string, text: string | null) => text && print(`${paint('bold', name.padEnd(10))}${text}`);
  print(`${paint('bold', oneLine(wait.title))}  ${wait.kind}, revision ${wait.revision}`);
  line('of', placeOf(wait));
  line('since', `${shortTime(wait.opened_at)} UTC`);
  line('due', wait.due_at && `${shortTime(wait.due_at)} UTC. ${wait.on_timeout ?? ''}`);
  line('paused by', wait.pause_reason);
  if (wait.prompt !== null && wait.prompt !== wait.title) print(`\n${wait.prompt}`);
  for (const { phase_slug, step_slug, error } of wait.failures)
    line('failed', `${phase_slug}/${step_slug} ${withoutCode(oneLine(error ?? ''))}`);
  for (const { of, spent_usd, budget_usd } of wait.budgets) {
    line('budget', oneLine(`${of}: ${formatUsd(spent_usd)} of ${formatUsd(budget_usd)}`));
  }
  for (const { name, free_usd, limit_usd, needs_usd, raised_by } of wait.limits) {
    const left = `${formatUsd(free_usd)} of ${formatUsd(limit_usd)} left, ${formatUsd(needs_usd)} needed`;
    line('stops it', oneLine(`${name}: ${left}; ${RAISED_BY[raised_by]}`));
  }
  for (const { phase_slug, version, id } of wait.artifacts)
    line('about', `${phase_slug} v${version}  ${paint('gray', id)}`);
  for (const { step_slug, feedback } of wait.reviews) line('review', oneLine(`${step_slug}: ${feedback}`));
  for (const { step_slug, output } of wait.work) print(`\n${paint('bold', step_slug)}\n${textOf(output)}`);
  if (wait.plan) print(`\n${textOf(wait.plan)}`);
  if (wait.question?.options) line('options', wait.question.options.map(oneLine).join(', '));
  for (const { from, to, until } of wait.delegations)
    line('stands in', oneLine(`${to} for ${from}, until ${shortTime(until)} UTC`));
  if (wait.status === 'settled') {
    print(wait.answer === null ? 'closed without an answer: what it was about moved on' : saidOf(wait));
  }
  for (const choice of wait.choices) {
    const command = `aos inbox answer ${wait.id} ${choice.answer} --revision ${wait.revision}${needs(choice)}`;
    print(`\n${paint('cyan', command)}\n  ${leadsTo(choice)}`);
  }
}

const RAISED_BY: Readonly<Record<WaitDetail['limits'][number]['raised_by'], string>> = {
  members: 'members raise it',
  admins: 'owners and admins raise it',
  payment: 'to be topped up',
};

const needs = ({ takes }: WaitDetail['choices'][number]): string =>
  (takes.includes('data') ? ' --text <text>' : '') + (takes.includes('raise_by_usd') ? ' --by <usd>' : '');

const leadsTo = ({ then, refused, at_least_usd: least }: WaitDetail['choices'][number]): string => {
  if (refused !== null) return `refused: ${oneLine(refused)}`;
  return least === null ? then : `${then} It takes at least ${least}.`;
};

const textOf = (value: unknown): string => fieldLines(value).join('\n');

const saidOf = ({ answer: said, settled_by, settled_at, comment }: WaitDetail): string =>
  oneLine(`answered: ${said}, by ${settled_by}, at ${shortTime(settled_at)} UTC${comment ? `: ${comment}` : ''}`);

interface AnswerOptions extends Output {
  yes?: boolean;
  revision?: number;
  comment?: string;
  text?: string;
  data?: unknown;
  by?: string;
}

async function answer(id: string, said: Answer, options: AnswerOptions): Promise<void> {
  const { comment, text, data, by, json, yes } = options;
  if (text !== undefined && data !== undefined) throw new CliError('give --text or --data, not both');
  const service = await openService(process.env);
  let { revision } = options;
  if (revision === undefined) {
    const seen = await read(service, id);
    revision = seen.revision;
    if (!json) printWait(seen);
    if (!yes) await requireSeen(said, seen);
  }
  const settled = await service
    .controlPlane<WaitDetail>('POST', `${pathOf(id)}/answer`, {
      answer: said,
      revision,
      comment,
      data: text === undefined ? data : { answer: text },
      raise_by_usd: by,
    })
    .catch((error: unknown) => {
      throw inWords(error, id);
    });
  if (json) printJson(settled);
  else print(`${said}: ${oneLine(settled.title)}`);
}

/** An answer is bound to what the person saw. A script names the revision that it read. */
async function requireSeen(said: Answer, { id, revision }: WaitDetail): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(`say which revision you saw: aos inbox answer ${id} ${said} --revision ${revision} (or --yes)`);
  }
  if (!(await agrees(`\nAnswer ${said}?`))) throw new CliError('not answered');
}
