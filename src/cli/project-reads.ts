/** Adds `aos project start`, `list`, `show`, `watch`, `events` and `artifacts`. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Project, ProjectAccepted } from '../../client/src/api.ts';
import { present } from '../platform/core/present.ts';
import { projectWorkflowId } from '../resources/projects/model.ts';
import { SAMPLE_NOTE } from '../resources/samples/model.ts';
import { openService, type ServiceClient } from './client.ts';
import { list, type ListOptions } from './listing.ts';
import { CliError, oneLine, paint, paintStatus, print, printJson, shortTime } from './output.ts';
import { readArtifacts, writeArtifacts } from './project-artifacts.ts';
import { boardLines, formatSpend, headline } from './project-board.ts';
import { readBoard, readEvents, type Board } from './project-client.ts';
import { formatProjectEvent } from './project-events.ts';
import { workflowSample } from './samples.ts';
import { watchProject, whyPaused } from './project-watch.ts';
import { workflowUrl } from './timeline.ts';

interface Output {
  json?: boolean;
}

interface StartOptions extends Output {
  brief?: string;
  briefFile?: string;
  title?: string;
  param: Record<string, unknown>;
  sample?: boolean;
  budget?: string;
  version?: number;
  /** What `version` was called before. */
  workflowVersion?: number;
  watch?: boolean;
}

export async function start(workflow: string, options: StartOptions): Promise<void> {
  const { budget, version, workflowVersion, json } = options;
  const service = await openService(process.env);
  const accepted = await service.api<ProjectAccepted>('POST', '/v1/projects', {
    workflow_slug: workflow,
    ...(options.sample ? await sampleRequest(service, workflow, options) : await ownRequest(options)),
    cost_budget_usd: budget,
    workflow_version: version ?? workflowVersion,
  });
  const id = accepted.project_id;
  if (json) printJson(accepted);
  else if (options.watch) print(`${id} started`);
  else print(`${id} started; watch it with: aos project watch ${id}`);
  if (options.watch) await watchProject(service, id, { fromStart: true });
}

const ownRequest = async (options: StartOptions) => ({
  brief: await briefOf(options),
  title: options.title,
  params: options.param,
});

/** @throws CliError if there is no such sample, or something of it was to be changed */
async function sampleRequest(service: ServiceClient, workflow: string, options: StartOptions) {
  const { brief, briefFile, param, title } = options;
  if (brief !== undefined || briefFile !== undefined || Object.keys(param).length > 0)
    throw new CliError(
      'a changed brief is no sample any more: leave out --sample, or --brief, --brief-file and --param',
    );
  const sample = await workflowSample(service, workflow);
  return { brief: sample.brief, title: title ?? sample.title, params: sample.params };
}

async function briefOf({ brief, briefFile }: StartOptions): Promise<string> {
  if ((brief === undefined) === (briefFile === undefined)) throw new CliError('give --brief, --brief-file or --sample');
  if (brief !== undefined) return brief;
  if (briefFile === '-') return text(process.stdin);
  return readFile(present(briefFile), 'utf8').catch(() => {
    throw new CliError(`cannot read ${briefFile}`);
  });
}

interface ProjectFilters extends ListOptions {
  status?: string;
  workflow?: string;
  q?: string;
  from?: string;
  to?: string;
  limit: string;
}

export const listProjects = ({ status, workflow, q, from, to, limit, ...options }: ProjectFilters): Promise<void> =>
  list<Project>(
    {
      path: '/v1/projects',
      query: { limit, status, workflow_slug: workflow, q, from, to },
      columns: [
        { title: 'PROJECT', value: (row) => row.id },
        { title: 'WORKFLOW', value: (row) => `${row.workflow_slug} v${row.workflow_version}` },
        {
          title: 'STATUS',
          value: (row) => row.status,
          paint: (cell) => paintStatus(cell.trimEnd(), cell.length),
        },
        { title: 'PAUSED FOR', value: (row) => row.pause_reason, isWide: true },
        { title: 'COST', value: (row) => formatSpend(row), align: 'right' },
        { title: 'CREATED (UTC)', value: (row) => shortTime(row.created_at) },
        { title: 'ENDED (UTC)', value: (row) => shortTime(row.completed_at ?? row.abandoned_at), isWide: true },
        { title: 'TITLE', value: (row) => row.title },
      ],
      empty: [status, workflow, q, from, to].some((value) => value !== undefined)
        ? 'no such projects'
        : 'no projects yet; start one with: aos project start blog-post --brief "..." --watch',
    },
    options,
  );

export async function show(projectId: string, { json }: Output): Promise<void> {
  const service = await openService(process.env);
  const board = await readBoard(service, projectId, { steps: json ? 'all' : 'busy' });
  const url = workflowUrl(service, projectWorkflowId(projectId));
  if (json) return printJson({ ...board.project, temporal_ui_url: url ?? null, phases: board.phases });
  await printProject(service, board, url);
}

async function printProject(service: ServiceClient, board: Board, url: string | undefined): Promise<void> {
  const { project } = board;
  const line = (name: string, value: string | undefined) => value && print(`${paint('bold', name.padEnd(10))}${value}`);
  line('project', project.id);
  line('title', oneLine(project.title));
  line('workflow', `${project.workflow_slug} v${project.workflow_version}`);
  line('status', headline(project));
  line('content', project.sample ? SAMPLE_NOTE : undefined);
  line('temporal', url);
  print(`\n${boardLines(service, board).join('\n')}`);
  if (project.status === 'paused') print(`\n${(await whyPaused(service, board)).join('\n')}`);
  if (project.has_stale_phases) {
    print(`\nstale phases used what has changed since; redo one with: aos project retrigger ${project.id} <phase>`);
  }
}

export async function watch(projectId: string): Promise<void> {
  await watchProject(await openService(process.env), projectId);
}

export async function events(projectId: string, { limit, json }: Output & { limit: string }): Promise<void> {
  const happened = await readEvents(await openService(process.env), projectId, Number(limit));
  if (json) printJson(happened);
  else for (const event of happened) print(formatProjectEvent(event));
}

interface ArtifactOptions extends Output {
  out?: string;
  all?: boolean;
}

export async function artifacts(projectId: string, { out, all = false, json }: ArtifactOptions): Promise<void> {
  const made = await readArtifacts(await openService(process.env), projectId, all);
  const written = made.length > 0 ? await writeArtifacts(made, out ?? projectId) : [];
  if (json) return printJson({ data: written });
  if (written.length === 0) print('nothing is made yet');
  for (const { file, phase_slug, version, superseded, bytes } of written) {
    print(`${file}  ${paint('gray', `${phase_slug} v${version}${superseded ? '' : ', current'}, ${bytes} bytes`)}`);
  }
  if (written.some(({ sample }) => sample)) print(paint('yellow', SAMPLE_NOTE));
}
