/**
 * Decides who pays for a model call, and sees to it that there is enough before the call is made: in the budgets of its
 * run and, in live billing, in the wallet of its workspace, unless the call is made with the workspace's own
 * credential.
 */
import type { OutputLimit } from '../src/platform/models/output-limit.ts';
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
import { decimalUsd } from '../src/platform/core/text.ts';
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

/** What a call came to, once it is known what it used. */
export interface Money {
  /** US dollars as a decimal string; null where no price is known. */
  costUsd: string | null;
  /**
   * What the cost is below that of the same tokens without a cache, in US dollars; above it, less than nothing. Undefined
   * where it is not known, as of what a gateway bills.
   */
  savedUsd: string | undefined;
  /** What the record of the call moves in the wallet. */
  wallet: TurnRecord['wallet'];
}

/** The money of one call. */
export interface Spending {
  /**
   * Holds what the call may cost at worst. Where a budget is short of that, the call may write what can still be paid.
   * @param least fewer tokens of output are of no use
   * @returns how much the call may write, and whether there was anything to hold it against
   * @throws ModelFailure budget_exceeded, model_unpriced before anything is spent
   */
  hold(limit: OutputLimit, least: number): Promise<{ limit: OutputLimit; isHeld: boolean }>;
  /** The record of the call books what it cost to these. */
  budgetIds: readonly string[];
  /** Counts what the model is told, with the product's own tokenizer. */
  inputTokens(): Promise<number>;
  /** @param attempt set for a call that is not its turn's reply */
  of(usage: TokenUsage, attempt?: number): Money;
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
    (await models.countTokens(JSON.stringify([system, tools, messages]))) + pictureTokens(pictures);

  /** @returns US dollars; null where no price is known */
  function worstCase(call: Call, usage: TokenUsage): string | null {
    // What goes into a cache costs more at some providers than what does not.
    const prices = [usage, { ...usage, cacheWriteTokens: usage.inputTokens }].map((each) => costOf(call, each));
    return prices.reduce((dear, price) => (Number(price) > Number(dear) ? price : dear), prices[0] ?? null);
  }

  const costOf = (call: Call, usage: TokenUsage) => models.price(call.resolved, usage, termsOf(call));

  function savedBy(call: Call, { inputTokens, outputTokens, billedUsd }: TokenUsage, costUsd: string) {
    const uncached = billedUsd === undefined ? costOf(call, { inputTokens, outputTokens }) : null;
    return uncached === null ? undefined : decimalUsd(Number(uncached) - Number(costUsd));
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
      let counted: Promise<number> | undefined;
      const countInput = () => (counted ??= inputTokensOf(call));
      return {
        async hold(limit, least) {
          const isLimited = run.isLimited || isCapped || charged !== undefined;
          // A limit that is set while a provider is at work has to know what that may cost. The product itself answers at
          // once, and nobody bills it.
          if (!isLimited && isWithoutProvider(resolved.provider)) return { limit, isHeld: false };
          const inputTokens = await countInput();
          const needsFor = (outputTokens: number): Needs | undefined => {
            const usd = worstCase(call, { inputTokens, outputTokens });
            return usd === null ? undefined : { usd, micros: charged && chargeOf(usd, charged.markup) };
          };
          const needed = Math.min(least, limit.tokens);
          let asked = limit;
          for (let triesLeft = 2; ; triesLeft -= 1) {
            const needs = needsFor(asked.tokens);
            if (!needs && !isLimited) return { limit, isHeld: false };
            if (!needs) throw unpriced(call, charged ? 'wallet' : 'budget');
            const { usd: amountUsd, micros } = needs;
            const wallet = micros === undefined ? undefined : { customerId, micros };
            const short = await runs.reserve({ runId: run.id, turn, budgetIds, amountUsd, wallet });
            if (short.length === 0) return { limit: asked, isHeld: true };
            const tokens = payable(short, asked.tokens, needsFor);
            if (tokens < needed) throw budgetBreach(needsFor(needed) ?? needs, short);
            // Others take money from the same budgets meanwhile.
            if (triesLeft === 0) throw budgetBreach(needs, short);
            asked = { tokens, by: 'budget' };
          }
        },
        inputTokens: countInput,
        budgetIds,
        of(usage, attempt) {
          const costUsd = costOf(call, usage);
          const savedUsd = costUsd === null ? undefined : savedBy(call, usage, costUsd);
          const charge = charged && chargeFor(call, charged, { costUsd, savedUsd }, attempt);
          return { costUsd, savedUsd, wallet: tariff && { customerId, charge } };
        },
      };
    },
  };
};

