/**
 * The server's span of a request, by the pattern of its address. On the control plane, which our own gateway and operators
 * ask, it continues the trace that the caller names; on the gateway it only links it: strangers do not decide what is
 * recorded here. The answer names the trace in `traceresponse`.
 */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import type { RequestHandler, Response } from 'express';
import { tracer } from '../observability/spans.ts';

const UNTRACED = new Set(['/healthz', '/readyz', '/metrics']);

export const traceRequests =
  (listener: string, { trustsCaller }: { trustsCaller: boolean }): RequestHandler =>
  (request, response, next) => {
    if (UNTRACED.has(request.path)) return next();
    const callers = propagation.extract(ROOT_CONTEXT, request.headers);
    const caller = trace.getSpanContext(callers);
    const isJoined = trustsCaller && caller !== undefined;
    const attributes = { 'http.request.method': request.method, 'aos.listener': listener };
    const links = caller && !isJoined ? [{ context: caller }] : [];
    const parent = isJoined ? callers : ROOT_CONTEXT;
    const span = tracer().startSpan(request.method, { kind: SpanKind.SERVER, attributes, links }, parent);
    const { traceId, spanId, traceFlags } = span.spanContext();
    const active = trace.setSpan(parent, span);
    if (trace.isSpanContextValid(span.spanContext())) {
      const flags = traceFlags.toString(16).padStart(2, '0');
      response.setHeader('traceresponse', `00-${traceId}-${spanId}-${flags}`);
      // The proxy passes the headers on to a control plane in another process.
      propagation.inject(active, request.headers);
    }
    response.locals.trace = active;
    response.once('close', () => {
      const { route = 'other' } = response.locals as { route?: string };
      span.updateName(`${request.method} ${route}`);
      span.setAttributes({
        'http.route': route,
        'http.response.status_code': response.statusCode,
        'aos.request_id': String(request.id),
      });
      if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(active, next);
  };

/**
 * Goes on in the trace of a request where it may have been lost: bodies are read by events of the connection, which
 * have no context.
 */
export const inTraceOf = <T>({ locals }: Response, work: () => T): T =>
  context.with((locals.trace as Context | undefined) ?? context.active(), work);
