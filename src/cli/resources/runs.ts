/** Declares `aos run` and `aos runs`, which dispatch, watch, look up, cancel and repeat runs. */
import type { Run, RunEvent } from '../../../client/src/api.ts';
import { EFFORTS } from '../../platform/core/effort.ts';
import { cancelRun, dispatchRun, getRun, listRunEvents, listRuns, retryRun } from '../../resources/runs/contract.ts';
import { RUN_STATUSES, TRANSPORTS } from '../../resources/runs/model.ts';
import { searchRuns } from '../../resources/runs/views/contract.ts';
import { outlastingRestarts, type ServiceClient } from '../client.ts';
import { columnsOf } from '../columns.ts';
import { ask, command, group, list, type ReplyOf, type RowOf } from '../commands.ts';
import { TIMES } from '../filters.ts';
import { createTextWriter, followRun } from '../following.ts';
import { readFields } from '../input.ts';
import { list as printList, type Listing } from '../listing.ts';
import {
  CliError,
  oneLine,
  paint,
  paintStatus,
  print,
  printAside,
  printJson,
  printPart,
  shorten,
  shortTime,
} from '../output.ts';
import { withoutCode } from '../problems.ts';
import { promptSample } from '../samples.ts';
import { costOf, executionUrl, formatCost, formatEvent, listEvents, sumUsd, waitInWords } from '../timeline.ts';

export const run = command('run <agent> [prompt]', dispatchRun, {
  about: 'dispatch a run',
  words: { agent: 'slug of an agent; `auto` lets the service pick one', prompt: 'what it is to do' },
  flags: {
    sample: "--sample | the agent's recorded sample prompt instead of one of yours",
    follow:
      '-f, --follow | show the timeline, and on a terminal the text while it is written, until the run ends; then its output and cost',
    model: '-m, --model <id> | use this model instead of the one of the agent',
    effort: '--effort <level> | how hard the model thinks',
    thread_id: '-t, --thread <id> | continue this conversation',
    schema: '--schema <path> | a file with a JSON Schema, in JSON or YAML: the answer is one JSON value of it',
  },
  choices: { effort: EFFORTS },
  after:
    'Examples:\n  aos run assistant "What is 17% of 2,340?" --follow\n  aos run auto "Summarise our notes" --thread notes\n  aos run analyst --sample --follow\n  aos run analyst "Name three rivers of Europe" --schema rivers.yaml --follow',
  async fields({ agent, prompt, sample, model, effort, thread_id, schema }, service) {
    if ((prompt === undefined) !== (sample === true)) throw new CliError('give a prompt, or --sample');
    const recorded = prompt === undefined ? await promptSample(service, agent) : { agent, prompt };
    return {
      agent: recorded.agent === 'auto' ? undefined : recorded.agent,
      prompt: recorded.prompt,
      transport: 'cli',
      thread_id,
      override: model || effort ? { model_override: model, effort } : undefined,
      output_schema: schema === undefined ? undefined : await readFields(schema),
    };
  },
  isQuiet: ({ follow }) => follow === true,
  say: ({ run_id, status }) => `${run_id} ${status}; watch it with: aos runs show ${run_id}`,
  async then({ run_id }, { follow }, service, isJson) {
    if (follow) await followToItsEnd(service, run_id, isJson);
  },
});

async function followToItsEnd(service: ServiceClient, runId: string, isJson: boolean): Promise<void> {
  const seen: RunEvent[] = [];
  // A text that nobody reads along with costs nothing: elsewhere than on a terminal the output has it.
  const reading = createTextWriter(printPart);
  for await (const update of followRun(service, runId, { text: process.stdout.isTTY && !isJson })) {
    if (update.kind === 'text') reading.add(update.piece);
    if (update.kind !== 'event') continue;
    const { event } = update;
    seen.push(event);
    reading.endLine();
    if (isJson) printJson(event, 0);
    else print(formatEvent(event));
  }
  const run = await ask(outlastingRestarts(service), getRun, [runId]);
  if (isJson) printJson({ ...run, total_cost_usd: totalOf(seen) }, 0);
  else printRun(service, run, seen, { isRead: run.output !== null && reading.hasWritten(run.output) });
  if (run.status !== 'succeeded')
    throw new CliError(`run ${run.run_id} ${run.status}${run.error ? `: ${withoutCode(run.error)}` : ''}`);
}

const totalOf = (seen: readonly RunEvent[]): string => sumUsd(seen.map(({ cost_usd }) => cost_usd));

/** @param isRead its output stands above already */
function printRun(
  service: ServiceClient,
  run: Run,
  seen: readonly RunEvent[],
  { isRead = false }: { isRead?: boolean } = {},
): void {
  const line = (name: string, text: string | undefined) => text && print(`${paint('bold', name.padEnd(9))}${text}`);
  print();
  line('run', run.run_id);
  line('agent', run.agent ?? undefined);
  line('status', paintStatus(run.status));
  line(
    'waits for',
    run.waits_for ? `${waitInWords(run.waits_for.what)}, since ${shortTime(run.waits_for.since)} UTC` : undefined,
  );
  line('error', run.error === null ? undefined : withoutCode(run.error));
  line('cost', costOf(seen));
  line('temporal', executionUrl(service, run.run_id));
  if (run.output !== null && !isRead) print(`\n${run.output}`);
}

