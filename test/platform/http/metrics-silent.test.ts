/** The page of metrics while what it asks does not answer. */
import { afterEach, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import type { Meters } from '../../../src/platform/observability/meters.ts';
import { metricsPage } from '../../../src/platform/http/metrics.ts';

afterEach(() => void jest.useRealTimers());

// Guards: a database that is connected but silent is reported within the time that a scrape has.
test('a silent database is seen', async () => {
  // What other tests of this process left ticking asks it for more than fakes have.
  jest.useFakeTimers({ doNotFake: ['performance'] });
  const silent = () => new Promise<never>(() => {});
  const page = metricsPage({
    meters: { registry: new Registry() } as unknown as Meters,
    poolUse: () => ({ used: 1, idle: 0, waiting: 3 }),
    askDatabase: silent,
    readBacklog: silent,
    askTemporal: async () => {},
  });
  const sent = new Promise<string>((resolve) => {
    const response = { type: () => ({ send: resolve }) } as unknown as Response;
    void page({ method: 'GET', path: '/' } as Request, response, () => {});
  });
  await jest.advanceTimersByTimeAsync(5_000);
  const text = await sent;
  expect(text).toContain('aos_database_up 0');
  expect(text).toContain('aos_temporal_up 1');
});
