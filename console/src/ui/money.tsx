/** An amount. What has no known price is said to be a lower bound, and never shown as if it were nothing. */
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
