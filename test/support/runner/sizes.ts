/**
 * Some tests are proofs as well: `npm run proof:<name>` runs them at full size on a native Postgres, and its report says
 * what they tried. In `npm test` they are small, and nobody counts.
 */
import { appendFileSync } from 'node:fs';

const { PROOF_SIZE, PROOF_SEED, PROOF_TRIED } = process.env;

/** @param full in the full run of a proof */
export const sized = <Size>(small: Size, full: Size): Size => (PROOF_SIZE === 'full' ? full : small);

/** Counts what was tried, e.g. `wrong credentials refused`. */
export function tried(what: string, count = 1): void {
  if (PROOF_TRIED) appendFileSync(PROOF_TRIED, `${JSON.stringify([what, count])}\n`);
}

/** Of a property that fast-check looks for exceptions to: how often, and with the seed of the proof where there is one. */
export const attempts = (small: number, full: number): { numRuns: number; seed?: number } => ({
  numRuns: sized(small, full),
  ...(PROOF_SEED && { seed: Number(PROOF_SEED) }),
});
