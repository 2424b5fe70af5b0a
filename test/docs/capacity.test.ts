/** The capacity worksheet: what its lines are computed from. */
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { present } from '../../src/platform/core/present.ts';
import { planCapacity, type Figures } from '../bench/capacity-plan.ts';

const FIGURES = fileURLToPath(new URL('../../docs/figures/load.json', import.meta.url));
const demand = { runsPerSecond: 100, utilization: 0.5, poolSize: 10, temporalRetentionDays: 7, keptDays: 90 };
const figures: Figures = {
  date: '2026-01-01',
  machine: 'a test',
  perRun: {
    cpuMs: { api: 2, worker: 7, postgres: 3, temporal: 5 },
    rows: 12,
    bytes: 4_096,
    walBytes: 8_192,
    temporalActions: 3,
    historyEvents: 11,
    historyBytes: 2_048,
    queries: 9,
  },
};
const valueOf = (what: string, given = figures, more: Partial<typeof demand> = {}): number =>
  present(planCapacity(given, { ...demand, ...more }).find((line) => line.what === what)).value;

// Guards: each line follows its formula: processes are whole numbers and never too few, everything else is in
// proportion to the rate.
test('lines', () => {
  expect(valueOf('API processes')).toBe(1); // 100 x 2 ms = 0.2 of a core, at half: 0.4
  expect(valueOf('Worker processes')).toBe(2); // 1.4
  expect(valueOf('Temporal actions')).toBe(300);
  expect(valueOf('Postgres writes')).toBe(200); // a page a run, to the log and by a checkpoint
  expect(valueOf('Postgres connections')).toBe(3 * 10 + 20);
  expect(valueOf('Postgres size')).toBeCloseTo((100 * 4_096 * 86_400 * 90) / 2 ** 30);
  expect(valueOf('Postgres size', figures, { runsPerSecond: 1_000 })).toBeCloseTo(10 * valueOf('Postgres size'));
});

// Guards: the number of shards can never be changed, so there are enough from the start, and it is a power of two.
test('history shards', () => {
  expect(valueOf('History shards')).toBe(512);
  expect(valueOf('History shards', figures, { runsPerSecond: 2_000 })).toBe(1_024); // 550 by the sum
});

// Guards: the worksheet can read the stored figures, whoever measured them last.
test('figures of this repository', () => {
  const kept = JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures;
  expect(kept.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const { value, what } of planCapacity(kept, demand)) expect([what, value > 0]).toEqual([what, true]);
});
