/**
 * The phase graph of a project in memory: it knows what can start, what is under way, and how it looks to an operator.
 * It asks nobody.
 */
import { itemAt, present } from '../../src/platform/core/present.ts';
import {
  isDone,
  isInFlight,
  type BoardPhase,
  type PhaseChange,
  type ProjectStatus,
  type TaskStatus,
} from '../../src/resources/projects/model.ts';
import type { PhaseResult } from '../phase/messages.ts';
import type { PhaseHeld, PhaseInFlight, PhaseStatus } from './messages.ts';

const MARKS: Record<TaskStatus, string> = {
  pending: '·',
  running: '→',
  blocked: '■',
  review: '○',
  succeeded: '✓',
  failed: '✗',
  skipped: '–',
  stale: '~',
};

export function createBoard(
  given: readonly BoardPhase[],
  /** An earlier run of this workflow started these phases. */
  started: readonly PhaseInFlight[],
) {
  const phases = given.map((phase) => ({ ...phase }));
  const bySlug = new Map(phases.map((phase) => [phase.slug, phase]));
  const inFlight = new Map(started.map(({ slug, iteration }) => [slug, iteration]));
  /** Phases that a command has changed, whose end in the record is not known here yet. */
  const overtaken = new Map(started.flatMap(({ slug, overtaken }) => (overtaken ? [[slug, overtaken] as const] : [])));
  /** What phases wait for, by phase and by gate. */
  const waits = new Map(
    started.flatMap(({ slug, waits }) => (waits ? [[slug, new Map(Object.entries(waits))] as const] : [])),
  );
  /** What holds phases beside their gates, by phase and by key. */
  const holds = new Map(
    started.flatMap(({ slug, holds }) => (holds ? [[slug, new Map(Object.entries(holds))] as const] : [])),
  );
  /** These gates were answered before the word of their phase that they had opened arrived here; with that phase. */
  const answeredEarly = new Map(
    started.flatMap(({ slug, answeredEarly = [] }) => answeredEarly.map((gate) => [gate, slug] as const)),
  );
  const resume = (slug: string): void => {
    waits.delete(slug);
    present(bySlug.get(slug)).status = 'running';
  };
  /** @returns false where the gate was not known to wait */
  const leave = (slug: string, gate: string): boolean => {
    const gates = waits.get(slug);
    const wasWaiting = gates?.delete(gate) ?? false;
    if (gates?.size === 0) resume(slug);
    return wasWaiting;
  };

  const answeredIn = (slug: string): Pick<PhaseInFlight, 'answeredEarly'> => {
    const gates = [...answeredEarly].flatMap(([gate, of]) => (of === slug ? [gate] : []));
    return gates.length > 0 ? { answeredEarly: gates } : {};
  };

  return {
    phases,
    inFlight,
    /** @returns the phases under way, for the run of this workflow that follows */
    listInFlight: (): PhaseInFlight[] =>
      [...inFlight].map(([slug, iteration]) => ({
        slug,
        iteration,
        ...answeredIn(slug),
        ...(waits.has(slug) && { waits: Object.fromEntries(present(waits.get(slug))) }),
        ...(holds.has(slug) && { holds: Object.fromEntries(present(holds.get(slug))) }),
        ...(overtaken.has(slug) && { overtaken: present(overtaken.get(slug)) }),
      })),
    find: (slug: string): BoardPhase | undefined => bySlug.get(slug),

    /** @returns phases that are pending, have nothing under way, and have everything before them done */
    ready: (): BoardPhase[] =>
      phases.filter(
        ({ slug, status, dependsOn }) =>
          status === 'pending' &&
          !inFlight.has(slug) &&
          dependsOn.every((position) => isDone(itemAt(phases, position).status)),
      ),

    isFinished: (): boolean => inFlight.size === 0 && phases.every(({ status }) => isDone(status)),

    /** @returns phases that are in flight by the record, of whose end nobody here is told */
    orphans: (): BoardPhase[] =>
      phases.filter(({ slug, status }) => isInFlight(status) && !inFlight.has(slug)),

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
      waits.delete(slug);
      holds.delete(slug);
      for (const [gate, of] of answeredEarly) if (of === slug) answeredEarly.delete(gate);
      const phase = present(bySlug.get(slug));
      if (status === 'not_yet') phase.status = 'pending';
      else if (status !== 'superseded') phase.status = overtaken.get(slug) ?? status;
      overtaken.delete(slug);
      return true;
    },

    apply(changes: readonly PhaseChange[]): void {
      for (const { slug, status, taskId } of changes) {
        const phase = bySlug.get(slug);
        if (phase) {
          if (inFlight.has(slug)) overtaken.set(slug, status);
          else phase.status = status;
        } else if (taskId) {
          const added = { slug, taskId, status, dependsOn: [], iteration: 0 };
          phases.push(added);
          bySlug.set(slug, added);
        }
      }
    },

    /**
     * Takes over what the record says, where it and this board have come apart.
     * @returns whether anything changed
     */
    sync(recorded: readonly BoardPhase[]): boolean {
      let hasChanged = false;
      for (const row of recorded) {
        const phase = bySlug.get(row.slug);
        if (phase && inFlight.has(row.slug)) continue;
        hasChanged ||= phase?.status !== row.status;
        if (phase) {
          phase.status = row.status;
          phase.iteration = Math.max(phase.iteration, row.iteration);
        } else {
          // An edit session of which this workflow was not told. In the record it is at the end too.
          const added = { ...row };
          phases.push(added);
          bySlug.set(row.slug, added);
        }
      }
      return hasChanged;
    },

    /** Notes what a phase tells of one of its gates. */
    note({ slug, iteration, waitsFor, gate }: PhaseStatus): void {
      if (inFlight.get(slug) !== iteration) return;
      if (waitsFor === null) return void leave(slug, gate);
      if (answeredEarly.delete(gate)) return;
      waits.set(slug, (waits.get(slug) ?? new Map<string, string>()).set(gate, waitsFor));
      present(bySlug.get(slug)).status = 'blocked';
    },

    /** Notes what holds a phase beside its gates. */
    hold({ slug, iteration, key, waitsFor }: PhaseHeld): void {
      if (inFlight.get(slug) !== iteration) return;
      // The record opens a phase when it may begin.
      if (key === slug) present(bySlug.get(slug)).status = waitsFor === null ? 'running' : 'pending';
      const held = holds.get(slug) ?? new Map<string, string>();
      if (waitsFor === null) held.delete(key);
      else held.set(key, waitsFor);
      if (held.size > 0) holds.set(slug, held);
      else holds.delete(slug);
    },

    /** Notes that the project itself has answered a gate. */
    answer(slug: string, gate: string): void {
      if (inFlight.has(slug) && !leave(slug, gate)) answeredEarly.set(gate, slug);
    },

    /**
     * @returns Markdown for the Temporal Web UI, which shows about a dozen lines and has the title beside it: a line for each
     *   phase, and what is waited for after them
     */
    render({ status, costUsd }: { status: ProjectStatus; costUsd: string }): string {
      // What a command has changed since, such as an abandonment, nobody waits for.
      const open = [...waits, ...holds].filter(([slug]) => !overtaken.has(slug));
      const waiting = open.flatMap(([slug, reasons]) =>
        [...reasons.values()].map((what) => `- \`${slug}\` waits for ${what}`),
      );
      const atWork = [...inFlight].flatMap(([slug, iteration]) =>
        waits.has(slug) || holds.has(slug) || overtaken.has(slug) ? [] : [`\`${slug}/${iteration}\``],
      );
      if (atWork.length > 0) waiting.push(`- at work, as their own details say: ${atWork.join(', ')}`);
      return [
        `| **${status}** | $${Number(costUsd).toFixed(4)} | start |`,
        '| --- | --- | --- |',
        ...phases.map(({ slug, status: believed, iteration }) => {
          const status = overtaken.get(slug) ?? believed;
          return `| ${MARKS[status]} ${slug} | ${status} | ${iteration || ''} |`;
        }),
        ...(waiting.length > 0 ? ['', ...waiting] : []),
      ].join('\n');
    },
  };
}
