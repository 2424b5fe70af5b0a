/** Files that start whole services or browsers for one kind of check: of each kind a run that draws takes some. */
import { draw } from './sizes.ts';

const inFolder = (folder: string, names: string): string[] =>
  names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);

export const KINDS: Readonly<Record<string, { files: readonly string[]; taken: number }>> = {
  'walks in the console': { files: inFolder('console', 'acts projects rest runs sections'), taken: 2 },
  'kills and restores': {
    files: inFolder('e2e', 'backup export-kill idempotency-kill kill lost-answers mail-kill project-kill stop'),
    taken: 3,
  },
  'what is hostile': { files: inFolder('security', 'bodies hostile-content hostile-input hostile-texts'), taken: 2 },
};

/** @returns the files that a run with this seed does not take */
export const leftOut = (seed: string): string[] =>
  Object.entries(KINDS).flatMap(([kind, { files, taken }]) => {
    const drawnFiles = draw(`${seed} ${kind}`, files, taken);
    return files.filter((file) => !drawnFiles.includes(file));
  });
