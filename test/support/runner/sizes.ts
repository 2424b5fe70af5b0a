/**
 * Some tests are proofs as well: `npm run proof:<name>` runs them at full size on a native Postgres, and its report says
 * what they tried. In `npm test` they are small, and nobody counts.
 */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { present } from '../../../src/platform/core/present.ts';

const { PROOF_SIZE, PROOF_SEED, PROOF_TRIED, TEST_SEED } = process.env;

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

/**
 * Of what is tried one by one for long, the part that this run of all tests tries: another one each run, the same with the
 * same `TEST_SEED`. All of it without a seed: with `npm test -- --all`, where tests are named, and in a proof.
 * @param of tells one such list from the others
 * @returns at least one, in the order given
 */
export const drawn = <Item>(of: string, all: readonly Item[], count: number): Item[] =>
  TEST_SEED === undefined || PROOF_SIZE !== undefined ? [...all] : draw(`${TEST_SEED} ${of}`, all, count);

/** @returns whether this is the one of so many that is tried; always true where everything is */
export const isDrawn = (of: string, oneIn: number): boolean =>
  drawn(
    of,
    Array.from({ length: oneIn }, (_, at) => at),
    1,
  ).includes(0);

/** @returns as many of them; which ones depends on the seed alone */
export function draw<Item>(seed: string, all: readonly Item[], count: number): Item[] {
  const lot = (at: number) => createHash('sha1').update(`${seed} ${at}`).digest('hex');
  const lots = all.map((_, at) => lot(at));
  const last = [...lots].sort()[Math.max(Math.ceil(count), 1) - 1];
  return all.filter((_, at) => last === undefined || present(lots[at]) <= last);
}
