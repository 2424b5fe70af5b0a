/** What a built-in action is to the step that runs it: code of the product, where an agent would be a model. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import type { Effect } from '../../runs/model.ts';

/** What an action works on: all of it is handed to it. */
export interface ActionMaterial {
  project: { id: string; title: string; brief: string; params: Record<string, unknown> };
  /** Outputs of the steps of this phase that it waits for, by step slug. */
  inputs: Record<string, unknown>;
  /** Current artifacts of the phases that its phase depends on, by phase slug. */
  artifacts: Record<string, unknown>;
  /** Names the steps and phases to take from first; see `sourcesOf`. */
  instructions: string | null;
}

/** What an action may use. No database and no service. */
export interface ActionContext extends ActionMaterial {
  /** Fires when the step is cancelled or out of time. */
  signal: AbortSignal;
  fetch: GuardedFetch;
}

export interface Action {
  /** The `assignee` of an action step. */
  name: string;
  description: string;
  /** `read` and `idempotent` are repeated after a failure, `irreversible` gets one attempt. */
  effect: Effect;
  /** It looks at its material and at nothing else: it is done in a thread, since all it does grows with texts of others. */
  isPure?: true;
  /** @throws ActionError for what no repetition would change; anything else counts as a failure and is retried */
  run(context: ActionContext): Promise<unknown>;
}

/** A refusal with a reason for people: something is missing, or not what the action can work on. */
export class ActionError extends Error {
  override name = 'ActionError';
}
