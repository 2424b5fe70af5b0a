/**
 * The phase graph of a project in memory: it knows what can start, what is under way, and what is waited for. It asks
 * nobody.
 */
import { present } from '../../src/platform/core/present.ts';
import {
  isInFlight,
  type BoardPhase,
  type PhaseChange,
  type ProjectStatus,
  type TaskStatus,
} from '../../src/resources/projects/model.ts';
import type { PhaseResult } from '../phase/messages.ts';
import type { PhaseHeld, PhaseInFlight, PhaseStatus } from './messages.ts';
import { createPhaseGraph } from './phase-graph.ts';
import { createPhaseWaits } from './phase-waits.ts';
import { renderBoard } from './render-board.ts';

export function createBoard(
  given: readonly BoardPhase[],
  /** An earlier run of this workflow started these phases. */
  started: readonly PhaseInFlight[],
) {
  const graph = createPhaseGraph(given);
  const { phases, find } = graph;
  const inFlight = new Map(started.map(({ slug, iteration }) => [slug, iteration]));
  /** Phases that a command has changed, whose end in the record is not known here yet. */
  const overtaken = new Map<string, TaskStatus>(
    started.flatMap(({ slug, overtaken }) => (overtaken ? [[slug, overtaken] as const] : [])),
  );
  const waits = createPhaseWaits(started);

  /** @returns false where the gate was not known to wait */
  function closeGate(slug: string, gate: string): boolean {
    const { wasOpen, wasLast } = waits.closeGate(slug, gate);
    if (wasLast) graph.setStatus(slug, 'running');
    return wasOpen;
  }

  return {
    phases,
    find,
    inFlight,
    /** @returns the phases under way, for the run of this workflow that follows */
    listInFlight: (): PhaseInFlight[] =>
      [...inFlight].map(([slug, iteration]) => ({
        slug,
        iteration,
        ...waits.carryOver(slug),
        ...(overtaken.has(slug) && { overtaken: present(overtaken.get(slug)) }),
      })),

    /** @returns phases that are pending, have nothing under way, and have everything before them done */
    ready: (): BoardPhase[] => graph.pendingNext().filter(({ slug }) => !inFlight.has(slug)),

    isFinished: (): boolean => inFlight.size === 0 && graph.areDone(),

    /** @returns phases that are in flight by the record, of whose end nobody here is told */
    orphans: (): BoardPhase[] => phases.filter(({ slug, status }) => isInFlight(status) && !inFlight.has(slug)),

    /** @returns the number of this start */
    begin(phase: BoardPhase): number {
      phase.iteration += 1;
      phase.status = 'running';
      inFlight.set(phase.slug, phase.iteration);
      return phase.iteration;
    },

    /** @returns false for an end that is known already, or for that of a start that was overtaken */
    end({ slug, iteration, status }: Pick<PhaseResult, 'slug' | 'iteration' | 'status'>): boolean {
      if (inFlight.get(slug) !== iteration) return false;
      inFlight.delete(slug);
      waits.end(slug);
      if (status === 'not_yet') graph.setStatus(slug, 'pending');
      else if (status !== 'superseded') graph.setStatus(slug, overtaken.get(slug) ?? status);
      overtaken.delete(slug);
      return true;
    },

    apply(changes: readonly PhaseChange[]): void {
      for (const { slug, status, taskId } of changes) {
        if (inFlight.has(slug)) overtaken.set(slug, status);
        else if (find(slug)) graph.setStatus(slug, status);
        else if (taskId) graph.add({ slug, taskId, status, dependsOn: [], iteration: 0 });
      }
    },

    /**
     * Takes over what the record says of phases with nothing under way, where it and this board have come apart.
     * @returns whether anything changed
     */
    sync: (recorded: readonly BoardPhase[]): boolean => graph.sync(recorded.filter(({ slug }) => !inFlight.has(slug))),

    /** Notes what a phase tells of one of its gates. */
    note({ slug, iteration, waitsFor, gate }: PhaseStatus): void {
      if (inFlight.get(slug) !== iteration) return;
      if (waitsFor === null) closeGate(slug, gate);
      else if (waits.openGate(slug, gate, waitsFor)) graph.setStatus(slug, 'blocked');
    },

    /** Notes what holds a phase beside its gates. */
    hold({ slug, iteration, key, waitsFor }: PhaseHeld): void {
      if (inFlight.get(slug) !== iteration) return;
      // The record opens a phase when it may begin.
      if (key === slug) graph.setStatus(slug, waitsFor === null ? 'running' : 'pending');
      waits.hold(slug, key, waitsFor);
    },

    /** Notes that the project itself has answered a gate. */
    answer(slug: string, gate: string): void {
      if (inFlight.has(slug) && !closeGate(slug, gate)) waits.answerEarly(slug, gate);
    },

    render: (of: { status: ProjectStatus; costUsd: string }): string =>
      renderBoard({ status: of.status, costUsd: of.costUsd, phases, inFlight, overtaken, waits }),
  };
}
