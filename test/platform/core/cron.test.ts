import { expect, test } from '@jest/globals';
import { cronProblem, cronUnion, nextRun } from '../../../src/platform/core/cron.ts';

const AFTER = new Date('2026-11-21T10:00:00Z'); // a Saturday

// Guards: five fields of numbers are accepted, and nothing that other crons add.
test.each(['* * * * *', '*/15 0-6 1,15 * 1-5', '0 9 * * 7', ' 5  4 * * 0 '])('takes %j', (cron) => {
  expect(cronProblem(cron)).toBeUndefined();
});

// Guards: a bad expression is clearly refused, and never makes a job that does not run or runs at another time.
test.each([
  '',
  '* * * *',
  '* * * * * *',
  '@daily',
  '@every 5m',
  'CRON_TZ=Europe/Berlin 0 9 * * *',
  '0 9 * * MON',
  '0 9 * JAN *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '0 0 31 2 *',
  '*/0 * * * *',
  '5-1 * * * *x',
  '0 0 L * *',
  '0 0 ? * *',
])('refuses %j', (cron) => {
  expect(cronProblem(cron)).toEqual(expect.any(String));
});

// Guards: a restricted day of month and a restricted day of week mean either, here and in Temporal.
test('joins the two kinds of day with "or"', () => {
  expect(nextRun('0 12 25 * 1', AFTER)?.toISOString()).toBe('2026-11-23T12:00:00.000Z');
  expect(cronUnion('0 12 25 * 1')).toEqual(['0 12 25 * *', '0 12 * * 1']);
  expect(cronUnion('0 12 25 * *')).toEqual(['0 12 25 * *']);
  expect(cronUnion('0 12 */2 * 1')).toEqual(['0 12 */2 * 1']);
  expect(nextRun('0 0 */2 * 2', AFTER)?.toISOString()).toBe('2026-12-01T00:00:00.000Z');
});

// Guards against: the machine's time zone, in which an hour is missing or comes twice when the clocks change.
test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])('is of UTC wherever it is, %s', (zone) => {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    for (const day of ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01']) {
      for (const hour of ['01', '02', '03']) {
        const next = nextRun(`30 ${Number(hour)} * * *`, new Date(`${day}T00:00:00Z`));
        expect(next?.toISOString()).toBe(`${day}T${hour}:30:00.000Z`);
      }
    }
  } finally {
    process.env.TZ = before ?? 'UTC';
  }
});
