/** What a month may come to, without a service. */
import { expect, test } from '@jest/globals';
import { daysBefore, forecastMonth } from '../../../src/resources/cost/forecast.ts';

/** 2026-11-25 is a Wednesday; six days of November are left with it. */
const TODAY = '2026-11-25';
const days = (usd: (weekday: number, day: string) => number, count = 28) =>
  daysBefore(TODAY, '2026-01-01', count).map((day) => ({ day, usd: usd(new Date(day).getUTCDay(), day) }));

// Guards: a weekday is taken to cost what it did; what is spent of today already counts once.
test('goes by weekdays', () => {
  const before = days((weekday) => (weekday === 0 || weekday === 6 ? 0 : 10));
  // Wednesday to Friday, no weekend, Monday.
  expect(forecastMonth(before, { day: TODAY, usd: 4 }, 100)).toEqual({ p50: 140, p90: 140 });
  expect(forecastMonth(before, { day: TODAY, usd: 25 }, 100)).toEqual({ p50: 155, p90: 155 });
});

// Guards: what differs from week to week gives a range, the same one each time.
test('says a range', () => {
  const before = days((_, day) => (day >= '2026-11-18' ? 40 : 10));
  const { p50, p90 } = forecastMonth(before, { day: TODAY, usd: 0 }, 0);
  expect(p50).toBeGreaterThan(60);
  expect(p90).toBeGreaterThan(p50 ?? 0);
  expect(p90).toBeLessThan(241);
  expect(forecastMonth(before, { day: TODAY, usd: 0 }, 0)).toEqual({ p50, p90 });
});

// Guards: less than a week foretells nothing, and days before the first run are none on which nothing was spent.
test('does not guess', () => {
  expect(
    forecastMonth(
      days(() => 1, 6),
      { day: TODAY, usd: 1 },
      0,
    ),
  ).toEqual({ p50: null, p90: null });
  expect(daysBefore(TODAY, '2026-11-23', 28)).toEqual(['2026-11-23', '2026-11-24']);
  expect(daysBefore(TODAY, null, 28)).toEqual([]);
  expect(daysBefore('2026-03-01', '2026-01-01', 2)).toEqual(['2026-02-27', '2026-02-28']);
});
