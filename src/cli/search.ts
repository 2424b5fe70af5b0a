/** Adds `aos search`, which finds what a workspace has by words and ids. */
import { Option, type Command } from 'commander';
import type { SearchFindResponse } from '../../client/src/api.ts';
import { SEARCH_KINDS, SEARCH_STATUSES } from '../resources/search/model.ts';
import { openService } from './client.ts';
import { withoutJsonSigns } from './fields.ts';
import { between, queryOf } from './filters.ts';
import { oneLine, paint, paintStatus, print, printAside, printJson, shorten, shortTime } from './output.ts';

type Result = SearchFindResponse['data'][number];
type Highlight = Result['highlights'][number];

interface Options {
  kind?: string;
  status?: string;
  agent?: string;
  from?: string;
  to?: string;
  after?: string;
  limit: string;
  json?: boolean;
}

export function addSearchCommand(program: Command): void {
  between(program.command('search'), 'made')
    .argument('<words...>', 'words, the beginning of an id, "a quoted text"; -word is not there (after --)')
    .description('find runs, projects, artifacts, files and events')
    .addOption(new Option('-k, --kind <kind>', 'of one kind').choices(SEARCH_KINDS))
    .addOption(new Option('-s, --status <status>', 'runs and projects of one status').choices(SEARCH_STATUSES))
    .option('-a, --agent <slug>', 'runs of one agent, what they saved, and what went wrong in them')
    .option('-n, --limit <count>', 'how many', '20')
    .option('--after <place>', '`next` of the page before')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  aos search lemon cake --kind run\n  aos search 01kb3x\n  aos search \'"rate limit"\' --status failed --from 7d',
    )
    .action(search);
}

async function search(words: string[], { json, ...filters }: Options): Promise<void> {
  const service = await openService(process.env);
  // What the shell has taken out of quotes is put back into them.
  const q = words
    .map((word) => (/\s/.test(word) && !word.includes('"') && words.length > 1 ? `"${word}"` : word))
    .join(' ');
  const found = await service.controlPlane<SearchFindResponse>('GET', `/v1/search?${queryOf({ q, ...filters })}`);
  if (json) return printJson(found);
  if (found.data.length === 0) print(found.meta.next === null ? 'nothing found' : 'nothing found among the newest');
  for (const result of found.data) printResult(result);
  if (found.meta.next !== null) printAside(`more: --after ${found.meta.next}`);
}

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

function textOf({ field, parts }: Highlight): string {
  const isJson = /[{[]\s*["{]/.test(parts.map(({ text }) => text).join(''));
  const shown = parts.map(({ text, hit }) => {
    const read = isJson ? withoutJsonSigns(text) : text;
    return hit ? paint('yellow', read) : read.replaceAll(/\s+/g, ' ');
  });
  return `${field}: ${shown.join('')}`;
}
