/**
 * Runs JavaScript of strangers: the body of `async (args) => { ... }`, whose returned JSON value is the result. Each
 * run has a thread and an interpreter of its own (some 75 ms to start), so that nothing is left behind for the next
 * one, the service's event loop goes on, and whatever a script does can be ended.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../core/causes.ts';
import { JsonDepthError, parseJson, TOO_DEEP } from '../core/json.ts';
import { storable, storableText } from '../core/storable.ts';
import { SandboxError } from './sandbox-error.ts';
import type { ScriptJob, ScriptOutcome } from './script-worker.ts';
import type { Slots } from './slots.ts';

/**
 * The thread gets this long beyond the limit, to start and for the interpreter to notice by itself that the time is
 * over.
 */
const GRACE_MS = 1_500;
const MAX_RESULT = 256 * 1_024;
const MAX_CONSOLE = 8 * 1_024;

export interface ScriptSandbox {
  /** @throws SandboxError with what the script threw, or why it was ended */
  run(request: {
    script: string;
    args: Record<string, unknown>;
    timeoutMs: number;
    owner: string;
    signal: AbortSignal;
  }): Promise<unknown>;
}

export const createScriptSandbox = ({ memoryBytes, slots }: { memoryBytes: number; slots: Slots }): ScriptSandbox => {
  const execute = async (
    job: Pick<ScriptJob, 'script' | 'args' | 'timeoutMs'>,
    signal: AbortSignal,
  ): Promise<ScriptOutcome> => {
    const workerData: ScriptJob = { ...job, memoryBytes, maxResult: MAX_RESULT, maxConsole: MAX_CONSOLE };
    const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
      workerData,
      // A script that found a way out of the interpreter would still find no setting of the service.
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    });
    const tooLong = AbortSignal.timeout(job.timeoutMs + GRACE_MS);
    try {
      const [outcome] = (await once(worker, 'message', { signal: AbortSignal.any([signal, tooLong]) })) as [
        ScriptOutcome,
      ];
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      if (tooLong.aborted) return { timedOut: true, console: '' };
      // The thread ran out of its own stack or memory before QuickJS noticed.
      return { error: messageOf(error), console: '' };
    } finally {
      await worker.terminate();
    }
  };

  return {
    async run({ script, args, timeoutMs, owner, signal }) {
      const job = { script, args: JSON.stringify(args), timeoutMs };
      const outcome = await slots.run(owner, signal, () => execute(job, signal));
      if ('result' in outcome) {
        return storable(resultOf(outcome.result));
      }
      const reason = 'error' in outcome ? outcome.error : `it was not done within ${timeoutMs / 1_000} seconds`;
      const message = outcome.console ? `${reason}\nIts console:\n${outcome.console}` : reason;
      throw new SandboxError(storableText(message));
    },
  };
};

function resultOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonDepthError ? new SandboxError(`its result is ${TOO_DEEP}`) : error;
  }
}
