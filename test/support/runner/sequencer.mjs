/** Starts the longest test files first, so that no long one is left for the end while the other workers are idle. */
import Sequencer from '@jest/test-sequencer';
import { longFiles } from './long-files.ts';

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const long = longFiles().map(({ path }) => path);
    const place = ({ path }) => {
      const at = long.findIndex((file) => path.endsWith(`/${file}`));
      return at === -1 ? long.length : at;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
}
