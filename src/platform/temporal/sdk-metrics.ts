/**
 * A page on this machine's loopback address where the native part of the Temporal SDK shows what it counts: latencies of
 * tasks, free slots, requests that failed. The metrics listener reads it and shows it beside ours.
 */
import type { TelemetryOptions } from '@temporalio/worker';
import { freePort } from '../core/port.ts';

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
