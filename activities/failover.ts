/**
 * Has a run go on with the next of its models while the provider of the one that it asks is out. Which models these are
 * somebody has said: the agent, or the deployment where the agent leaves the choice to it.
 */
import type { Config } from '../src/platform/core/config.ts';
import { ModelFailure, type Models, type ResolvedModel } from '../src/platform/models/types.ts';
import type { TurnOutcome } from '../src/resources/runs/model.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import type { Answering } from './turn-beginning.ts';
import { preview } from './turn-record.ts';

export interface FailoverDependencies {
  runs: Pick<RunStore, 'failOver' | 'release'>;
  models: Pick<Models, 'resolve' | 'isOut'>;
  settings: Pick<Config, 'MODEL_FALLBACKS'>;
}

/** A model that a run asks, and who asks it for what. */
export interface FailoverRequest extends Answering {
  run: RunInTurn;
  turn: number;
}

export const createFailover = ({ runs, models, settings }: FailoverDependencies) => {
  /** Whoever asked for one model by name is not given another one. */
  function idsFor({ agent, resolved: { rule } }: FailoverRequest): readonly string[] {
    if (rule === 'override') return [];
    if (agent.fallbackModels.length > 0) return agent.fallbackModels;
    const isOurChoice = agent.isBuiltin || rule.startsWith('auto_') || rule === FALLBACK;
    return isOurChoice ? settings.MODEL_FALLBACKS : [];
  }

  /** @returns the next model that can be called */
  function nextOf(asked: FailoverRequest): ResolvedModel | undefined {
    const { resolved, credentials, run } = asked;
    const ids = idsFor(asked);
    const at = resolved.rule === FALLBACK ? ids.indexOf(resolved.model) : -1;
    for (const override of ids.slice(at + 1)) {
      try {
        const next = models.resolve({ model: 'auto', override, prompt: run.prompt }, credentials);
        const isSame = next.model === resolved.model && next.provider === resolved.provider;
        if (!isSame && next.rule === 'override')
          return { ...next, rule: FALLBACK, enforce: resolved.enforce, reasoning: resolved.reasoning };
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
      }
    }
    return undefined;
  }

  /** @param made attempts at the turn so far @returns the outcome that has this model asked */
  async function goOn(
    asked: FailoverRequest,
    next: ResolvedModel,
    made: number,
    why: ModelFailure,
  ): Promise<TurnOutcome> {
    const { run, turn, resolved } = asked;
    const payload = { turn, from: resolved.model, to: next.model, code: why.code, error: preview(why.message) };
    const event = { key: `turn:${turn}:failover:${made}`, type: 'model_failover' as const, payload };
    // What is held was reckoned for the other model.
    await runs.release(run.id);
    await runs.failOver({ runId: run.id, turn, from: resolved, to: next, event });
    return { kind: 'again', earlier: { made, elsewhere: made } };
  }

  return {
    nextOf,
    goOn,

    /** The same before a call that would most likely be in vain. */
    async goAround(asked: FailoverRequest, made: number): Promise<TurnOutcome | undefined> {
      const { resolved, credentials } = asked;
      const next = nextOf(asked);
      if (!next || !models.isOut(resolved, credentials)) return undefined;
      const text = `${resolved.provider} has answered none of the latest calls, and is not asked for a while`;
      return goOn(asked, next, made, new ModelFailure('model_unavailable', text));
    },
  };
};

/** The rule by which such a model answers. */
const FALLBACK = 'fallback';

/** @returns whether another provider may do better, once this one has had all of its attempts */
export const isOutage = ({ code }: ModelFailure, hasBegun: boolean): boolean =>
  code === 'model_unavailable' || code === 'model_rate_limited' || (code === 'model_timeout' && !hasBegun);
