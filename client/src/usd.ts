/** Adds amounts in US dollars, which are decimals in text because a float would lose digits far behind the point. */

const SCALE = 12;

/** @param amounts are decimals; null counts as zero */
export function sumUsd(amounts: readonly (string | null)[]): string {
  const total = amounts.reduce((sum, amount) => sum + (amount === null ? 0n : unitsOf(amount)), 0n);
  const digits = total.toString().padStart(SCALE + 1, '0');
  let end = digits.length;
  while (digits[end - 1] === '0' && end > digits.length - SCALE) end -= 1;
  const [whole, fraction] = [digits.slice(0, -SCALE), digits.slice(digits.length - SCALE, end)];
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const unitsOf = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
};
