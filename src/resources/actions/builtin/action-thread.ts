/** Holds the part of `run-action.ts` that runs inside a worker thread. */
import { present } from '../../../platform/core/present.ts';
import { ActionError, type ActionMaterial } from './action.ts';
import { findAction } from './index.ts';

export type ActionOutcome = { output: unknown } | { refusal: string };

/**
 * Runs one pure action. It has no way out and no signal, because the caller enforces the time limit by ending the
 * thread.
 */
export async function actionJob({
  name,
  material,
}: {
  name: string;
  material: ActionMaterial;
}): Promise<ActionOutcome> {
  try {
    const fetch = () => Promise.reject(new Error('a pure action has no network: remove isPure, or the call of fetch'));
    return {
      output: await present(findAction(name)).run({ ...material, signal: new AbortController().signal, fetch }),
    };
  } catch (error) {
    if (error instanceof ActionError) return { refusal: error.message };
    // The stack overflowed because the material is nested too deeply, and a repetition would overflow it again.
    if (error instanceof RangeError) return { refusal: 'what it works on is nested too deeply' };
    throw error;
  }
}
