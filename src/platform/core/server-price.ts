/**
 * The price of a model on a server of one's own, as people write it where they name the server: `0` for one that costs
 * nothing by the token, else `<input>,<output>` in US dollars for a million tokens. Nothing is not zero: without a price
 * a budget cannot be kept, and the cost is shown as unpriced.
 */
export interface TokenPrice {
  input_usd_per_mtok: number;
  output_usd_per_mtok: number;
  /** Of what is read from the provider's cache, and written to it. Without a price of its own it costs what other input does. */
  cache_read_usd_per_mtok?: number | undefined;
  cache_write_usd_per_mtok?: number | undefined;
}

export const PRICE_FORM =
  'expects 0 for a model that costs nothing by the token, or US dollars for a million tokens as <input>,<output>, such as 0.15,0.60';

const AMOUNT = /^\d{1,6}(\.\d{1,8})?$/;

/** @returns undefined for what is no price */
export function tokenPriceIn(text: string): TokenPrice | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => AMOUNT.test(part))) return undefined;
  const [input, output] = parts.map(Number);
  if (input === undefined || parts.length > 2) return undefined;
  // One number for both would be read as either by half of those who see it; of zero there is no doubt.
  if (output === undefined) return input === 0 ? { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } : undefined;
  return { input_usd_per_mtok: input, output_usd_per_mtok: output };
}
