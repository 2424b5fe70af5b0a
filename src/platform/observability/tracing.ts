/**
 * Sends traces where the standard `OTEL_*` variables say, which OpenTelemetry reads by itself; without an endpoint its
 * code is not even loaded.
 */
import type { Log } from '../core/log.ts';
import { traceIds } from './trace-ids.ts';

export interface Tracing {
  /** Sends what is left; after that nothing is traced. */
  close(): Promise<void>;
}

type Env = Record<string, string | undefined>;

const SERVICE_NAME = 'agent-orchestration-service';

const isTracingWanted = (env: Env): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
  env.OTEL_SDK_DISABLED !== 'true' &&
  env.OTEL_TRACES_EXPORTER !== 'none';

/** Opens tracing. Only one can be open at a time. */
export async function openTracing(env: Env, log: Log): Promise<Tracing | undefined> {
  if (!isTracingWanted(env)) return undefined;
  const [{ context, diag, DiagLogLevel, propagation, trace }, sdk, exporter, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  // A collector that is away is worth a line of the log, and no trouble of the service's.
  const warn = (reason: string) => log.warn({ reason }, 'traces could not be exported');
  const quiet = () => {};
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const named = resources.resourceFromAttributes({ 'service.name': SERVICE_NAME, 'process.pid': process.pid });
  const fromEnv = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.NodeTracerProvider({
    resource: named.merge(fromEnv),
    idGenerator: traceIds(new sdk.RandomIdGenerator()),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  provider.register();
  log.info('traces are exported');
  return {
    async close() {
      await provider.shutdown().catch((error: unknown) => warn(error instanceof Error ? error.message : 'lost'));
      for (const part of [trace, context, propagation]) part.disable();
    },
  };
}
