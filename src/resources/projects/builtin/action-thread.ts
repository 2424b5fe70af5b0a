/** What a thread does of `run-action.ts`. */
import { present } from '../../../platform/core/present.ts';
import { ActionError, type ActionMaterial } from './action.ts';
import { findAction } from './index.ts';

export type ActionOutcome = { output: unknown } | { refusal: string };

/** Nothing of the world is there for it: neither a way out nor a signal, as whoever waits ends the thread. */
export async function actionJob({
  name,
  material,
}: {
  name: string;
  material: ActionMaterial;
}): Promise<ActionOutcome> {
  try {
    const fetch = () => Promise.reject(new Error('a pure action reaches nobody'));
    return {
      output: await present(findAction(name)).run({ ...material, signal: new AbortController().signal, fetch }),
    };
  } catch (error) {
    if (error instanceof ActionError) return { refusal: error.message };
    // The stack is used up: what it was given is nested, and would be so the next time.
    if (error instanceof RangeError) return { refusal: 'what it works on is nested too deeply' };
    throw error;
  }
}
