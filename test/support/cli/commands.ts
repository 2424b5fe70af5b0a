/** Every command of `aos` as it is declared. */
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';

export interface Leaf {
  /** Such as `runs list`. */
  name: string;
  command: Command;
}

export function leavesOf(command: Command = createProgram(), path: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

/** @returns one word for each argument that has to be there; `aos run` can do without a prompt only with --sample */
export const argumentsOf = ({ command }: Leaf, samples: Readonly<Record<string, string>> = {}): string[] =>
  command.registeredArguments
    .filter((argument) => argument.required || argument.name() === 'prompt')
    .map((argument) => samples[argument.name()] ?? argument.argChoices?.[0] ?? '1');
