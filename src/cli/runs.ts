/** Adds `aos run` and `aos runs`, which dispatch, watch, look up, cancel and repeat runs. */
import { Option, type Command } from 'commander';
import type {
  FoundRun,
  Run,
  RunAccepted,
  RunEvent,
  RunListRow,
  RunsCancelResponse,
  RunsSearchResponse,
  RunsRetryResponse,
} from '../../client/src/api.ts';
import { openService, outlastingRestarts, type ServiceClient } from './client.ts';
import { EFFORTS } from '../platform/core/effort.ts';
import { RUN_STATUSES, TRANSPORTS } from '../resources/runs/model.ts';
import { between } from './filters.ts';
import { createTextWriter, followRun } from './following.ts';
import { readFields } from './input.ts';
import { asList, list, type Listing, type ListOptions } from './listing.ts';
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
} from './output.ts';
import { withoutCode } from './problems.ts';
import { promptSample } from './samples.ts';
import { costOf, executionUrl, formatCost, formatEvent, listEvents, sumUsd, waitInWords } from './timeline.ts';

export function addRunCommands(program: Command): void {
  program
    .command('run')
    .argument('<agent>', 'slug of an agent; `auto` lets the service pick one')
    .argument('[prompt]', 'what it is to do')
    .description('dispatch a run')
    .option('--sample', "the agent's recorded sample prompt instead of one of yours")
    .option(
      '-f, --follow',
      'show the timeline, and on a terminal the text while it is written, until the run ends; then its output and cost',
    )
    .option('-m, --model <id>', 'use this model instead of the one of the agent')
    .addOption(new Option('--effort <level>', 'how hard the model thinks').choices(EFFORTS))
    .option('-t, --thread <id>', 'continue this conversation')
    .option('--schema <path>', 'a file with a JSON Schema, in JSON or YAML: the answer is one JSON value of it')
    .option('--json', 'print JSON; with --follow one line an event, then the run')
    .addHelpText(
      'after',
      '\nExamples:\n  aos run assistant "What is 17% of 2,340?" --follow\n  aos run auto "Summarise our notes" --thread notes\n  aos run analyst --sample --follow\n  aos run analyst "Name three rivers of Europe" --schema rivers.yaml --follow',
    )
    .action(dispatch);

  const runs = program.command('runs').description('list runs and look at them');
  between(asList(runs.command('list', { isDefault: true })), 'accepted')
    .description('newest first')
    .option('-a, --agent <slug>', 'of one agent')
    .addOption(new Option('-s, --status <status>', 'in this state').choices(RUN_STATUSES))
    .option('-q, --q <text>', 'an id, or a text that the prompt contains; `aos search` finds more')
    .addOption(new Option('--transport <name>', 'that came this way').choices(TRANSPORTS))
    .option('--min-cost <usd>', 'that cost so much or more')
    .option('-n, --limit <count>', 'how many', '20')
    .action(listRuns);
  runs
    .command('show')
    .argument('<run-id>')
    .description('status, output and cost')
    .option('--json', 'print JSON')
    .action(show);
  runs
    .command('events')
    .argument('<run-id>')
    .description('the timeline so far')
    .option('--json', 'print JSON')
    .action(events);
  runs
    .command('cancel')
    .argument('<run-id>')
    .description('stop a run in flight')
    .option('--json', 'print JSON')
    .action(cancel);
  runs
    .command('retry')
    .argument('<run-id>')
    .description('dispatch the same again')
    .option('--json', 'print JSON')
    .action(retry);
  runs.addHelpText(
    'after',
    '\nExamples:\n  aos runs --agent assistant --limit 5\n  aos runs show 01jd...\n  aos runs events 01jd... --json',
  );
}

interface Output {
  json?: boolean;
}

async function dispatch(
  agent: string,
  given: string | undefined,
  {
    follow,
    model,
    effort,
    thread,
    sample,
    schema,
    json,
  }: Output & { follow?: boolean; model?: string; effort?: string; thread?: string; sample?: boolean; schema?: string },
): Promise<void> {
  if ((given === undefined) !== (sample === true)) throw new CliError('give a prompt, or --sample');
  const outputSchema = schema === undefined ? undefined : await readFields(schema);
  const service = await openService(process.env);
  const patient = outlastingRestarts(service);
  const recorded = given === undefined ? await promptSample(service, agent) : { agent, prompt: given };
  const accepted = await patient.api<RunAccepted>('POST', '/v1/runs', {
    ...(recorded.agent === 'auto' ? {} : { agent: recorded.agent }),
    prompt: recorded.prompt,
    transport: 'cli',
    ...(thread ? { thread_id: thread } : {}),
    ...(model || effort ? { override: { ...(model && { model_override: model }), ...(effort && { effort }) } } : {}),
    ...(outputSchema && { output_schema: outputSchema }),
  });
  if (!follow) {
    if (json) printJson(accepted);
    else print(`${accepted.run_id} ${accepted.status}; watch it with: aos runs show ${accepted.run_id}`);
    return;
  }
  const seen: RunEvent[] = [];
  // A text that nobody reads along with costs nothing: elsewhere than on a terminal the output has it.
  const reading = createTextWriter(printPart);
  for await (const update of followRun(service, accepted.run_id, { text: process.stdout.isTTY && !json })) {
    if (update.kind === 'text') reading.add(update.piece);
    if (update.kind !== 'event') continue;
    const { event } = update;
    seen.push(event);
    reading.endLine();
    if (json) printJson(event, 0);
    else print(formatEvent(event));
  }
  const run = await patient.api<Run>('GET', `/v1/runs/${accepted.run_id}`);
  if (json) printJson({ ...run, total_cost_usd: sumUsd(seen.map(({ cost_usd }) => cost_usd)) }, 0);
  else printRun(service, run, seen, { isRead: run.output !== null && reading.hasWritten(run.output) });
  if (run.status !== 'succeeded')
    throw new CliError(`run ${run.run_id} ${run.status}${run.error ? `: ${withoutCode(run.error)}` : ''}`);
}

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

