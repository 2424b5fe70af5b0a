/** A process that stands still says so: in its metrics for how long, in its log what was under way. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { first, present } from '../../../src/platform/core/present.ts';
import { createMeters, type Meters } from '../../../src/platform/observability/meters.ts';
import { watchStalls, type Stalls } from '../../../src/platform/observability/stalls.ts';
import { compute, standIdle } from '../../support/faults/hold.ts';
import { scrapeText } from '../../support/observability/scrape.ts';

let meters: Meters;
let stalls: Stalls;
let lines: { own_ms: number; stood_still_ms: number; under_way: string[] }[];

beforeEach(() => {
  meters = createMeters();
  lines = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  stalls = watchStalls({ meters, log: createLog({ level: 'warn', pretty: false, destination }) });
});
afterEach(() => stalls.stop());

/** Until the standstill has been seen. */
const ticked = () => new Promise((resolve) => setTimeout(resolve, 250));
const page = async () => scrapeText(await meters.registry.metrics());
async function over250(name: string): Promise<number> {
  const { value } = await page();
  return present(value(`${name}_count`)) - present(value(`${name}_bucket`, { le: '0.25' }));
}

// Guards: a standstill is measured at its full length, even if it is much shorter than a scrape's interval.
test('work that holds the loop up is counted as its own', async () => {
  await ticked();
  compute(600);
  await ticked();
  expect(await over250('aos_event_loop_delay_seconds')).toBeGreaterThanOrEqual(1);
  expect(await over250('aos_event_loop_own_delay_seconds')).toBeGreaterThanOrEqual(1);
});

// Guards: a busy machine is not mistaken for a busy process.
test('what waits without computing is late, and not by its own work', async () => {
  await ticked();
  standIdle(600);
  await ticked();
  expect(await over250('aos_event_loop_delay_seconds')).toBeGreaterThanOrEqual(1);
  expect(await over250('aos_event_loop_own_delay_seconds')).toBe(0);
  expect(first(lines).own_ms).toBeLessThan(first(lines).stood_still_ms / 2);
});

/** Long enough for the loop to be found calm, and then some of a calm wait. */
const calm = (ms: number) => new Promise((resolve) => setTimeout(resolve, 500 + ms));

// Guards: a process at rest is not woken all the time to see whether it stands still, and a standstill that begins then is
// told in full.
test('a calm loop is looked at seldom, and misses nothing', async () => {
  await calm(0);
  const looks = async () => present((await page()).value('aos_event_loop_delay_seconds_count'));
  const before = await looks();
  await calm(1_500);
  expect((await looks()) - before).toBeLessThan(40);

  for (const ms of [0, 40, 80, 120, 160]) {
    await calm(ms);
    await page();
    compute(300);
    await ticked();
    expect((await page()).value('aos_event_loop_longest_own_delay_seconds')).toBeGreaterThan(0.25);
  }
});

// Guards: the longest standstill is the one since the last scrape.
test('each scrape tells its own longest standstill', async () => {
  await ticked();
  compute(3_000);
  await ticked();
  const longest = async () => present((await page()).value('aos_event_loop_longest_delay_seconds'));
  expect(await longest()).toBeGreaterThan(2);
  await ticked();
  expect(await longest()).toBeLessThan(2);
});

// Guards: the log line names the work around a standstill, and comes once however often it happens.
test('the log says what was under way', async () => {
  await ticked();
  stalls.begin(() => 'callModel');
  stalls.begin(() => 'GET /v1/runs/{run_id}')();
  await ticked();
  stalls.begin(() => 'POST /v1/runs')();
  compute(600);
  await ticked();
  compute(600);
  await ticked();
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'the event loop stood still',
      under_way: ['POST /v1/runs', 'callModel'],
      untold_before: 0,
    }),
  ]);
});
