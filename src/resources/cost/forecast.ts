/** What a month may come to, from what was spent on each weekday before. Pure. */

export interface SpentDay {
  /** UTC, such as `2026-11-25`. */
  day: string;
  usd: number;
}

export interface Forecast {
  /** Null where too little is known. */
  p50: number | null;
  p90: number | null;
}

/** Fewer days than a week say nothing of weekdays. */
const LEAST_DAYS = 7;
const TRIES = 2_000;
const DAY_MS = 86_400_000;

const atMidnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const weekdayOf = (ms: number): number => new Date(ms).getUTCDay();

/**
 * Lets the rest of the month happen so often: each day takes what one of the same weekdays before it took, or, of a weekday that has
 * not been yet, any day. The same days give the same forecast.
 * @param before whole days, each once, also those on which nothing was spent
 * @param today what is spent today; the rest of it may still come
 * @param month what was spent on the days of this month before today
 */
export function forecastMonth(before: readonly SpentDay[], today: SpentDay, month: number): Forecast {
  if (before.length < LEAST_DAYS) return { p50: null, p90: null };
  const start = atMidnight(today.day);
  const end = Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + 1, 1);
  const byWeekday = new Map<number, number[]>();
  for (const { day, usd } of before) {
    const weekday = weekdayOf(atMidnight(day));
    byWeekday.set(weekday, [...(byWeekday.get(weekday) ?? []), usd]);
  }
  const all = before.map(({ usd }) => usd);
  const random = seeded(17);
  const pick = (from: readonly number[]): number => from[Math.floor(random() * from.length)] ?? 0;
  const sums = Array.from({ length: TRIES }, () => {
    let sum = month;
    for (let at = start; at < end; at += DAY_MS) {
      const like = pick(byWeekday.get(weekdayOf(at)) ?? all);
      sum += at === start ? Math.max(today.usd, like) : like;
    }
    return sum;
  }).sort((a, b) => a - b);
  return { p50: sums[TRIES / 2] ?? null, p90: sums[TRIES * 0.9] ?? null };
}

/** @returns the whole days before this one, at most so many, and none before the first, the oldest first */
export function daysBefore(today: string, first: string | null, most: number): string[] {
  const days = Array.from({ length: most }, (_, n) =>
    new Date(atMidnight(today) - (most - n) * DAY_MS).toISOString().slice(0, 10),
  );
  return first === null ? [] : days.filter((day) => day >= first);
}

/** Numbers that look random from 0 to below 1 (Park and Miller). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