interface RunFilters extends ListOptions {
  agent?: string;
  status?: string;
  q?: string;
  from?: string;
  to?: string;
  transport?: string;
  minCost?: string;
  limit: string;
}

/** Only the search of runs knows more filters than the agent and the transport. */
function listRuns({ json, output, watch, limit, agent, transport, minCost, ...filters }: RunFilters): Promise<void> {
  const options = { ...(json && { json }), ...(output && { output }), ...(watch && { watch }) };
  const query = { limit, agent, transport };
  if ([minCost, ...Object.values(filters)].every((value) => value === undefined)) {
    const empty = agent === undefined && transport === undefined ? NO_RUNS : NO_SUCH_RUNS;
    return list<RunListRow>({ path: '/v1/runs', query, columns: COLUMNS, empty }, options);
  }
  return list<FoundRun>(
    {
      path: '/v1/runs/search',
      query: { ...query, ...filters, min_cost_usd: minCost },
      columns: FOUND_COLUMNS,
      empty: NO_SUCH_RUNS,
      read: readFound,
    },
    options,
  );
}

/** A page of found runs has looked at a thousand of them at most: what is rare is on one of those that follow. */
const MOST_PAGES = 100;
const LONGEST_PAGE = 200;

const readFound: Listing<FoundRun>['read'] = async (page, query) => {
  const data: FoundRun[] = [];
  let next: string | undefined;
  for (let pages = 1; ; pages++) {
    const left = Number(query.limit) - data.length;
    // What is no number is for the service to refuse.
    const limit = Number.isInteger(left) ? String(Math.min(left, LONGEST_PAGE)) : query.limit;
    const found = await page<RunsSearchResponse>({ ...query, limit, before: next });
    data.push(...found.data);
    next = found.meta.next ?? undefined;
    if (next !== undefined && data.length < Number(query.limit) && pages < MOST_PAGES) continue;
    if (pages === MOST_PAGES) printAside('it has looked at 100,000 runs: narrow it down with --to or --agent');
    return { ...found, data };
  }
};

const NO_SUCH_RUNS = 'no such runs';
const NO_RUNS = 'no runs yet; dispatch one with: aos run assistant "Hello" --follow';
const asStatus = (text: string): string => paintStatus(text.trimEnd(), text.length);

const COLUMNS: Listing<RunListRow>['columns'] = [
  { title: 'RUN', value: (row) => row.run_id },
  { title: 'AGENT', value: (row) => row.agent },
  { title: 'LAST EVENT', value: (row) => row.last_event_type, paint: asStatus },
  { title: 'EVENTS', value: (row) => row.event_count, align: 'right' },
  { title: 'COST', value: (row) => formatCost(row.total_cost_usd, row.is_priced), align: 'right' },
  { title: 'STARTED (UTC)', value: (row) => shortTime(row.started_at) },
  { title: 'VIA', value: (row) => row.transport },
  { title: 'PARENT', value: (row) => row.parent_run_id, isWide: true },
  { title: 'CHOSEN BY', value: (row) => row.model_rule, isWide: true },
  { title: 'MODEL', value: (row) => (row.sample ? `${row.model} (sample)` : row.model) },
];

const FOUND_COLUMNS: Listing<FoundRun>['columns'] = [
  { title: 'RUN', value: (row) => row.run_id },
  { title: 'AGENT', value: (row) => row.agent },
  { title: 'STATUS', value: (row) => row.status, paint: asStatus },
  { title: 'COST', value: (row) => formatCost(row.cost_usd, row.is_priced), align: 'right' },
  { title: 'ACCEPTED (UTC)', value: (row) => shortTime(row.created_at) },
  { title: 'VIA', value: (row) => row.transport, isWide: true },
  { title: 'MODEL', value: (row) => row.model, isWide: true },
  { title: 'PROJECT', value: (row) => row.project_id, isWide: true },
  {
    title: 'PROMPT OR ERROR',
    value: (row) => shorten(oneLine(row.error === null ? row.prompt : withoutCode(row.error)), 90),
  },
];

async function show(runId: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const [run, seen] = await Promise.all([
    service.api<Run>('GET', `/v1/runs/${encodeURIComponent(runId)}`),
    listEvents(service, encodeURIComponent(runId), 2_000),
  ]);
  if (json)
    printJson({
      ...run,
      total_cost_usd: sumUsd(seen.map(({ cost_usd }) => cost_usd)),
      temporal_ui_url: executionUrl(service, runId) ?? null,
    });
  else printRun(service, run, seen);
}

async function events(runId: string, { json }: Output): Promise<void> {
  const seen = await listEvents(await openService(process.env), encodeURIComponent(runId), 2_000);
  if (json) printJson(seen);
  else for (const event of seen) print(formatEvent(event));
}

async function cancel(runId: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const reply = await service.controlPlane<RunsCancelResponse>('POST', `/v1/runs/${encodeURIComponent(runId)}/cancel`);
  if (json) printJson(reply);
  else print(`${runId} ${paintStatus(reply.status)}`);
}

async function retry(runId: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const reply = await service.controlPlane<RunsRetryResponse>('POST', `/v1/runs/${encodeURIComponent(runId)}/retry`);
  if (json) printJson(reply);
  else print(`${reply.run_id} repeats ${runId}; watch it with: aos runs show ${reply.run_id}`);
}
