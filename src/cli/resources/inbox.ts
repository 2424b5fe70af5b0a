/**
 * Declares `aos inbox`, which shows everything that waits for somebody, with what is needed to decide, and takes the
 * answer, which is bound to the revision that was shown.
 */
import { InvalidArgumentError } from 'commander';
import type { WaitDetail } from '../../../client/src/api.ts';
import { answerWait, delegateWait, getWait, remindOfWait } from '../../resources/inbox/contract.ts';
import { agrees } from '../asking.ts';
import { ask, command, group } from '../commands.ts';
import { fieldLines } from '../fields.ts';
import { inWords } from '../inbox-address.ts';
import { addListCommand, placeOf } from '../inbox-list.ts';
import { CliError, oneLine, paint, print, shortTime } from '../output.ts';
import { withoutCode } from '../problems.ts';
import { formatUsd } from '../timeline.ts';

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

const orElse =
  ({ id }: { id: string }) =>
  (error: unknown): never => {
    throw inWords(error, id);
  };

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

/** An answer is bound to what the person saw. A script names the revision that it read. */
async function requireSeen(said: string, { id, revision }: WaitDetail): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(`say which revision you saw: aos inbox answer ${id} ${said} --revision ${revision} (or --yes)`);
  }
  if (!(await agrees(`\nAnswer ${said}?`))) throw new CliError('not answered');
}

export const inbox = group(
  'inbox',
  'what waits for somebody, and the answers',
  [
    addListCommand,
    command('show <id>', getWait, { about: 'everything that is needed to answer', orElse, say: printWait }),
    command('answer <id> <answer>', answerWait, {
      about: 'answer it, as it was seen',
      words: { answer: 'one of those that `aos inbox show` names' },
      flags: {
        revision: '-r, --revision <number> | that you saw; without it what is there is shown, and you are asked',
        yes: '-y, --yes | answer what is there without having seen it',
        comment: '-c, --comment <text> | kept with the answer; whoever does the work again is told',
        text: '--text <text> | with submit: the answer to the question',
        data: '--data <json> | with submit: what the form would send',
        raise_by_usd: '--by <usd> | with raise_budget: what is added to each limit that stops it',
      },
      parse: { revision: revisionOf, data: parseJson },
      orElse,
      async fields({ id, yes, text, data, ...given }, service, isJson) {
        if (text !== undefined && data !== undefined) throw new CliError('give --text or --data, not both');
        let { revision } = given;
        if (revision === undefined) {
          const wait = await ask(service, getWait, [id]).catch(orElse({ id }));
          revision = String(wait.revision);
          if (!isJson) printWait(wait);
          if (!yes) await requireSeen(given.answer, wait);
        }
        return { ...given, revision, data: text === undefined ? data : { answer: text } };
      },
      say: ({ title }, { answer }) => `${answer}: ${oneLine(title)}`,
    }),
    command('remind <id>', remindOfWait, {
      about: 'remind those who can answer, at most every ten minutes',
      orElse,
      say: ({ title }) => `reminded: ${oneLine(title)}`,
    }),
    command('delegate <id> <email>', delegateWait, {
      about: 'of a gate that names you among its approvers: have somebody answer in your place',
      words: { email: 'of a member, whose answer then counts in the place of yours' },
      flags: { until: '-u, --until <at> | such as 2026-12-24T18:00:00Z' },
      required: 'until',
      orElse,
      fields: ({ email, until }) => ({ to: email, until }),
      say: ({ title }, { email, until = '' }) =>
        `until ${shortTime(new Date(until).toISOString())} UTC ${email} answers in your place: ${oneLine(title)}`,
    }),
  ],
  `Examples:
  aos inbox
  aos inbox show 01a1fef6-3915-7498-a48c-b49f59a086a0
  aos inbox answer 01a1fef6-3915-7498-a48c-b49f59a086a0 approve --revision 1 --comment "Good as it is"
  aos inbox delegate 01a1fef6-3915-7498-a48c-b49f59a086a0 ben@acme.example --until 2026-12-24T18:00:00Z`,
);
