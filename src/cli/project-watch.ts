/**
 * Shows a project as it happens: a live board on a terminal, and elsewhere a line for each event and each waiting gate.
 */
import type { Project } from '../../client/src/api.ts';
import { first, present } from '../platform/core/present.ts';
import { projectWorkflowId } from '../resources/projects/model.ts';
import { SAMPLE_NOTE } from '../resources/samples/model.ts';
import { outlastingRestarts, type ServiceClient } from './client.ts';
import { changesOf } from './following.ts';
import { CliError, forTerminal, oneLine, paint, print } from './output.ts';
import { boardLines, formatSpend, gateLines, headline, pauseHelp } from './project-board.ts';
import { readBoard, readEvents, type Board, type PlacedStep } from './project-client.ts';
import { formatProjectEvent } from './project-events.ts';
import { waitingGates } from './project-gates.ts';
import { workflowUrl } from './timeline.ts';

const RECENT_EVENTS = 200;
const MAX_EVENTS = 1_000;

const HAS_ENDED: readonly Project['status'][] = ['completed', 'paused', 'abandoned'];

/**
 * Yields the board each time something happens, until the project is completed, paused or abandoned; the last board
 * shows that.
 */
export async function* followProject(
  service: ServiceClient,
  projectId: string,
  { timeoutMs = Infinity }: { timeoutMs?: number } = {},
): AsyncGenerator<Board> {
  const deadline = performance.now() + timeoutMs;
  const changes = await changesOf(service, { projectId, kinds: ['project'] });
  try {
    for (;;) {
      const board = await readBoard(service, projectId);
      yield board;
      if (HAS_ENDED.includes(board.project.status)) return;
      if (performance.now() > deadline) {
        throw new CliError(`project ${projectId} did not end within ${Math.round(timeoutMs / 1_000)} s`);
      }
      await changes.next();
    }
  } finally {
    changes.stop();
  }
}

/**
 * Shows a project until it ends.
 * @param fromStart tells also what happened before, where events are shown
 * @throws CliError that says what to do, unless the project is completed
 */
export async function watchProject(
  opened: ServiceClient,
  projectId: string,
  { fromStart = false }: { fromStart?: boolean } = {},
): Promise<void> {
  const service = outlastingRestarts(opened);
  if (process.stdout.isTTY) await watchBoard(service, projectId);
  else await watchEvents(service, projectId, fromStart);
  print(paint('gray', `what it made: aos project artifacts ${projectId}`));
}

/** @returns the board as one text: the steps that are at work, above the outcome */
export const boardText = (service: ServiceClient, board: Board): string =>
  forTerminal(
    [
      `${paint('bold', oneLine(board.project.title))}  ${headline(board.project)}`,
      ...boardLines(service, board).map((line) => `  ${line}`),
    ].join('\n'),
  );

async function watchBoard(service: ServiceClient, projectId: string): Promise<void> {
  const { Listr } = await import('listr2');
  const board = new Listr(
    [
      {
        title: projectId,
        async task(_, task) {
          let last: Board | undefined;
          for await (last of followProject(service, projectId)) task.title = boardText(service, last);
          await requireCompleted(service, present(last));
        },
      },
    ],
    { rendererOptions: { collapseErrors: false, showErrorMessage: false } },
  );
  await board.run();
}

async function watchEvents(service: ServiceClient, projectId: string, fromStart: boolean): Promise<void> {
  const next = await eventReader(service, projectId, { fromStart });
  const gates = newGates();
  let last: Board | undefined;
  for await (last of followProject(service, projectId)) {
    for (const event of await next()) print(formatProjectEvent(event));
    for (const gate of gates(last)) print(gateLines(service, projectId, gate).join('\n'));
  }
  await requireCompleted(service, present(last));
  print(`completed  ${formatSpend(present(last).project)}`);
}

/** @returns a function that gives the events since its last call, in order, without those that nobody needs to read */
export async function eventReader(service: ServiceClient, projectId: string, { fromStart }: { fromStart: boolean }) {
  let seen = fromStart ? 0 : ((await readEvents(service, projectId, 1))[0]?.id ?? 0);
  return async () => {
    let events = await readEvents(service, projectId, RECENT_EVENTS);
    if (events.length === RECENT_EVENTS && first(events).id > seen) {
      events = await readEvents(service, projectId, MAX_EVENTS);
    }
    const fresh = events.filter(({ id }) => id > seen);
    seen = events.at(-1)?.id ?? seen;
    return fresh.filter(({ level }) => level !== 'debug');
  };
}

/** @returns a function that finds each waiting gate of a board once, each time that the gate waits anew */
export function newGates(): (board: Board) => PlacedStep[] {
  let before: string[] = [];
  return (board) => {
    const waiting = waitingGates(board);
    const found = waiting.filter(({ id, started_at }) => !before.includes(`${id} ${started_at}`));
    before = waiting.map(({ id, started_at }) => `${id} ${started_at}`);
    return found;
  };
}

/** @throws CliError that says why the project is not completed, and how it goes on */
async function requireCompleted(service: ServiceClient, board: Board): Promise<void> {
  const { id, status } = board.project;
  if (status === 'completed') return;
  if (status === 'abandoned') throw new CliError(`project ${id} was abandoned; what it made is kept`);
  throw new CliError([`project ${id} is paused`, ...(await whyPaused(service, board))].join('\n'));
}

async function whyPaused(service: ServiceClient, board: Board): Promise<string[]> {
  const events = await readEvents(service, board.project.id, RECENT_EVENTS);
  const pause = events.findLast(({ topic }) => topic === 'project_paused');
  const error = pause?.payload_jsonb.error;
  return pauseHelp(board, typeof error === 'string' ? error : undefined);
}

/** Prints all of a project: what it is, its phases, and what stops it. */
export async function printProject(service: ServiceClient, board: Board): Promise<void> {
  const { project } = board;
  const line = (name: string, value: string | undefined) => value && print(`${paint('bold', name.padEnd(10))}${value}`);
  line('project', project.id);
  line('title', oneLine(project.title));
  line('workflow', `${project.workflow_slug} v${project.workflow_version}`);
  line('status', headline(project));
  line('content', project.sample ? SAMPLE_NOTE : undefined);
  line('temporal', workflowUrl(service, projectWorkflowId(project.id)));
  print(`\n${boardLines(service, board).join('\n')}`);
  if (project.status === 'paused') print(`\n${(await whyPaused(service, board)).join('\n')}`);
  if (project.has_stale_phases) {
    print(`\nstale phases used what has changed since; redo one with: aos project retrigger ${project.id} <phase>`);
  }
}
