/** Computes days, weeks and months of a year as calendar dates. No clock and no time zone is involved. */

export interface Day {
  year: number;
  /** From 1 to 12. */
  month: number;
  day: number;
}

export interface Week {
  /** Always seven days, some of which may belong to the year before or after. */
  days: Day[];
  /** Weeks that begin on Monday are numbered as ISO 8601 does; other weeks are counted from the first of January. */
  number: number;
}

export const WEEK_STARTS = ['monday', 'sunday'] as const;
export type WeekStart = (typeof WEEK_STARTS)[number];

const DAY_MS = 86_400_000;
const toUtc = ({ year, month, day }: Day): number => new Date(0).setUTCFullYear(year, month - 1, day);
const fromUtc = (at: number): Day => {
  const date = new Date(at);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};
export const plusDays = (day: Day, count: number): Day => fromUtc(toUtc(day) + count * DAY_MS);
/** @returns 0 for the first day of the week, and 6 for the last */
export const weekdayOf = (day: Day, start: WeekStart): number =>
  (new Date(toUtc(day)).getUTCDay() + (start === 'monday' ? 6 : 0)) % 7;
export const idOf = ({ year, month, day }: Day): string =>
  [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');

/** ISO 8601 gives a week to the year that its Thursday is in. */
function isoNumber(monday: Day): number {
  const thursday = plusDays(monday, 3);
  return Math.floor((toUtc(thursday) - toUtc({ year: thursday.year, month: 1, day: 1 })) / DAY_MS / 7) + 1;
}

/** @returns every week that has at least one day in that year */
export function weeksOf(year: number, start: WeekStart): Week[] {
  const first: Day = { year, month: 1, day: 1 };
  const weeks: Week[] = [];
  for (let at = plusDays(first, -weekdayOf(first, start)); at.year <= year; at = plusDays(at, 7)) {
    const days = Array.from({ length: 7 }, (_, index) => plusDays(at, index));
    weeks.push({ days, number: start === 'monday' ? isoNumber(at) : weeks.length + 1 });
  }
  return weeks;
}

/** @returns those of `weeks` that have at least one day in that month */
export const weeksOfMonth = (weeks: readonly Week[], year: number, month: number): Week[] =>
  weeks.filter(({ days }) => days.some((day) => day.year === year && day.month === month));
