/**
 * Runs one command. Whatever goes wrong is told in one shape: a line on standard error that begins with `error:`, and exit code 1
 * unless the error has another. What belongs to it stands below it: indented, or in brackets where it is advice.
 */
import { CommanderError, type Command } from 'commander';
import { ConfigError } from '../platform/core/config.ts';
import { CliError, paint, printAside } from './output.ts';
import { createBase } from './base.ts';
import { addStartCommand } from './start.ts';

/** @returns the exit code, where the command has not set another one */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    const program = await programFor(args);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // It has said so already.
    if (error instanceof CommanderError) return error.exitCode;
    printAside(`${paint('red', 'error:')} ${explain(error).replaceAll(/\n(?! {2})/g, '\n  ')}`);
    if (!(error instanceof CliError)) return 1;
    if (error.forPrograms && args.includes('--json')) printAside(`  ${JSON.stringify(error.forPrograms)}`);
    return error.exitCode;
  }
}

/** The service is started with nothing of the other commands in its way, nor in its memory. */
async function programFor([command]: readonly string[]): Promise<Command> {
  if (command !== 'start') return (await import('./program.ts')).createProgram();
  const program = createBase();
  addStartCommand(program);
  return program;
}

/** What nobody expected is told with where it happened, for whoever mends it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CliError || error instanceof ConfigError ? error.message : (error.stack ?? error.message);
}
