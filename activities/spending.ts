/**
 * Decides who pays for a model call, and sees to it that there is enough before the call is made: in the budgets of its
 * run and, in live billing, in the wallet of its workspace, unless the call is made with the workspace's own
 * credential.
 */
import { pictureTokens } from '../src/platform/models/pictures.ts';
import {
  isWithoutProvider,
  ModelFailure,
  type ModelCall,
  type ModelCredentials,
  type Models,
  type PriceTerms,
  type ResolvedModel,
  type TokenUsage,
} from '../src/platform/models/types.ts';
import { limitOf } from '../src/resources/cost/limits/model.ts';
import { budgetsOf } from '../src/resources/cost/caps/model.ts';
import { chargeOf, USD_MICROS, type Tariff } from '../src/resources/billing/model.ts';
import type { Short } from '../src/resources/runs/store/budgets.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import type { TurnRecord } from '../src/resources/runs/store/turns.ts';

export interface SpendingDependencies {
  runs: Pick<RunStore, 'reserve'>;
  models: Pick<Models, 'price' | 'countTokens'>;
  /** @returns what the workspace is charged for models of the deployment; undefined where billing is not live */
  tariffOf: (customerId: string) => Promise<Tariff | undefined>;
}

/** The money of one call. */
export interface Spending {
  /**
   * Holds what the call may cost at worst.
   * @returns whether there was anything to hold it against
   * @throws ModelFailure budget_exceeded, model_unpriced before anything is spent
   */
  hold(): Promise<boolean>;
  /** The record of the call books what it cost to these. */
  budgetIds: readonly string[];
  /** Counts what the model is told, with the product's own tokenizer. */
  inputTokens(): Promise<number>;
  /** @returns US dollars as a decimal string; null where no price is known */
  costOf(usage: TokenUsage): string | null;
  /**
   * @returns what the record of the call moves in the wallet, once the cost is known
   * @param attempt set for a call that is not its turn's reply
   */
  wallet(costUsd: string | null, attempt?: number): TurnRecord['wallet'];
}

interface Call {
  run: RunInTurn;
  turn: number;
  resolved: ResolvedModel;
  credentials: ModelCredentials;
  request: {
    system: string;
    messages: unknown;
    pictures: ModelCall['pictures'];
    tools: unknown;
    maxOutputTokens: number;
  };
}

const isRouter = ({ resolved, credentials }: Call): boolean =>
  resolved.provider === 'openai-compatible' && credentials['openai-compatible']?.isRouter === true;
const isOwn = (call: Call): boolean =>
  !isRouter(call) && (call.credentials.own ?? []).some((name) => name === call.resolved.provider);

const termsOf = (call: Call): PriceTerms => ({
  isRouter: isRouter(call),
  ofServer: call.credentials['openai-compatible']?.price,
});

/** Says where the price is given: where the model was configured. `0` is a price. */
function wayOut(call: Call): string {
  if (call.resolved.provider !== 'openai-compatible' || isRouter(call)) return 'add it to MODEL_PRICES';
  const free = '0 if it costs nothing by the token, else <input>,<output> in US dollars for a million tokens';
  return isOwn(call)
    ? `give the integration openai-compatible its price (models.price: ${free})`
    : `set OPENAI_COMPATIBLE_PRICE (${free}), or add it to MODEL_PRICES`;
}

export const createSpending = ({ runs, models, tariffOf }: SpendingDependencies) => {
  const inputTokensOf = async ({ request: { system, messages, pictures, tools } }: Call): Promise<number> =>
    (await models.countTokens(JSON.stringify([system, messages, tools]))) + pictureTokens(pictures);

  /** @returns US dollars; null where no price is known */
  async function worstCase(call: Call): Promise<string | null> {
    const usage = { inputTokens: await inputTokensOf(call), outputTokens: call.request.maxOutputTokens };
    return models.price(call.resolved, usage, termsOf(call));
  }

  const unpriced = (call: Call, limit: string): ModelFailure => {
    const text = `no price is known for ${call.resolved.model}, so its ${limit} cannot be kept; ${wayOut(call)}`;
    return new ModelFailure('model_unpriced', text);
  };

  return {
    async spendingOf(call: Call): Promise<Spending> {
      const { run, turn, resolved } = call;
      const { customerId } = run;
      const budgetIds = budgetsOf(run);
      const isCapped = run.caps.some((id) => budgetIds.includes(id));
      const tariff = await tariffOf(customerId);
      const charged = tariff && !isOwn(call) ? tariff : undefined;
      return {
        async hold() {
          const isLimited = run.isLimited || isCapped || charged !== undefined;
          // A limit that is set while a provider is at work has to know what that may cost. The product itself answers at
          // once, and nobody bills it.
          if (!isLimited && isWithoutProvider(resolved.provider)) return false;
          const amountUsd = await worstCase(call);
          if (amountUsd === null && !isLimited) return false;
          if (amountUsd === null) throw unpriced(call, charged ? 'wallet' : 'budget');
          const wallet = charged && { customerId, micros: chargeOf(amountUsd, charged.markup) };
          const short = await runs.reserve({ runId: run.id, turn, budgetIds, amountUsd, wallet });
          if (short.length > 0) throw overBudget(amountUsd, wallet && String(wallet.micros / USD_MICROS), short);
          return true;
        },
        inputTokens: () => inputTokensOf(call),
        budgetIds,
        costOf: (usage) => models.price(resolved, usage, termsOf(call)),
        wallet: (costUsd, attempt) =>
          tariff && { customerId, charge: charged && chargeFor(call, charged, costUsd, attempt) },
      };
    },
  };
};

/** A cost below half a millionth of a dollar is charged nothing. */
function chargeFor(
  { run, turn, resolved }: Call,
  { kind, markup }: Tariff,
  costUsd: string | null,
  attempt: number | undefined,
) {
  const micros = costUsd === null ? 0 : chargeOf(costUsd, markup);
  if (micros === 0) return undefined;
  const projectId = run.budgetIds.find((id) => id.startsWith('project:'))?.slice('project:'.length);
  return {
    customerId: run.customerId,
    key: `run:${run.id}:${turn}${attempt === undefined ? '' : `:${attempt}`}`,
    kind,
    deltaUsdMicros: -micros,
    meta: { run_id: run.id, agent: run.agent, model: resolved.model, ...(projectId && { project_id: projectId }) },
  };
}

/** Tells every limit that is short, so that whoever raises one knows what else there is to raise. */
function overBudget(needsUsd: string, chargeUsd: string | undefined, short: readonly Short[]): ModelFailure {
  const limits = short.map((each) => ({
    limit: limitOf(each.budgetId).name,
    free_usd: each.freeUsd,
    needs_usd: each.needsUsd,
  }));
  const facts = { needs_usd: needsUsd, ...(chargeUsd !== undefined && { charge_usd: chargeUsd }), limits };
  return new ModelFailure('budget_exceeded', short.map(shortText).join('; '), { facts });
}

function shortText({ budgetId, freeUsd, needsUsd }: Short): string {
  const { kind, period, name, text } = limitOf(budgetId);
  const need = `the next call may cost ${needsUsd} USD and ${text} has ${freeUsd} USD left`;
  if (period !== null) return `${need}; raise it with \`aos costs cap ${name} <usd>\` or PUT /v1/cost/caps/${name}`;
  return `${need}; ${kind === 'wallet' ? 'buy credit' : 'raise it'}`;
}
