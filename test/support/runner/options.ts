/** What the words after `npm test --` ask for. */
import { randomInt } from 'node:crypto';

/** The others are for jest. */
const OURS = ['--small', '--all', '--rows', '--times'];
/** These say only how tests are run, and name none. */
const HOW = /^(-w|-i|--(maxWorkers|runInBand|silent|verbose)(=.*)?|\d+%?)$/;

interface Options {
  isSmall: boolean;
  withRows: boolean;
  withTimes: boolean;
  /** No test is named. */
  areUnnamed: boolean;
  /** All tests, though perhaps a part of what they try. */
  isWhole: boolean;
  /** What a part is drawn with (`sizes.ts`); undefined where everything is tried. */
  seed: string | undefined;
  forJest: string[];
}

/** @param env of the process; `TEST_SEED` there has even tests that are named try a part only */
export function optionsOf(args: readonly string[], env: NodeJS.ProcessEnv): Options {
  const isSmall = args.includes('--small');
  const areUnnamed = args.every((arg) => OURS.includes(arg) || HOW.test(arg));
  return {
    isSmall,
    withRows: args.includes('--rows'),
    withTimes: args.includes('--times'),
    areUnnamed,
    isWhole: areUnnamed && !isSmall,
    seed: args.includes('--all') ? undefined : (env.TEST_SEED ?? (areUnnamed ? String(randomInt(2 ** 31)) : undefined)),
    forJest: args.filter((arg) => !OURS.includes(arg)),
  };
}