/** A cost below half a millionth of a dollar is charged nothing. */
function chargeFor(
  { run, turn, resolved }: Call,
  { kind, markup }: Tariff,
  { costUsd, savedUsd = '0' }: Omit<Money, 'wallet'>,
  attempt: number | undefined,
) {
  const micros = costUsd === null ? 0 : chargeOf(costUsd, markup);
  if (micros === 0) return undefined;
  const projectId = run.budgetIds.find((id) => id.startsWith('project:'))?.slice('project:'.length);
  const savedMicros = Number(savedUsd) > 0 ? chargeOf(savedUsd, markup) : 0;
  return {
    customerId: run.customerId,
    key: `run:${run.id}:${turn}${attempt === undefined ? '' : `:${attempt}`}`,
    kind,
    deltaUsdMicros: -micros,
    meta: {
      run_id: run.id,
      agent: run.agent,
      model: resolved.model,
      ...(projectId && { project_id: projectId }),
      ...(savedMicros > 0 && { saved_usd: decimalUsd(savedMicros / USD_MICROS) }),
    },
  };
}

/** What a call may cost at worst: in US dollars and, where the wallet is charged, in millionths of one with the markup. */
interface Needs {
  usd: string;
  micros: number | undefined;
}

/** @returns US dollars of a budget */
const needsOf = ({ budgetId }: Short, { usd, micros }: Needs): string =>
  limitOf(budgetId).kind === 'wallet' && micros !== undefined ? decimalUsd(micros / USD_MICROS) : usd;

const canPay = (budget: Short, needs: Needs): boolean => Number(needsOf(budget, needs)) <= Number(budget.freeUsd);

/** @returns the most tokens, below those that were asked for, that each budget can pay; -1 where that is not even one's input */
function payable(short: readonly Short[], asked: number, needsFor: (tokens: number) => Needs | undefined): number {
  let [most, tooMany] = [-1, asked];
  while (tooMany - most > 1) {
    const tokens = Math.floor((most + tooMany) / 2);
    const needs = needsFor(tokens);
    if (needs && short.every((budget) => canPay(budget, needs))) most = tokens;
    else tooMany = tokens;
  }
  return most;
}

/** Tells every limit that is short, so that whoever raises one knows what else there is to raise. */
function budgetBreach(needs: Needs, tried: readonly Short[]): ModelFailure {
  const unable = tried.filter((budget) => !canPay(budget, needs));
  const short = (unable.length > 0 ? unable : tried).map((each) => ({ ...each, needsUsd: needsOf(each, needs) }));
  const limits = short.map((each) => ({
    limit: limitOf(each.budgetId).name,
    free_usd: each.freeUsd,
    needs_usd: each.needsUsd,
  }));
  const charge = needs.micros === undefined ? {} : { charge_usd: decimalUsd(needs.micros / USD_MICROS) };
  const facts = { needs_usd: needs.usd, ...charge, limits };
  return new ModelFailure('budget_exceeded', short.map(shortText).join('; '), { facts });
}

function shortText({ budgetId, freeUsd, needsUsd }: Short): string {
  const { kind, period, name, text } = limitOf(budgetId);
  const need = `the next call may cost ${needsUsd} USD and ${text} has ${freeUsd} USD left`;
  if (period !== null) return `${need}; raise it with \`aos costs cap ${name} <usd>\` or PUT /v1/cost/caps/${name}`;
  return `${need}; ${kind === 'wallet' ? 'buy credit' : 'raise it'}`;
}
