/**
 * Runs a program of the machine in bubblewrap, without a shell. It gets the arguments in its argv and as JSON on its
 * input.
 */
import { z } from 'zod';
import type { CommandSandbox } from '../../../platform/sandbox/command.ts';
import { customKind, TimeoutS } from './kind.ts';
import { fillArgv, resultOf, sandboxed } from './sandboxed.ts';

const DEFAULT_TIMEOUT_S = 30;
const MAX_ARGUMENTS = 100;
const MAX_ARGUMENT = 8_000;

/** The program is the author's choice, not the model's. */
const Program = z
  .string()
  .min(1)
  .max(MAX_ARGUMENT)
  .regex(/^[^{}]*$/, 'names the program, so it has no {param}');

export const Argv = z
  .tuple([Program], z.string().max(MAX_ARGUMENT))
  .refine(({ length }) => length <= MAX_ARGUMENTS, `at most ${MAX_ARGUMENTS}`);

export const createCommand = (sandbox: CommandSandbox) =>
  sandboxed(
    customKind({
      defaults: { shape: 'cli', sensitive: true, effect: 'irreversible' },
      body: z.strictObject({ argv: Argv, timeout_s: TimeoutS.optional() }),
      async execute({ argv, timeout_s = DEFAULT_TIMEOUT_S }, args, { customerId, signal }, tool) {
        const request = { stdin: JSON.stringify(args), timeoutMs: timeout_s * 1_000, owner: customerId, signal };
        return resultOf(await sandbox.run(fillArgv(argv, tool, args), request));
      },
    }),
    sandbox.problem,
  );
