/**
 * Logs are JSON lines on stdout, and pretty on a terminal. A field whose name may stand for a credential is redacted.
 */
import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { traceFields } from '../observability/spans.ts';

export type Log = Logger;

const SECRET_PATHS = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-service-session"]',
  'req.headers["x-service-admin"]',
  'req.headers["x-operator-token"]',
  'req.headers["x-service-otp-code"]',
];

export interface LogOptions {
  level?: string;
  pretty?: boolean;
  /** Lines go here instead of to stdout. It cannot be combined with `pretty`. */
  destination?: DestinationStream;
}

export const createLog = ({ level = 'info', pretty = process.stdout.isTTY, destination }: LogOptions) =>
  pino(
    {
      level,
      mixin: () => traceFields() ?? {},
      serializers: { err: (error: unknown) => stdSerializers.err(withoutParameters(error) as Error) },
      redact: { paths: SECRET_PATHS, censor: '***' },
      ...(pretty
        ? { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss', ignore: 'pid,hostname' } } }
        : {}),
    },
    destination,
  );

/**
 * The query builder's errors carry every parameter in their message: prompts, outputs, sealed secrets. Nothing of that
 * belongs in a log line or in a workflow's history, so what leaves is the database's own error, which names the cause.
 */
export function withoutParameters(error: unknown): unknown {
  const isQueryError = error instanceof Error && 'query' in error && 'params' in error;
  return isQueryError ? (error.cause ?? new Error('a query failed')) : error;
}
