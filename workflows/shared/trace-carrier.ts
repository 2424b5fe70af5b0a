/**
 * Carries the trace that a workflow was started in on to its activities, its children and its next execution: one header,
 * copied as it came. No span is made here and nothing is awaited, so that a workflow does, and replays, what it would
 * without; OpenTelemetry's own workflow interceptor does neither.
 */
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** The SDKs of other languages use this name too. */
const TRACE_HEADER = '_tracer-data';

export const interceptors: WorkflowInterceptorsFactory = () => {
  type Headers = Parameters<NonNullable<OutboundInterceptor['scheduleActivity']>>[0]['headers'];
  let carried: Headers = {};
  const carrying = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    TRACE_HEADER in carried ? { ...input, headers: { ...carried, ...input.headers } } : input;
  const outbound: OutboundInterceptor = {
    scheduleActivity: (input, next) => next(carrying(input)),
    scheduleLocalActivity: (input, next) => next(carrying(input)),
    startChildWorkflowExecution: (input, next) => next(carrying(input)),
    continueAsNew: (input, next) => next(carrying(input)),
  };
  return {
    inbound: [
      {
        execute(input, next) {
          const { [TRACE_HEADER]: trace } = input.headers;
          if (trace) carried = { [TRACE_HEADER]: trace };
          return next(input);
        },
      },
    ],
    outbound: [outbound],
  };
};

type OutboundInterceptor = NonNullable<ReturnType<WorkflowInterceptorsFactory>['outbound']>[number];
