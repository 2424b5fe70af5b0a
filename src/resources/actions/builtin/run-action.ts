/** Runs an action where it belongs: a pure one in a thread with limits, any other in this process. */
import { isLargerThan } from '../../../platform/core/json.ts';
import { runInThread, ThreadLimitError, type Job } from '../../../platform/threads/threads.ts';
import { ActionError, type Action, type ActionContext, type ActionMaterial } from './action.ts';
import type { ActionOutcome } from './action-thread.ts';

/**
 * The limit, in characters, of all material of an action. The longest book of a template that ships has about a tenth
 * of it.
 */
const MAX_MATERIAL = 4_000_000;
const TIMEOUT_MS = 30_000;

/** @throws ActionError also where a limit is passed, because no repetition would change that */
export async function runAction(action: Action, { signal, fetch, ...material }: ActionContext): Promise<unknown> {
  if (!action.isPure) return action.run({ ...material, signal, fetch });
  const { name } = action;
  if (isLargerThan(MAX_MATERIAL, material)) {
    throw new ActionError(`${name} can work on ${MAX_MATERIAL} characters, and the steps before it gave more`);
  }
  const job: Job<{ name: string; material: ActionMaterial }, ActionOutcome> = {
    module: new URL('./action-thread.ts', import.meta.url),
    name: 'actionJob',
    title: name,
    timeoutMs: TIMEOUT_MS,
  };
  const outcome = await runInThread(job, { name, material }, signal).catch((error: unknown) => {
    throw error instanceof ThreadLimitError ? new ActionError(error.message) : error;
  });
  if ('refusal' in outcome) throw new ActionError(outcome.refusal);
  return outcome.output;
}
