/**
 * Tells what a call costs. Prices come from the packaged data of `@pydantic/genai-prices`; an operator's file overrides
 * and adds. An unknown price is null, never zero: a budget must not take it for a free one.
 */
import type * as GenaiPrices from '@pydantic/genai-prices';
import { z } from 'zod';
import { ConfigError, faultsIn } from '../core/config.ts';
import { readSettingFile } from '../core/setting-file.ts';
import { withoutTrailingZeros } from '../core/text.ts';
import { whenUsed } from '../core/when-used.ts';
import type { TokenPrice } from '../core/server-price.ts';
import { isWithoutProvider, type PriceTerms, type ResolvedModel, type TokenUsage } from './types.ts';

const usdPerMillionTokens = z.number('expects US dollars for a million tokens').min(0);
const PriceFile = z.record(
  z.string(),
  z.strictObject({
    input_usd_per_mtok: usdPerMillionTokens,
    output_usd_per_mtok: usdPerMillionTokens,
    cache_read_usd_per_mtok: usdPerMillionTokens.optional(),
    cache_write_usd_per_mtok: usdPerMillionTokens.optional(),
  }),
);

/**
 * The offline model has the price of a small model, so that costs, budgets and wallets are exercised without a provider
 * too.
 */
const OFFLINE_PRICE: TokenPrice = { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.4 };

/** @throws ConfigError that names the file and the entry */
function readPriceFile(path: string): z.infer<typeof PriceFile> {
  const parsed = PriceFile.safeParse(readSettingFile('MODEL_PRICES', path));
  if (parsed.success) return parsed.data;
  throw new ConfigError(faultsIn(`MODEL_PRICES: ${path}`, parsed.error));
}

/** @returns the amount with up to eight decimals, without exponent and trailing zeros */
const decimal = (usd: number): string => withoutTrailingZeros(usd.toFixed(8));

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

/** It takes 35 ms and 19 MB. */
const packagedPrices = whenUsed<typeof GenaiPrices>('@pydantic/genai-prices');

export type PriceOf = (
  resolved: Pick<ResolvedModel, 'model' | 'provider'>,
  usage: TokenUsage,
  terms?: PriceTerms,
) => string | null;

/** @param file the path that `MODEL_PRICES` names */
export function createPrices(file?: string): PriceOf {
  const overrides = new Map(Object.entries(file ? readPriceFile(file) : {}));
  return ({ model, provider }, usage, { isRouter = false, ofServer } = {}) => {
    const said = provider === 'openai-compatible' ? ofServer : undefined;
    const own = overrides.get(model) ?? said ?? (isWithoutProvider(provider) ? OFFLINE_PRICE : undefined);
    if (own) return decimal(costOf(own, usage));
    // Whoever runs a compatible server sets its price; the same model costs something else at each host.
    if ((provider === 'openai-compatible' && !isRouter) || isWithoutProvider(provider)) return null;

    const counts = {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    };
    const found = packagedPrices().calcPrice(counts, model, { providerId: isRouter ? 'openrouter' : provider });
    // Some entries match by prefix, so that a newer version (`-5-5`) would get the price of the older (`-5`).
    const isNewerVersion =
      found && model.startsWith(found.model.id) && /^[-.]\d{1,2}(\D|$)/.test(model.slice(found.model.id.length));
    return found && !isNewerVersion ? decimal(found.total_price) : null;
  };
}
