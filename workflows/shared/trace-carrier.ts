/**
 * Carries the trace that a workflow was started in on to its activities, its children and its next execution: one header,
 * copied as it came. No span is made here and nothing is awaited, so that a workflow does, and replays, what it would
 * without; OpenTelemetry's own workflow interceptor does neither.
 *
 * Tells each activity its workspace too: the server leaves the fairness key out of activities that are dispatched eagerly,
 * and local activities never have one.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import type { WORKSPACE_HEADER as WorkspaceHeader } from '../../src/platform/temporal/workspace-of-activity.ts';

/** The SDKs of other languages use this name too. */
const TRACE_HEADER = '_tracer-data';
const WORKSPACE_HEADER: typeof WorkspaceHeader = 'workspace';

export const interceptors: WorkflowInterceptorsFactory = () => {
  type Headers = Parameters<NonNullable<OutboundInterceptor['scheduleActivity']>>[0]['headers'];
  let carried: Headers = {};
  /** A child that has a priority of its own may be without the fairness key of its parent. */
  let customerId: string | undefined;
  const carrying = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    TRACE_HEADER in carried ? { ...input, headers: { ...carried, ...input.headers } } : input;
  const withWorkspace = <Input extends { readonly headers: Headers }>(input: Input): Input => {
    const workspace = workflowInfo().priority?.fairnessKey || customerId;
    if (!workspace) return input;
    return {
      ...input,
      headers: { ...input.headers, [WORKSPACE_HEADER]: defaultPayloadConverter.toPayload(workspace) },
    };
  };
  const outbound: OutboundInterceptor = {
    scheduleActivity: (input, next) => next(withWorkspace(carrying(input))),
    scheduleLocalActivity: (input, next) => next(withWorkspace(carrying(input))),
    startChildWorkflowExecution: (input, next) => next(carrying(input)),
    continueAsNew: (input, next) => next(carrying(input)),
  };
  return {
    inbound: [
      {
        execute(input, next) {
          const { [TRACE_HEADER]: trace } = input.headers;
          if (trace) carried = { [TRACE_HEADER]: trace };
          const [about] = input.args;
          if (typeof about === 'object' && about !== null && 'customerId' in about) {
            customerId = typeof about.customerId === 'string' ? about.customerId : undefined;
          }
          return next(input);
        },
      },
    ],
    outbound: [outbound],
  };
};

type OutboundInterceptor = NonNullable<ReturnType<WorkflowInterceptorsFactory>['outbound']>[number];
