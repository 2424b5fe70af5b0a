/** What the words after `npm test --` ask for. */
import { randomInt } from 'node:crypto';

/** The others are for jest. */
const OURS = ['--small', '--all', '--rows', '--times'];
/** These say only how tests are run, and name none. */
const HOW = /^(-w|-i|--(maxWorkers|runInBand|silent|verbose)(=.*)?|\d+%?)$/;

/** @param env of the process; `TEST_SEED` there has even tests that are named try a part only */
export function optionsOf(args, env) {
  const [isSmall, isAll, withRows, withTimes] = OURS.map((option) => args.includes(option));
  const areUnnamed = args.every((arg) => OURS.includes(arg) || HOW.test(arg));
  return {
    isSmall,
    withRows,
    withTimes,
    /** All tests, though perhaps a part of what they try. */
    isWhole: areUnnamed && !isSmall,
    /** What a part is drawn with (`sizes.ts`); undefined where everything is tried. */
    seed: isAll ? undefined : (env.TEST_SEED ?? (areUnnamed ? String(randomInt(2 ** 31)) : undefined)),
    forJest: args.filter((arg) => !OURS.includes(arg)),
  };
}
