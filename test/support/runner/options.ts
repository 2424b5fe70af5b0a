/** Reads the words after `npm test --`. */
import { randomInt } from 'node:crypto';
import { draw } from './sizes.ts';

/** Jest takes all others. */
const OWN_OPTIONS = /^--(sample(=\d+)?|rows|times|write-times)$/;
/** These say only how tests run, and name none. */
const HOW = /^(-w|-i|--(maxWorkers|runInBand|silent|verbose)(=.*)?|\d+%?)$/;
/** Files that `--sample` draws unless it gives a number. */
const SAMPLE_SIZE = 40;

interface Options {
  /** Number of files to draw; undefined runs all of them. */
  sampleSize: number | undefined;
  withRows: boolean;
  withTimes: boolean;
  /** The run rewrites `long.txt` with the times that it measures. */
  writesTimes: boolean;
  /** Every test file runs. */
  isWhole: boolean;
  /** Seed of what is drawn (`sizes.ts`); undefined if tests are named, which then try everything. */
  seed: string | undefined;
  forJest: string[];
}

/** @param env of the process; `TEST_SEED` there makes named tests draw as well */
export function optionsOf(args: readonly string[], env: NodeJS.ProcessEnv): Options {
  const sample = args.find((arg) => /^--sample(=\d+)?$/.test(arg));
  const areUnnamed = args.every((arg) => OWN_OPTIONS.test(arg) || HOW.test(arg));
  return {
    sampleSize: sample === undefined ? undefined : Number(sample.split('=')[1] ?? SAMPLE_SIZE),
    withRows: args.includes('--rows'),
    withTimes: args.includes('--times'),
    writesTimes: args.includes('--write-times'),
    isWhole: areUnnamed && sample === undefined,
    seed: env.TEST_SEED ?? (areUnnamed || sample !== undefined ? String(randomInt(2 ** 31)) : undefined),
    forJest: args.filter((arg) => !OWN_OPTIONS.test(arg)),
  };
}

/** @returns the files of a sample; the seed alone decides which */
export const sampleOf = (files: readonly string[], size: number, seed: string): string[] =>
  draw(`${seed} files`, [...files].sort(), size);
