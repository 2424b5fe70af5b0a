/** Runs the longest test files first, so that no long one is left for the end while the other workers are idle. */
import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** The files that take more than a few seconds, the longest first. `npm test -- --small` leaves them out. */
export const LONG = readFileSync(new URL('long.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = LONG.findIndex((file) => path.endsWith(`/${file}`));
      return at === -1 ? LONG.length : at;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
}
