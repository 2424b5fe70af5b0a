/**
 * Ids of traces: UUIDs without their dashes, as records of the product take nothing else; random, except where something
 * that has no trace to join has a lasting id of its own to name one.
 */
import { randomUUID } from 'node:crypto';
import type { IdGenerator } from '@opentelemetry/sdk-trace-node';

// It is set for the moment in which a span begins, and for nothing else.
let wanted: string | undefined;

/** @param begin begins a span, synchronously; where it is a root, its trace has this id of 32 hex digits */
export function inTraceOf<T>(traceId: string, begin: () => T): T {
  wanted = traceId;
  try {
    return begin();
  } finally {
    wanted = undefined;
  }
}

export const traceIds = (random: IdGenerator): IdGenerator => ({
  generateTraceId: () => wanted ?? randomUUID().replaceAll('-', ''),
  generateSpanId: () => random.generateSpanId(),
});
