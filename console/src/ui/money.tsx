/**
 * Shows an amount. Where something has no known price, the amount is shown as a lower bound and never as if that were
 * free.
 */
import { money } from './figures.ts';

export function Money({ usd, isPriced = true }: { usd: string; isPriced?: boolean }) {
  if (isPriced) return <span title={`$${usd}`}>{money(usd)}</span>;
  const isNothing = Number(usd) === 0;
  return (
    <span title="The price of a call was not known: what it cost is not in here">
      {isNothing ? 'unpriced' : `≥ ${money(usd)}`}
    </span>
  );
}
