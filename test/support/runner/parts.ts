/** Files that start whole services or browsers, or ask every endpoint, for one kind of check: of each kind a run that draws takes some. */
import { draw } from './sizes.ts';

const inFolder = (folder: string, names: string): string[] =>
  names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);

export const KINDS: Readonly<Record<string, { files: readonly string[]; taken: number }>> = {
  'walks in the console': {
    files: inFolder('console', 'acts done-when imports projects rest runs sections snippets viewer'),
    taken: 3,
  },
  'kills, restores and long waits': {
    files: [
      ...inFolder('e2e', 'backup export-kill idempotency-kill kill lost-answers mail-kill project-kill stop'),
      ...inFolder('workflows', 'long-waits'),
    ],
    taken: 3,
  },
  'what is hostile': {
    files: [
      ...inFolder('security', 'bodies egress hostile-content hostile-input hostile-texts'),
      ...inFolder('platform/documents', 'hostile'),
      ...inFolder('resources/imports', 'hostile-values'),
    ],
    taken: 3,
  },
  'every endpoint, asked by whom it is not for': {
    files: [
      ...inFolder('security', 'auth-matrix bound-statements caps headers tenancy'),
      ...inFolder('platform/http', 'proxy-declared'),
    ],
    taken: 3,
  },
  'as others have it': {
    files: [
      ...inFolder('client', 'package'),
      ...inFolder('docs', 'commands.e2e typescript'),
      ...inFolder('embedded', 'demo.e2e full-disk.e2e login.e2e start.e2e'),
    ],
    taken: 3,
  },
};

/** @returns the files that a run with this seed does not take */
export const leftOut = (seed: string): string[] =>
  Object.entries(KINDS).flatMap(([kind, { files, taken }]) => {
    const drawnFiles = draw(`${seed} ${kind}`, files, taken);
    return files.filter((file) => !drawnFiles.includes(file));
  });
