/**
 * Tells what a call costs. Prices come from the packaged data of `@pydantic/genai-prices`; the operator's files override
 * and add. An unknown price is null, never zero: a budget must not take it for a free one.
 */
import { decimalUsd } from '../core/text.ts';
import type { TokenPrice } from '../core/server-price.ts';
import { idAtProvider } from './catalogue.ts';
import { packagedModel } from './known-models.ts';
import { isWithoutProvider, type Catalogue, type PriceTerms, type ResolvedModel, type TokenUsage } from './types.ts';

/**
 * The offline model has the price of a small model, so that costs, budgets and wallets are exercised without a provider
 * too.
 */
const OFFLINE_PRICE: TokenPrice = { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.4 };

function costOf(
  { input_usd_per_mtok: input, ...price }: TokenPrice,
  { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
): number {
  const { output_usd_per_mtok, cache_read_usd_per_mtok = input, cache_write_usd_per_mtok = input } = price;
  const perMillion =
    (inputTokens - cacheReadTokens - cacheWriteTokens) * input +
    cacheReadTokens * cache_read_usd_per_mtok +
    cacheWriteTokens * cache_write_usd_per_mtok +
    outputTokens * output_usd_per_mtok;
  return perMillion / 1_000_000;
}

export type PriceOf = (
  resolved: Pick<ResolvedModel, 'model' | 'provider'>,
  usage: TokenUsage,
  terms?: PriceTerms,
) => string | null;

export const createPrices =
  (catalogue: Catalogue): PriceOf =>
  ({ model, provider }, usage, { isRouter = false, ofServer } = {}) => {
    if (usage.billedUsd !== undefined) return decimalUsd(usage.billedUsd);
    const said = provider === 'openai-compatible' ? ofServer : undefined;
    const bare = isWithoutProvider(provider) ? model : idAtProvider(model, provider);
    const named = catalogue.priceOf(model, provider) ?? catalogue.priceOf(bare, provider);
    const own = named ?? said ?? (isWithoutProvider(provider) ? OFFLINE_PRICE : undefined);
    if (own) return decimalUsd(costOf(own, usage));
    // Whoever runs a compatible server sets its price; the same model costs something else at each host.
    if ((provider === 'openai-compatible' && !isRouter) || isWithoutProvider(provider)) return null;

    const counts = {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    };
    const found = isRouter ? packagedModel(model, 'openrouter', counts) : packagedModel(bare, provider, counts);
    return found && decimalUsd(found.total_price);
  };
