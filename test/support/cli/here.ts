/**
 * Runs commands of `aos` within the test's own process, many at once: each has an environment, a standard input and an
 * output of its own. A process takes half a second of CPU to begin.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { runCommand } from '../../../src/cli/run-command.ts';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

interface Terminal {
  env: NodeJS.ProcessEnv | undefined;
  stdin: Readable;
  stdout: string;
  stderr: string;
}

const running = new AsyncLocalStorage<Terminal>();
let isTaken = false;

/** From then on a command has its own where everybody else has what the process has. */
function takeTerminal(): void {
  if (isTaken) return;
  isTaken = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
      const terminal = running.getStore();
      if (!terminal) return write(chunk, ...rest);
      terminal[name] += String(chunk);
      return true;
    }) as typeof stream.write;
  }
  for (const name of ['stdin', 'env'] as const) {
    const own: unknown = process[name];
    Object.defineProperty(process, name, {
      get: () => running.getStore()?.[name] ?? own,
      configurable: true,
    });
  }
}

/**
 * @param env all that it has; what this process has where it is not given
 * @param input on its standard input
 */
export async function runHere(args: readonly string[], env?: NodeJS.ProcessEnv, input?: string): Promise<Outcome> {
  takeTerminal();
  const terminal: Terminal = { env, stdin: Readable.from(input === undefined ? [] : [input]), stdout: '', stderr: '' };
  const code = await running.run(terminal, () => runCommand(args));
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

let last: Promise<unknown> = Promise.resolve();

/** The same, one after another: what a command says of its exit code it says of the whole process. */
export function runInTurn(args: readonly string[], env: NodeJS.ProcessEnv, input?: string): Promise<Outcome> {
  const run = last.then(async () => {
    const before = process.exitCode;
    process.exitCode = undefined;
    try {
      const outcome = await runHere(args, env, input);
      return { ...outcome, code: outcome.code || Number(process.exitCode ?? 0) };
    } finally {
      process.exitCode = before;
    }
  });
  last = run.catch(() => {});
  return run;
}
