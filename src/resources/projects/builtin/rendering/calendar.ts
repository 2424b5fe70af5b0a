/** Days, weeks and months of a year, in plain calendar terms: no clock and no time zone comes into it. */

export interface Day {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
}

export interface Week {
  /** Seven, some of the year before or after. */
  days: Day[];
  /** As ISO 8601 counts, where weeks begin on Monday; else counted from the first of January. */
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
/** 0 is the first day of the week. */
export const weekdayOf = (day: Day, start: WeekStart): number =>
  (new Date(toUtc(day)).getUTCDay() + (start === 'monday' ? 6 : 0)) % 7;
export const idOf = ({ year, month, day }: Day): string =>
  [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');

/** The week of a year is that of its Thursday. */
function isoNumber(monday: Day): number {
  const thursday = plusDays(monday, 3);
  return Math.floor((toUtc(thursday) - toUtc({ year: thursday.year, month: 1, day: 1 })) / DAY_MS / 7) + 1;
}

/** Every week that has a day of that year. */
export function weeksOf(year: number, start: WeekStart): Week[] {
  const first: Day = { year, month: 1, day: 1 };
  const weeks: Week[] = [];
  for (let at = plusDays(first, -weekdayOf(first, start)); at.year <= year; at = plusDays(at, 7)) {
    const days = Array.from({ length: 7 }, (_, index) => plusDays(at, index));
    weeks.push({ days, number: start === 'monday' ? isoNumber(at) : weeks.length + 1 });
  }
  return weeks;
}

/** Those of `weeks` that have a day of that month. */
export const weeksOfMonth = (weeks: readonly Week[], year: number, month: number): Week[] =>
  weeks.filter(({ days }) => days.some((day) => day.year === year && day.month === month));
