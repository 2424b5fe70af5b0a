/** Small changes of text for which a pattern would be hard to read, or slow on hostile input. */

/**
 * Prepares an address to have a path put after it. The look-behind makes the search begin once for a run of slashes
 * instead of once for each.
 */
export const withoutTrailingSlashes = (url: string): string => url.replace(/(?<!\/)\/+$/, '');

/** `0.0420` -> `0.042`, `2.00` -> `2`. @param amount a decimal number without exponent */
export const withoutTrailingZeros = (amount: string): string =>
  amount.includes('.') ? amount.replace(/(?<!0)0+$/, '').replace(/\.$/, '') : amount;

/** @returns US dollars with up to eight decimals, without exponent and trailing zeros */
export const decimalUsd = (usd: number): string => withoutTrailingZeros(usd.toFixed(8));

/** Takes out what is shaped like a key, whatever it stands in. */
export const withoutKeys = (text: string): string =>
  text.replace(/\b(?:sk|pk|key|api|xai|gsk|ghp|gho|xoxb)[-_][\w*.-]{6,}|\bBearer\s+\S+/gi, '***');
