/** Small changes of texts that a pattern makes hard to read or, written at first thought, slow on hostile ones. */

/** Before a path is put after it. The look-behind lets the search begin once in a run of slashes and not at each. */
export const withoutTrailingSlashes = (url: string): string => url.replace(/(?<!\/)\/+$/, '');

/** `0.0420` -> `0.042`, `2.00` -> `2`. @param amount a decimal number without exponent */
export const withoutTrailingZeros = (amount: string): string =>
  amount.includes('.') ? amount.replace(/(?<!0)0+$/, '').replace(/\.$/, '') : amount;
