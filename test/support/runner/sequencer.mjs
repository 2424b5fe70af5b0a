/** The longest test files first, so that none is what all others wait for at the end. */
import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Files that take more than some seconds, the longest first: what `npm test -- --small` leaves out. */
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
