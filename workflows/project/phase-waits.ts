/** What the phases of a project wait for, as they tell it: their open gates, and what else holds them. */
import { present } from '../../src/platform/core/present.ts';
import type { PhaseInFlight } from './messages.ts';

type Reasons = Map<string, string>;
type CarriedOver = Pick<PhaseInFlight, 'answeredEarly' | 'waits' | 'holds'>;

const reasonsIn = (started: readonly PhaseInFlight[], kind: 'waits' | 'holds'): Map<string, Reasons> =>
  new Map(
    started.flatMap((phase) => {
      const reasons = phase[kind];
      return reasons ? [[phase.slug, new Map(Object.entries(reasons))] as const] : [];
    }),
  );

/** @param started are the phases that an earlier run of the workflow started */
export function createPhaseWaits(started: readonly PhaseInFlight[]) {
  /** By phase and gate. */
  const waits = reasonsIn(started, 'waits');
  /** By phase and key. */
  const holds = reasonsIn(started, 'holds');
  /** Gates that were answered before their phase's word that they had opened arrived here; each with its phase. */
  const answeredEarly = new Map(
    started.flatMap(({ slug, answeredEarly = [] }) => answeredEarly.map((gate) => [gate, slug] as const)),
  );
  const answeredEarlyIn = (slug: string): string[] =>
    [...answeredEarly].flatMap(([gate, phase]) => (phase === slug ? [gate] : []));

  return {
    has: (slug: string): boolean => waits.has(slug) || holds.has(slug),
    list: (): [slug: string, reasons: Reasons][] => [...waits, ...holds],

    /** @returns what the next run of the workflow has to know of the phase */
    carryOver(slug: string): CarriedOver {
      const early = answeredEarlyIn(slug);
      return {
        ...(early.length > 0 && { answeredEarly: early }),
        ...(waits.has(slug) && { waits: Object.fromEntries(present(waits.get(slug))) }),
        ...(holds.has(slug) && { holds: Object.fromEntries(present(holds.get(slug))) }),
      };
    },

    /** @returns false for a gate that was answered before */
    openGate(slug: string, gate: string, waitsFor: string): boolean {
      if (answeredEarly.delete(gate)) return false;
      waits.set(slug, (waits.get(slug) ?? new Map<string, string>()).set(gate, waitsFor));
      return true;
    },

    /** @returns whether the gate was known to wait, and was the last one of its phase */
    closeGate(slug: string, gate: string): { wasOpen: boolean; wasLast: boolean } {
      const gates = waits.get(slug);
      const wasOpen = gates?.delete(gate) ?? false;
      const wasLast = gates?.size === 0;
      if (wasLast) waits.delete(slug);
      return { wasOpen, wasLast };
    },

    answerEarly(slug: string, gate: string): void {
      answeredEarly.set(gate, slug);
    },

    /** @param waitsFor is null where it holds the phase no more */
    hold(slug: string, key: string, waitsFor: string | null): void {
      const held = holds.get(slug) ?? new Map<string, string>();
      if (waitsFor === null) held.delete(key);
      else held.set(key, waitsFor);
      if (held.size > 0) holds.set(slug, held);
      else holds.delete(slug);
    },

    end(slug: string): void {
      waits.delete(slug);
      holds.delete(slug);
      for (const gate of answeredEarlyIn(slug)) answeredEarly.delete(gate);
    },
  };
}
