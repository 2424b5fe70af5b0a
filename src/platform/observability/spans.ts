/**
 * Spans of traces. They name what was done and how it ended, by code; never a message, an argument or an address, as
 * whoever reads traces need not be one who may read the tenants' content. Without a tracer all of it does nothing.
 */
import {
  context,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
} from '@opentelemetry/api';
import { fieldsOf } from '../core/record.ts';

/**
 * The tracer is asked for each time, because one that is kept stays with the tracing that was open when it was first
 * used.
 */
export const tracer = () => trace.getTracer('agent-orchestration-service');

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
}

/** Does the work inside of a span with that name. */
export function inSpan<T>(
  name: string,
  { kind = SpanKind.INTERNAL, attributes = {} }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer().startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeOf(error));
}

/** @returns the name that the product or a library gave to the error */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, type } = fieldsOf(error);
  const named = [type, code].find((name) => typeof name === 'string' && /^\w{1,64}$/.test(name));
  return (named as string | undefined) ?? error.name;
}

/** @returns whether a trace is going on here and is recorded */
export const isTraced = (): boolean => trace.getActiveSpan()?.isRecording() ?? false;

/** @returns the ids of the current span, for log lines */
export function traceFields(): { trace_id: string; span_id: string } | undefined {
  const span = trace.getSpanContext(context.active());
  if (!span || !isSpanContextValid(span)) return undefined;
  return { trace_id: span.traceId, span_id: span.spanId };
}

const UUID = /^[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/**
 * @returns the current trace as a UUID, for records; null where the trace's id, which a caller may have named, is none
 */
export function traceUuid(): string | null {
  const id = traceFields()?.trace_id;
  if (id === undefined || !UUID.test(id)) return null;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
