/** Asks a model for as much effort as it takes, where `MODEL_CATALOGUE` says what it takes. */
import { EFFORTS, type Effort } from '../core/effort.ts';

/** @param taken undefined where nothing is known of the model, which is then asked for what is wanted */
export function takenEffort(wanted: Effort | undefined, taken: readonly Effort[] | undefined): Effort | undefined {
  if (wanted === undefined || taken === undefined) return wanted;
  const distance = (effort: Effort) => Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(wanted));
  // Of two that are equally near it is the lower, which costs less.
  const [nearest] = EFFORTS.filter((effort) => taken.includes(effort)).sort((a, b) => distance(a) - distance(b));
  return nearest;
}

/** @returns what is to be known of an effort that is not the one that was wanted */
export function effortNote(wanted: Effort | undefined, asked: Effort | undefined): string | undefined {
  if (asked === wanted) return undefined;
  return asked === undefined
    ? `effort ${wanted} is left out: the model takes none`
    : `effort ${wanted} is not taken by the model: it is asked for ${asked}`;
}
