/**
 * Temporal as the service uses it. One native connection serves the client and the worker of a process: that is what
 * lets a workflow start on the worker beside the route that accepted it, without a round trip.
 */
import { Client, type ConnectionLike } from '@temporalio/client';
import { IllegalStateError, type DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  type LogEntry,
  type NativeConnection,
} from '@temporalio/worker';
import type { Log } from '../core/log.ts';
import { tracingClient } from './observe.ts';
import { dataConverterOf } from './payload-codec.ts';
import { PunctualConnection, unpunctualEagerStarts } from './punctual.ts';
import { sdkMetrics } from './sdk-metrics.ts';

export interface Temporal {
  connection: NativeConnection;
  client: Client;
  namespace: string;
  /** Host and port of its frontend. */
  address?: string | undefined;
  /** Workers use the same one: what one side seals, the other opens. */
  dataConverter: DataConverter;
  /** The SDK shows its counts at this address, which only this machine can reach. */
  metricsUrl?: string | undefined;
  /** A route waits so long for its answer, in the place of what it waits for otherwise (`problems.ts`). */
  answersWithinMs?: number;
  close(): Promise<void>;
}

export interface ConnectOptions {
  log: Log;
  codecKeys?: string | undefined;
  giveUpAfterMs?: number;
  /** Makes the SDK count. The first connection of a process decides. */
  withMetrics?: boolean;
}

/**
 * Connects with the standard settings (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS_*`,
 * or a profile file) and waits for the frontend, since the worker does not retry its first connection.
 */
export async function connectTemporal(
  env: Record<string, string | undefined>,
  { log, codecKeys, giveUpAfterMs = 120_000, withMetrics = false }: ConnectOptions,
): Promise<Temporal> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: env as Record<string, string>,
  });
  sdkLog = log;
  const { metricsUrl } = await (installed ??= install(withMetrics));
  const dataConverter = dataConverterOf(codecKeys);
  const deadline = performance.now() + giveUpAfterMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      const connection = await PunctualConnection.connect(connectionOptions);
      const client = new Client({
        connection: connection as ConnectionLike,
        namespace,
        dataConverter,
        interceptors: { workflow: [tracingClient, unpunctualEagerStarts] },
      });
      const { address } = connectionOptions;
      const close = () => closeUnlessHeld(connection);
      return { connection, client, namespace, address, dataConverter, metricsUrl, close };
    } catch (error) {
      if (performance.now() + waitMs > deadline) throw error;
      log.info({ address: connectionOptions.address }, 'waiting for the Temporal frontend');
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

/** Closes the connection, unless a worker that could not end still holds it, which it does until the process ends. */
async function closeUnlessHeld(connection: NativeConnection): Promise<void> {
  await connection.close().catch((error: unknown) => {
    if (!(error instanceof IllegalStateError)) throw error;
  });
}

/** The log of the last connection. */
let sdkLog: Log;
let installed: Promise<{ metricsUrl: string | undefined }> | undefined;
/**
 * Makes the SDK log through the product's log, and lets it show its counts. It allows this once a process, before its
 * first connection.
 */
async function install(withMetrics: boolean) {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }: LogEntry) =>
    sdkLog[levels[level]]({ sdk: { ...meta, error: undefined }, err: meta?.error as unknown }, message),
  );
  // The entry points of a process handle signals and stop everything in order. Without forwarding, the SDK's native
  // part would print lines of its own among the JSON.
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) };
  const metrics = withMetrics ? await sdkMetrics() : undefined;
  const telemetryOptions = { logging, ...(metrics && { metrics: metrics.telemetry }) };
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions });
  return { metricsUrl: metrics?.url };
}
