/** One action of an edit plan, as it is carried out. */
import type { Actor, Cascade, PhaseChange } from '../../model.ts';

export interface Enactment {
  subtaskId: string;
  cascade: Cascade;
  actor: Actor;
}

/** What was done; or, a text, why nothing was. */
export type Applied = { told: Record<string, unknown>; changes: PhaseChange[] } | string;
