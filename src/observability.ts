/** Opens the metrics listener of a process, for Prometheus and for the probes of whatever runs the process. */
import { sql } from 'drizzle-orm';
import express from 'express';
import { compressed } from './platform/http/compressed.ts';
import { metricsPage } from './platform/http/metrics.ts';
import { listen, type HttpListener } from './platform/http/server.ts';
import { withinDeadline } from './platform/temporal/problems.ts';
import type { Runtime } from './runtime.ts';
import type { Services } from './compose/services.ts';

/** A part of the service while it is up. */
export interface Part {
  /** @throws Error that says why it cannot serve at the moment */
  check?(): void;
}

const outsideOf = ({ db, temporal }: Runtime) => ({
  askDatabase: () => db.rows(sql`select 1`),
  askTemporal: () => withinDeadline(temporal, () => temporal.connection.workflowService.getSystemInfo({})),
});

/** Makes the page that a listener shows at `/metrics`. One process in a deployment has to tell of the backlog. */
export const metricsOf = (runtime: Runtime, { meters, system, disk }: Services) =>
  express.Router().use(
    compressed,
    metricsPage({
      meters,
      ...outsideOf(runtime),
      poolUse: runtime.db.use,
      freeOnDisk: disk.free,
      ...(runtime.config.SURFACES !== 'gateway' && { readBacklog: system.backlog, readChores: system.choresBehind }),
      sdkUrl: runtime.temporal.metricsUrl,
    }),
  );

/**
 * Opens `METRICS_PORT`, if it is set: `/metrics`, `/healthz` (503: start it anew) and `/readyz`.
 * @param parts what is up; nothing, while the process starts
 */
export async function openMetrics(
  runtime: Runtime,
  services: Services,
  parts: readonly Part[],
): Promise<HttpListener | undefined> {
  const { METRICS_PORT: port, METRICS_HOST: host } = runtime.config;
  if (port === undefined) return undefined;
  const { askDatabase, askTemporal } = outsideOf(runtime);
  const listener = await listen({
    port,
    setting: 'METRICS_PORT',
    host,
    log: runtime.log,
    alive: () => parts.forEach((part) => part.check?.()),
    async ready() {
      if (parts.length === 0) throw new Error('it is starting');
      await Promise.all([askDatabase(), askTemporal()]);
    },
    routers: [['/metrics', metricsOf(runtime, services)]],
  });
  runtime.log.info({ metrics: listener.url }, 'metrics are served');
  return listener;
}
