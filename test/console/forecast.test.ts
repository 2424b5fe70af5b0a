/** What a month will have cost. */
import { expect, test } from '@jest/globals';
import { forecastMonth } from '../../console/src/features/costs/forecast.ts';

const NOW = new Date('2026-05-11T00:00:00Z');
const day = (n: number, usd: number) => ({ key: `2026-05-${String(n).padStart(2, '0')}`, cost_usd: String(usd) });

// Guards: the same amount every day makes a forecast without a band: 10 days that were and 21 that are left.
test('a steady month comes to its days', () => {
  const days = Array.from({ length: 10 }, (_, i) => day(i + 1, 2));
  expect(forecastMonth(days, NOW)).toEqual({ spent: 20, low: 62, likely: 62, high: 62, days: 10 });
});

// Guards: a day on which nothing ran cost nothing, and is no day that is not known.
test('days without a run count as days', () => {
  const found = forecastMonth([day(1, 10), day(10, 10)], NOW);
  expect(found).toMatchObject({ spent: 20, days: 10 });
  expect(found?.likely).toBeCloseTo(20 + 2 * 21);
  expect(found?.high).toBeGreaterThan(found?.likely ?? Infinity);
});

// Guards: it can never come to less than what was spent; days of the month before inform it and are not added.
test('it is never below what was spent', () => {
  const days = [{ key: '2026-04-25', cost_usd: '0' }, day(10, 100)];
  const found = forecastMonth(days, NOW);
  expect(found).toMatchObject({ spent: 100, low: 100, days: 16 });
});

// Guards: a forecast from nothing.
test('too few days make none', () => {
  expect(forecastMonth([], NOW)).toBeUndefined();
  expect(forecastMonth([day(9, 1), day(10, 1)], NOW)).toBeUndefined();
});
