/** Forecasts what a month will have cost, from the days that are over. Pure. */

interface DayOfCosts {
  /** As `2026-05-31`, in UTC. */
  key: string | null;
  cost_usd: string;
}

export interface Forecast {
  /** In US dollars, since the first of the month. */
  spent: number;
  low: number;
  likely: number;
  high: number;
  /** So many days are what it rests on. */
  days: number;
}

const DAY_MS = 86_400_000;
/** Fewer days say nothing about how much they differ. */
const ENOUGH = 3;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * Adds to what the month has cost the mean of the days that are over, once for each day that is left. The band is two
 * standard deviations of that sum to both sides. A day without a row cost nothing; days before the first row count not.
 * @param days of the last 30 days, oldest first, those without any run left out
 * @returns undefined where too few days are over
 */
export function forecastMonth(days: readonly DayOfCosts[], now: Date): Forecast | undefined {
  const costs = new Map(days.flatMap(({ key, cost_usd: usd }) => (key === null ? [] : [[key, Number(usd)]])));
  const [first] = [...costs.keys()].sort();
  const today = dayOf(now.getTime());
  if (first === undefined) return undefined;
  const over: number[] = [];
  for (let at = Date.parse(first); dayOf(at) < today; at += DAY_MS) over.push(costs.get(dayOf(at)) ?? 0);
  if (over.length < ENOUGH) return undefined;

  const mean = over.reduce((sum, usd) => sum + usd, 0) / over.length;
  const variance = over.reduce((sum, usd) => sum + (usd - mean) ** 2, 0) / (over.length - 1);
  const spent = [...costs].reduce((sum, [key, usd]) => (key.slice(0, 7) === today.slice(0, 7) ? sum + usd : sum), 0);
  const lastDay = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  // What is left of today counts as a share of a day.
  const gone = (now.getTime() % DAY_MS) / DAY_MS;
  const left = lastDay - now.getUTCDate() + (1 - gone);
  const likely = spent + mean * left;
  const band = 2 * Math.sqrt(variance * left);
  return { spent, low: Math.max(spent, likely - band), likely, high: likely + band, days: over.length };
}
