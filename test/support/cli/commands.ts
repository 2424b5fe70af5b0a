/** Every command of `aos` as it is declared, and running them within the test's own process, many at once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';
import { runCommand } from '../../../src/cli/run-command.ts';

export interface Leaf {
  /** Such as `runs list`. */
  name: string;
  command: Command;
}

export function leavesOf(command: Command = createProgram(), path: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

/** @returns one word for each argument that has to be there */
export const argumentsOf = ({ command }: Leaf, samples: Readonly<Record<string, string>> = {}): string[] =>
  command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => samples[argument.name()] ?? argument.argChoices?.[0] ?? '1');

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Takes what commands print, each its own.
 * @returns `run`, which runs one with nothing on its standard input, and `end`, which gives the terminal back
 */
export function takeTerminal() {
  const running = new AsyncLocalStorage<Omit<Outcome, 'code'>>();
  const { stdout, stderr, stdin } = process;
  const take = (stream: NodeJS.WriteStream, name: 'stdout' | 'stderr') => {
    const write = stream.write.bind(stream);
    stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
      const outcome = running.getStore();
      if (!outcome) return write(chunk, ...rest);
      outcome[name] += String(chunk);
      return true;
    }) as typeof stream.write;
    return () => (stream.write = write);
  };
  const give = [take(stdout, 'stdout'), take(stderr, 'stderr')];
  Object.defineProperty(process, 'stdin', { value: Readable.from([]), configurable: true });
  return {
    async run(...args: string[]): Promise<Outcome> {
      const outcome = { stdout: '', stderr: '' };
      const code = await running.run(outcome, () => runCommand(args));
      return { code, ...outcome };
    },
    end() {
      for (const back of give) back();
      Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
    },
  };
}
