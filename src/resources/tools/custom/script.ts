/** Runs JavaScript: the body of `async (args) => { ... }`, whose returned JSON value is the result. */
import { z } from 'zod';
import { messageOf } from '../../../platform/core/causes.ts';
import type { ScriptSandbox } from '../../../platform/sandbox/script.ts';
import { customKind, TimeoutS } from './kind.ts';
import { sandboxed } from './sandboxed.ts';

const MAX_SCRIPT = 64 * 1_024;
const DEFAULT_TIMEOUT_S = 10;

/**
 * It compiles what it is given and does not run it, so that a script with a fault in its grammar is refused when it is
 * written.
 */
const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

const faultIn = (script: string): string | undefined => {
  try {
    new AsyncFunction('args', script);
    return undefined;
  } catch (error) {
    return `script: ${messageOf(error)}`;
  }
};

export const createScript = (sandbox: ScriptSandbox) =>
  sandboxed(
    customKind({
      defaults: { shape: 'cli', sensitive: true, effect: 'irreversible' },
      body: z.strictObject({ script: z.string().min(1).max(MAX_SCRIPT), timeout_s: TimeoutS.optional() }),
      check: ({ script }) => faultIn(script),
      execute: ({ script, timeout_s = DEFAULT_TIMEOUT_S }, args, { customerId, signal }) =>
        sandbox.run({ script, args, timeoutMs: timeout_s * 1_000, owner: customerId, signal }),
    }),
    () => undefined,
  );
