/** What Prometheus reads of a process: how requests went, what waits, and what the process takes. It names no tenant. */
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { notFound } from './app.ts';

/** So many of a kind that are in a state, and for how long the oldest has been there. */
export interface Backlog {
  kind: string;
  status: string;
  count: number;
  oldestS: number;
}

export interface Metrics {
  /** Times the requests of a listener. */
  recordFor: (listener: string) => RequestHandler;
  /** Answers a scrape. Mount at its address. */
  serve: RequestHandler;
}

const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** @param readBacklog asked at each scrape */
export function createMetrics(readBacklog: () => Promise<readonly Backlog[]>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    ...{ name: 'aos_http_request_duration_seconds', help: 'Time to answer a request', registers },
    ...{ labelNames: ['listener', 'method', 'route', 'status'] as const, buckets: BUCKETS_S },
  });
  const labelNames = ['kind', 'status'] as const;
  const backlog = new Gauge({
    ...{
      name: 'aos_backlog',
      help: 'Runs, projects and deliveries that are not done, by status',
      registers,
      labelNames,
    },
  });
  const oldest = new Gauge({
    ...{ name: 'aos_backlog_oldest_seconds', help: 'Age of the oldest of them', registers, labelNames },
  });
  const isDatabaseUp = new Gauge({
    ...{ name: 'aos_database_up', help: '1 while the database answers; without it there is no backlog', registers },
  });

  async function readAll(): Promise<void> {
    const rows = await readBacklog().catch(() => undefined);
    isDatabaseUp.set(rows ? 1 : 0);
    backlog.reset();
    oldest.reset();
    for (const { kind, status, count, oldestS } of rows ?? []) {
      backlog.set({ kind, status }, count);
      oldest.set({ kind, status }, oldestS);
    }
  }

  return {
    recordFor: (listener) => (request, response, next) => {
      const end = requests.startTimer({ listener, method: request.method });
      // The pattern of an address, not the address: ids in labels would be a series each.
      response.once('finish', () => {
        const { route = 'other' } = response.locals as { route?: string };
        end({ route, status: response.statusCode });
      });
      next();
    },
    async serve(request, response, next) {
      if (request.method !== 'GET' || request.path !== '/') return notFound(request, response, next);
      await readAll();
      response.type(registry.contentType).send(await registry.metrics());
    },
  };
}
