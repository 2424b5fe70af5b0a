/** Carries out one action of an edit plan. */
import type { Actor, Cascade, PhaseChange } from '../model.ts';

export interface Enactment {
  subtaskId: string;
  cascade: Cascade;
  actor: Actor;
}

/** Tells what was done or, as a text, why nothing was. */
export type Applied = { told: Record<string, unknown>; changes: PhaseChange[] } | string;
