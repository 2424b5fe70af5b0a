/**
 * Is the part of the demo in which the project runs. It shows the project as it goes, and answers its gates as a person
 * would.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Project } from '../../client/src/api.ts';
import { present } from '../platform/core/present.ts';
import type { ServiceClient } from './client.ts';
import { forTerminal, oneLine, paint, shorten } from './output.ts';
import { stepsOf, type Board, type PlacedStep } from './project-client.ts';
import { withoutCode } from './problems.ts';
import { formatProjectEvent } from './project-events.ts';
import { helpWith, promptOf, resolveGate } from './project-gates.ts';
import { boardText, eventReader, followProject, newGates } from './project-watch.ts';

/** A pause in which people can read, because the offline model is faster than any reader. */
const READING_MS = 2_500;

/** The part of a listr2 task that the demo writes to. */
interface Shown {
  title: string;
  output: string;
}

/** @throws Error unless the project is completed in time and had a gate to answer */
export async function followDemoProject(
  service: ServiceClient,
  projectId: string,
  shown: Shown,
  timeoutMs: number,
): Promise<Project> {
  const isLive = process.stdout.isTTY;
  const events = await eventReader(service, projectId, { fromStart: true });
  const gates = newGates();
  let approved = 0;
  let last: Board | undefined;
  for await (last of followProject(service, projectId, { timeoutMs })) {
    if (isLive) shown.title = boardText(service, last);
    else for (const event of await events()) shown.output = forTerminal(formatProjectEvent(event));
    for (const gate of gates(last)) {
      if (isLive) await wait(READING_MS);
      await approve(service, projectId, gate, shown);
      approved += 1;
    }
  }
  const board = present(last);
  if (board.project.status !== 'completed') throw new Error(whatHappened(board));
  if (approved === 0) throw new Error('the project had no gate to answer');
  if (!isLive) shown.title = `Followed it: ${board.phases.length} phases, completed`;
  return board.project;
}

async function approve(service: ServiceClient, projectId: string, gate: PlacedStep, shown: Shown): Promise<void> {
  const prompt = promptOf(gate);
  shown.output = forTerminal(`${paint('yellow', gate.place)} asked${prompt ? `: "${prompt}"` : ' for approval'}`);
  await resolveGate(service, projectId, gate, { decision: 'approved', comment: 'Approved by the demo' });
  shown.output = `The demo approved it, as a person would with: ${helpWith(service, projectId, gate).command}`;
}

function whatHappened(board: Board): string {
  const { status, pause_reason } = board.project;
  const faults = stepsOf(board).map(({ place, error }) =>
    error ? `${place}: ${shorten(withoutCode(oneLine(error)), 200)}` : undefined,
  );
  return [`the project is ${status}`, pause_reason?.replaceAll('_', ' '), ...faults].filter(Boolean).join('; ');
}
