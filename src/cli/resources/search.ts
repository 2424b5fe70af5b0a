/** Declares `aos search`, which finds what a workspace has by words and ids. */
import { search as findAll } from '../../resources/search/contract.ts';
import { command, type RowOf } from '../commands.ts';
import { withoutJsonSigns } from '../fields.ts';
import { TIMES } from '../filters.ts';
import { oneLine, paint, paintStatus, print, printAside, shorten, shortTime } from '../output.ts';

type Result = RowOf<typeof findAll>;

export const search = command('search <words...>', findAll, {
  about: 'find runs, projects, artifacts, files and events',
  words: { words: 'words, the beginning of an id, "a quoted text"; -word is not there (after --)' },
  flags: {
    ...TIMES('made'),
    kind: '-k, --kind <kind> | of one kind',
    status: '-s, --status <status> | runs and projects of one status',
    agent: '-a, --agent <slug> | runs of one agent, what they saved, and what went wrong in them',
    limit: '-n, --limit <count> = 20 | how many',
    after: '--after <place> | `next` of the page before',
  },
  after:
    'Examples:\n  aos search lemon cake --kind run\n  aos search 01kb3x\n  aos search \'"rate limit"\' --status failed --from 7d',
  // What the shell has taken out of quotes is put back into them.
  fields: ({ words, ...filters }) => ({
    ...filters,
    q: words.map((word) => (/\s/.test(word) && !word.includes('"') && words.length > 1 ? `"${word}"` : word)).join(' '),
  }),
  say({ data, meta: { next } }) {
    if (data.length === 0) print(next === null ? 'nothing found' : 'nothing found among the newest');
    for (const result of data) printResult(result);
    if (next !== null) printAside(`more: --after ${next}`);
  },
});

/** Of what has no command of its own it is said where it is. */
function placeOf({ kind, run_id, project_id, job_id, thread_id }: Result): string[] {
  if (kind === 'run' || kind === 'project') return [];
  if (run_id !== null) return [`run ${run_id}`];
  if (project_id !== null) return [`project ${project_id}`];
  if (job_id !== null) return [`job ${job_id}`];
  return thread_id === null ? [] : [`thread ${thread_id}`];
}

function printResult(result: Result): void {
  const { kind, id, status, title, created_at, highlights } = result;
  const of = [
    paint('bold', kind),
    id,
    ...placeOf(result),
    ...(status === null ? [] : [paintStatus(status)]),
    shortTime(created_at),
  ];
  print(`${of.join('  ')}  ${shorten(oneLine(title), 70)}`);
  for (const highlight of highlights.filter(({ field }) => field !== 'id')) print(`    ${textOf(highlight)}`);
}

function textOf({ field, parts }: Result['highlights'][number]): string {
  const isJson = /[{[]\s*["{]/.test(parts.map(({ text }) => text).join(''));
  const shown = parts.map(({ text, hit }) => {
    const read = isJson ? withoutJsonSigns(text) : text;
    return hit ? paint('yellow', read) : read.replaceAll(/\s+/g, ' ');
  });
  return `${field}: ${shown.join('')}`;
}
