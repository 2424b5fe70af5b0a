/** Reads projects for the command line: rows of the control plane, put together as a board of phases and steps. */
import type { Project, ProjectEvent, Subtask, Task } from '../../client/src/api.ts';
import { first } from '../platform/core/present.ts';
import { getProject, listEventsOfProject, listSubtasks, listTasks } from '../resources/projects/reads/contract.ts';
import type { ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { CliError } from './output.ts';
import { ServiceProblem } from './problems.ts';

export interface PhaseWithStatus extends Task {
  /** On a board of what happens, only phases that are at work or went wrong have their steps. */
  steps: Subtask[];
}

export interface Board {
  project: Project;
  /** Phases in pipeline order, then the edit sessions. */
  phases: PhaseWithStatus[];
}

/** Turns a 404 into a sentence about what is missing. */
export const orMissing =
  (what: string) =>
  (error: unknown): never => {
    const isMissing = error instanceof ServiceProblem && error.status === 404;
    throw isMissing ? new CliError(`there is no ${what}; list them with: aos project list`) : error;
  };

const readProject = (service: ServiceClient, projectId: string): Promise<Project> =>
  ask(service, getProject, [projectId]).catch(orMissing(`project ${projectId}`));

/** Phases with one of these statuses have something to show in their steps. */
const IS_BUSY: readonly Task['status'][] = ['running', 'blocked', 'review', 'failed'];
const READ_AT_ONCE = 8;

/** @param steps is `all`, or `busy` for the steps of phases that are at work or went wrong */
export async function readBoard(
  service: ServiceClient,
  projectId: string,
  { steps = 'busy' }: { steps?: 'busy' | 'all' } = {},
): Promise<Board> {
  // The project is read first, so that a board which is read after the project's end shows that end.
  const project = await readProject(service, projectId);
  const { data: tasks } = await ask(service, listTasks, [projectId]);
  const phases = await mapAtOnce(tasks, READ_AT_ONCE, async (task): Promise<PhaseWithStatus> => {
    const isRead = steps === 'all' || IS_BUSY.includes(task.status);
    return { ...task, steps: isRead ? (await ask(service, listSubtasks, [projectId, task.id])).data : [] };
  });
  return { project, phases };
}

/** @returns the events, oldest first */
export async function readEvents(service: ServiceClient, projectId: string, limit: number): Promise<ProjectEvent[]> {
  const events = ask(service, listEventsOfProject, [projectId], { limit });
  return (await events.catch(orMissing(`project ${projectId}`))).data.toReversed();
}

/**
 * Maps items with at most `atOnce` of them under way.
 * @returns the results in the order of the items
 */
export async function mapAtOnce<T, R>(items: readonly T[], atOnce: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(map))));
  }
  return results;
}

export interface PlacedStep extends Subtask {
  phase: PhaseWithStatus;
  /** The place of the step, as `phase/step`. */
  place: string;
}

export const stepsOf = ({ phases }: Board): PlacedStep[] =>
  phases.flatMap((phase) =>
    phase.steps.map((step) => ({ ...step, phase, place: `${phase.phase_slug}/${step.step_slug}` })),
  );

/**
 * Picks the step that is meant by an id, by `phase/step` or by a step's slug. Without a name it picks the only one
 * there is.
 * @param what names such a step in messages, for example "waiting gate"
 * @throws CliError that lists the steps
 */
export function pickStep(steps: readonly PlacedStep[], name: string | undefined, what: string): PlacedStep {
  const named = steps.filter(({ id, step_slug, place }) => name === undefined || [id, step_slug, place].includes(name));
  if (named.length === 1) return first(named);
  const listed = (of: readonly PlacedStep[]) => of.map(({ place, id }) => `\n  ${place}  ${id}`).join('');
  if (named.length > 1) {
    const of = name === undefined ? '' : ` named "${name}"`;
    throw new CliError(`there are ${named.length} ${what}s${of}; name one:${listed(named)}`);
  }
  if (steps.length > 0) throw new CliError(`no ${what} "${name}"; there ${countOf(steps, what)}:${listed(steps)}`);
  throw new CliError(`there is no ${what}`);
}

const countOf = ({ length }: readonly unknown[], what: string): string =>
  length === 1 ? `is one ${what}` : `are ${length} ${what}s`;