/** A page of found runs has looked at a thousand of them at most: what is rare is on one of those that follow. */
const MOST_PAGES = 100;
const LONGEST_PAGE = 200;

const readFound: Listing<ReplyOf<typeof searchRuns>['data'][number]>['read'] = async (page, query) => {
  const data: ReplyOf<typeof searchRuns>['data'] = [];
  let next: string | undefined;
  for (let pages = 1; ; pages++) {
    const left = Number(query.limit) - data.length;
    // What is no number is for the service to refuse.
    const limit = Number.isInteger(left) ? String(Math.min(left, LONGEST_PAGE)) : query.limit;
    const found = await page<ReplyOf<typeof searchRuns>>({ ...query, limit, before: next });
    data.push(...found.data);
    next = found.meta.next ?? undefined;
    if (next !== undefined && data.length < Number(query.limit) && pages < MOST_PAGES) continue;
    if (pages === MOST_PAGES) printAside('it has looked at 100,000 runs: narrow it down with --to or --agent');
    return { ...found, data };
  }
};

/** Only the search of runs knows more filters than the agent and the transport. */
const isSearch = ({ limit: _, agent: __, transport: ___, ...filters }: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(filters).length > 0;

const FOUND = columnsOf<RowOf<typeof searchRuns>>(searchRuns.reply, {
  columns:
    'RUN run_id, AGENT agent, STATUS status, COST>, ACCEPTED (UTC) created_at, VIA? transport, MODEL? model, PROJECT? project_id, PROMPT OR ERROR',
  cells: {
    COST: (row) => formatCost(row.cost_usd, row.is_priced),
    'PROMPT OR ERROR': (row) => shorten(oneLine(row.error === null ? row.prompt : withoutCode(row.error)), 90),
  },
});

const listOfRuns = list('list', listRuns, {
  about: 'newest first',
  flags: {
    ...TIMES('accepted'),
    agent: '-a, --agent <slug> | of one agent',
    status: '-s, --status <status> | in this state',
    q: '-q, --q <text> | an id, or a text that the prompt contains; `aos search` finds more',
    transport: '--transport <name> | that came this way',
    min_cost_usd: '--min-cost <usd> | that cost so much or more',
    limit: '-n, --limit <count> = 20 | how many',
  },
  choices: { status: RUN_STATUSES, transport: TRANSPORTS },
  columns:
    'RUN run_id, AGENT agent, LAST EVENT last_event_type, EVENTS> event_count, COST>, STARTED (UTC) started_at, VIA transport, PARENT? parent_run_id, CHOSEN BY? model_rule, MODEL',
  cells: {
    COST: (row) => formatCost(row.total_cost_usd, row.is_priced),
    MODEL: (row) => (row.sample ? `${row.model} (sample)` : row.model),
  },
  paint: { 'LAST EVENT': (text) => paintStatus(text.trimEnd(), text.length) },
  empty: ({ agent, transport }) =>
    agent === undefined && transport === undefined
      ? 'no runs yet; dispatch one with: aos run assistant "Hello" --follow'
      : 'no such runs',
  instead: (given, query, options) =>
    isSearch(given)
      ? printList({ path: searchRuns.path, query, columns: FOUND, empty: 'no such runs', read: readFound }, options)
      : undefined,
});

export const runs = group(
  'runs',
  'list runs and look at them',
  [
    listOfRuns,
    command('show <run-id>', getRun, {
      about: 'status, output and cost',
      async json(found, { 'run-id': id }, service) {
        const seen = await listEvents(service, id, 2_000);
        return { ...found, total_cost_usd: totalOf(seen), temporal_ui_url: executionUrl(service, id) ?? null };
      },
      say: async (found, { 'run-id': id }, service) => printRun(service, found, await listEvents(service, id, 2_000)),
    }),
    command('events <run-id>', listRunEvents, {
      about: 'the timeline so far',
      fields: () => ({ limit: 2_000 }),
      json: ({ data }) => data,
      say: ({ data }) => data.map(formatEvent).join('\n') || undefined,
    }),
    command('cancel <run-id>', cancelRun, {
      about: 'stop a run in flight',
      say: ({ status }, { 'run-id': id }) => `${id} ${paintStatus(status)}`,
    }),
    command('retry <run-id>', retryRun, {
      about: 'dispatch the same again',
      say: ({ run_id }, { 'run-id': id }) => `${run_id} repeats ${id}; watch it with: aos runs show ${run_id}`,
    }),
  ],
  'Examples:\n  aos runs --agent assistant --limit 5\n  aos runs show 01jd...\n  aos runs events 01jd... --json',
);
