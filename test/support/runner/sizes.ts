/**
 * Some tests are proofs as well: `npm run proof:<name>` runs them at full size on a native Postgres, and its report says
 * what they tried. In `npm test` they are small, and nobody counts.
 */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { present } from '../../../src/platform/core/present.ts';

const { PROOF_SIZE, PROOF_SEED, PROOF_TRIED, TEST_SEED, TEST_DRAWN } = process.env;

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
 * Samples a long list of things that a test tries one by one: another part each run, the same part with the same `TEST_SEED`.
 * Returns the whole list without a seed: if tests are named, and in a proof. The summary of the run says what was sampled.
 * @param of tells one list from the others; the summary adds up those that have the same words before a colon
 * @returns at least one, in the order given
 */
export function drawn<Item>(of: string, all: readonly Item[], count: number): Item[] {
  const sample = sampleOf(of, all, count);
  recordDrawn(of, sample.length, all.length);
  return sample;
}

/** @returns whether the one in so many falls on this thing; always true if everything is tried */
export function isDrawn(of: string, oneIn: number): boolean {
  const lots = Array.from({ length: oneIn }, (_, at) => at);
  const isOne = sampleOf(of, lots, 1).includes(0);
  recordDrawn(of, isOne ? 1 : 0, 1);
  return isOne;
}

const sampleOf = <Item>(of: string, all: readonly Item[], count: number): Item[] =>
  TEST_SEED === undefined || PROOF_SIZE !== undefined ? [...all] : draw(`${TEST_SEED} ${of}`, all, count);

/** Written for the reporter, which is another process. */
function recordDrawn(of: string, count: number, total: number): void {
  if (TEST_DRAWN) appendFileSync(TEST_DRAWN, `${JSON.stringify([of.split(': ')[0], count, total])}\n`);
}

/** @returns as many of them; which ones depends on the seed alone */
export function draw<Item>(seed: string, all: readonly Item[], count: number): Item[] {
  const lot = (at: number) => createHash('sha1').update(`${seed} ${at}`).digest('hex');
  const lots = all.map((_, at) => lot(at));
  const last = [...lots].sort()[Math.max(Math.ceil(count), 1) - 1];
  return all.filter((_, at) => last === undefined || present(lots[at]) <= last);
}
