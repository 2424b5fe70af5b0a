/**
 * What is counted and traced where work goes to Temporal and comes back: starts and messages on the client's side,
 * activities on the worker's. Between the two `workflows/shared/trace-carrier.ts` hands the trace on. The SDK's own
 * OpenTelemetry interceptors are not used: theirs for workflows changes what replays, and all put messages of errors
 * into spans.
 */
import { context, isSpanContextValid, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Context as ActivityContext } from '@temporalio/activity';
import { type Info } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { CancelledFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { present } from '../core/present.ts';
import type { Meters } from '../observability/meters.ts';
import type { Stalls } from '../observability/stalls.ts';
import { failSpan, inSpan, tracer, type SpanOptions } from '../observability/spans.ts';
import { inTraceOf } from '../observability/trace-ids.ts';

const TRACE_HEADER = '_tracer-data';
type Headers = Record<string, Payload>;

const isTracing = (): boolean => {
  const active = trace.getSpanContext(context.active());
  return active !== undefined && isSpanContextValid(active);
};

/** A trace that is not recorded is passed on too, so that nobody later decides otherwise. */
function traced(headers: Headers): Headers {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}

const of = (workflowId: string | undefined): SpanOptions => ({
  kind: SpanKind.CLIENT,
  attributes: { 'temporal.workflow.id': workflowId },
});

export const tracingClient: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    if (!isTracing()) return next(input);
    return inSpan(`start ${input.workflowType}`, of(input.options.workflowId), async (span) => {
      const started = await next({ ...input, headers: traced(input.headers) });
      span.setAttribute('temporal.eagerly_started', started.eagerlyStarted);
      return started;
    });
  },
  signal(input, next) {
    if (!isTracing()) return next(input);
    const { workflowId } = input.workflowExecution;
    return inSpan(`signal ${input.signalName}`, of(workflowId), () =>
      next({ ...input, headers: traced(input.headers) }),
    );
  },
  startUpdate(input, next) {
    if (!isTracing()) return next(input);
    const { workflowId } = input.workflowExecution;
    return inSpan(`update ${input.updateName}`, of(workflowId), () =>
      next({ ...input, headers: traced(input.headers) }),
    );
  },
};

interface Recorders {
  meters: Pick<Meters, 'taskQueueWait' | 'scheduleLag'>;
  stalls: Pick<Stalls, 'begin'>;
}

/** @param queuePrefix stands before the name of each task queue */
export const observeActivities =
  ({ meters, stalls }: Recorders, queuePrefix: string): ActivityInterceptorsFactory =>
  ({ info }: ActivityContext) => ({
    inbound: {
      execute(input, next) {
        count(meters, info, queuePrefix);
        const parent = parentIn(input.headers);
        const begin = () => tracer().startSpan(`run ${info.activityType}`, optionsOf(info), parent ?? ROOT_CONTEXT);
        // What a schedule started has no trace to be in; all of its activities then share one.
        const traceId = info.workflowExecution?.runId.replaceAll('-', '');
        const span = parent || !traceId ? begin() : inTraceOf(traceId, begin);
        return context.with(trace.setSpan(parent ?? ROOT_CONTEXT, span), async () => {
          const end = stalls.begin(() => info.activityType);
          try {
            return await next(input);
          } catch (error) {
            if (error instanceof CancelledFailure) span.setAttribute('temporal.cancelled', true);
            else failSpan(span, error);
            throw error;
          } finally {
            span.end();
            end();
          }
        });
      },
    },
  });

function parentIn({ [TRACE_HEADER]: payload }: Headers) {
  if (!payload) return undefined;
  const carrier = defaultPayloadConverter.fromPayload<Record<string, string>>(payload);
  const parent = propagation.extract(ROOT_CONTEXT, carrier);
  return trace.getSpanContext(parent) && parent;
}

const optionsOf = ({ workflowExecution, workflowType, attempt, isLocal, taskQueue }: Info): SpanOptions => ({
  kind: SpanKind.CONSUMER,
  attributes: {
    'temporal.workflow.id': workflowExecution?.workflowId,
    'temporal.run.id': workflowExecution?.runId,
    'temporal.workflow.type': workflowType,
    'temporal.task_queue': taskQueue,
    'temporal.attempt': attempt,
    'temporal.local': isLocal,
  },
});

/**
 * A schedule's workflow begins with one of these activities; the moment that was planned is the end of the workflow's
 * id.
 */
const FIRST_OF_TICK = new Set(['nameRun', 'runSystemJob', 'runSystemJobForPage']);
const PLANNED = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)$/;

function count({ taskQueueWait, scheduleLag }: Recorders['meters'], info: Info, prefix: string) {
  const now = Date.now();
  if (!info.isLocal) {
    const queue = info.taskQueue.slice(prefix.length);
    taskQueueWait.observe({ queue }, secondsUntil(now, info.currentAttemptScheduledTimestampMs));
  }
  if (info.attempt > 1 || !FIRST_OF_TICK.has(info.activityType)) return;
  const [, planned] = PLANNED.exec(info.workflowExecution?.workflowId ?? '') ?? [];
  if (planned) scheduleLag.observe({ workflow: present(info.workflowType) }, secondsUntil(now, Date.parse(planned)));
}

/** Clocks of two machines may differ a little, so the result is never below 0. */
const secondsUntil = (now: number, thenMs: number): number => Math.max(0, now - thenMs) / 1_000;
