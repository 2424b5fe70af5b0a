/** One process of the service, as a root of `src/` starts it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { first, present } from '../../../src/platform/core/present.ts';
import { inherited } from './inherited.ts';

export type Part = 'service' | 'api' | 'worker';

/** What each process runs, and the line that it logs when it works. */
export const COMMANDS: Record<Part, { args: string[]; readyLine: string }> = {
  service: { args: ['src/cli.ts', 'start'], readyLine: '"event":"ready"' },
  api: { args: ['src/api.ts'], readyLine: '"msg":"listening"' },
  worker: { args: ['src/worker.ts'], readyLine: '"msg":"worker started"' },
};

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Of what it printed, for `logged` and for errors. */
const KEPT = 1_000_000;

export interface RunningProcess {
  child: ChildProcess;
  /** Resolves with the exit code; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Resolves when it has printed this; rejects when it ends without. */
  logged(text: string): Promise<void>;
}

/**
 * @param logFile where all that it prints is appended
 * @param launcher a program with its arguments that starts it, and is it from then on
 */
export function startProcess(
  [file, ...args]: string[],
  env: Record<string, string>,
  cwd: string,
  logFile?: string,
  launcher: readonly string[] = [],
): RunningProcess {
  const command = [
    ...launcher,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(ROOT, present(file)),
    ...args,
  ];
  const child = spawn(first(command), command.slice(1), {
    // A folder without a .env.
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited(), ...env },
  });
  let output = '';
  const sink = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-KEPT);
      sink?.write(chunk);
    });
  }
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    sink?.end();
    return code as number | null;
  });
  return {
    child,
    ended,
    async logged(text) {
      while (!output.includes(text)) {
        if (isOver) throw new Error(`${file} ended before it said ${text}\n${output.slice(-4_000)}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
    },
  };
}
