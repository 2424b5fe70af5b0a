/**
 * A page on this machine's loopback address where the native part of the Temporal SDK shows what it counts: latencies of
 * tasks, free slots, requests that failed. The metrics listener reads it and shows it beside ours.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';
import { portOf } from '../core/port.ts';

export interface SdkMetrics {
  url: string;
  telemetry: NonNullable<TelemetryOptions['metrics']>;
}

export async function sdkMetrics(): Promise<SdkMetrics> {
  const address = `127.0.0.1:${await freePort()}`;
  return {
    url: `http://${address}/metrics`,
    telemetry: {
      prometheus: { bindAddress: address, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
    },
  };
}

/**
 * @returns a port that is free now, because the SDK does not tell which port it took and cannot be left to choose one
 */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}
