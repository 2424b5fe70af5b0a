/** Everything that the kinds which run a program in a sandbox have in common. */
import { SandboxError } from '../../../platform/sandbox/sandbox-error.ts';
import type { ProgramResult } from '../../../platform/sandbox/program.ts';
import { ToolError } from '../model.ts';
import type { CustomKind, ToolBody } from './kind.ts';
import { fill, missingIn, placeholdersIn, undeclaredIn } from './placeholders.ts';

/** @param problem tells why this deployment runs none of that kind */
export const sandboxed = (kind: CustomKind, problem: () => string | undefined): CustomKind => ({
  ...kind,
  checkBody: (tool) => problem() ?? kind.checkBody(tool),
  async execute(tool, args, context) {
    try {
      return await kind.execute(tool, args, context);
    } catch (error) {
      throw error instanceof SandboxError ? new ToolError(`${tool.slug}: ${error.message}`) : error;
    }
  },
});

const MAX_SHOWN = 4_000;

/** @throws SandboxError with what the program wrote, where it did not end well */
export const resultOf = ({ exitCode, stdout, stderr }: ProgramResult) => {
  if (exitCode === 0) return { exit_code: 0, stdout, stderr };
  const written = [stderr, stdout].map((text) => text.slice(0, MAX_SHOWN).trim()).filter(Boolean);
  throw new SandboxError([`it ended with exit code ${exitCode}`, ...written].join('\n').toWellFormed());
};

/**
 * Each element stays one argument, whatever is put in its places; one whose argument was not given is left out. Braces
 * around anything but a parameter are the program's own: `{print $1}`.
 */
export const fillArgv = (
  argv: readonly string[],
  { schema }: Pick<ToolBody, 'schema'>,
  args: Record<string, unknown>,
) => {
  const isParameter = (name: string) => undeclaredIn(`{${name}}`, schema) === undefined;
  return argv
    .filter(
      (text) => !placeholdersIn(text).some((name) => isParameter(name) && missingIn(`{${name}}`, args) !== undefined),
    )
    .map((text) =>
      text.replace(/\{([^{}]*)\}/g, (whole, name: string) => (isParameter(name) ? fill(whole, args) : whole)),
    );
};
