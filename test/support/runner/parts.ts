/**
 * Files that start whole services or browsers, ask every endpoint, or have much to do, for one kind of check: of each kind a
 * run that draws takes some.
 */
import { draw } from './sizes.ts';

const inFolder = (folder: string, names: string): string[] =>
  names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);

export const KINDS: Readonly<Record<string, { files: readonly string[]; taken: number }>> = {
  'walks in the console': {
    files: inFolder('console', 'acts done-when models projects rest runs sections snippets viewer'),
    taken: 2,
  },
  'kills, restores and long waits': {
    files: [
      ...inFolder('e2e', 'backup export-kill idempotency-kill kill lost-answers mail-kill project-kill stop'),
      ...inFolder('workflows', 'long-waits'),
    ],
    taken: 2,
  },
  'what is hostile': {
    files: [
      ...inFolder('security', 'bodies egress hostile-content hostile-input hostile-texts'),
      ...inFolder('platform/documents', 'hostile'),
    ],
    taken: 2,
  },
  'every endpoint, asked by whom it is not for': {
    files: [
      ...inFolder('security', 'auth-matrix bound-statements caps headers tenancy'),
      ...inFolder('platform/http', 'proxy-declared'),
    ],
    taken: 2,
  },
  'as others have it': {
    files: [
      ...inFolder('client', 'package'),
      ...inFolder('docs', 'commands.e2e typescript'),
      ...inFolder('embedded', 'demo.e2e full-disk.e2e login.e2e start.e2e'),
    ],
    taken: 2,
  },
  'upgrades, restarts and what a database goes through': {
    files: [
      ...inFolder('embedded', 'loaded-at-start.e2e one-writer postgres-session prepared-database'),
      ...inFolder('platform/temporal', 'deployments'),
      ...inFolder('security', 'rotate-secrets'),
    ],
    taken: 2,
  },
  'much, and many at once': {
    files: [
      ...inFolder('cli', 'memory-re-embed'),
      ...inFolder('deployment', 'slots-of-workers'),
      ...inFolder('platform/models', 'embed'),
      ...inFolder('resources/event-log', 'order'),
      ...inFolder('resources/exports', 'archive s3'),
      ...inFolder('resources/housekeeping', 'fair lost-work'),
      ...inFolder('resources/projects', 'scale'),
      ...inFolder('resources/retention', 'references'),
      ...inFolder('resources/runs', 'large-outputs'),
      ...inFolder('resources/workspaces', 'tenants-model'),
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
