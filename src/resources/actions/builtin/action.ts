/** Defines a built-in action: code of the product that carries a step out, where other steps have an agent's model. */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import type { Effect } from '../../runs/model.ts';

/** Everything that an action works on is handed to it in this value. */
export interface ActionMaterial {
  project: { id: string; title: string; brief: string; params: Record<string, unknown> };
  /** Outputs of the steps that its own step depends on, by step slug. */
  inputs: Record<string, unknown>;
  /** Current artifacts of the phases that its own phase depends on, by phase slug. */
  artifacts: Record<string, unknown>;
  /** Names the steps and phases whose material is taken first; `sourcesOf` reads it. */
  instructions: string | null;
}

/** Everything that an action may use. It gets no database and no service. */
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
  /**
   * A pure action reads its material and nothing else. It runs in a thread with limits, because its work grows with
   * texts that models and tenants wrote.
   */
  isPure?: true;
  /**
   * @throws ActionError for a refusal that no repetition would change; any other error counts as a failure and is
   * retried
   */
  run(context: ActionContext): Promise<unknown>;
}

/** Refuses the work with a reason that people can read: something is missing, or the action cannot work on it. */
export class ActionError extends Error {
  override name = 'ActionError';
}
