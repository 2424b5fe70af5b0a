/** Runs on the local Temporal server, with activities that do what a test tells them. */
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { heartbeating } from '../../activities/failures.ts';
import type { Activities } from '../../activities/index.ts';
import { newRunId } from '../../src/platform/core/ids.ts';
import { present } from '../../src/platform/core/present.ts';
import { runWorkflowId, type Effect, type TurnOutcome } from '../../src/resources/runs/model.ts';
import { AGENT_RUN, type AgentRunInput } from '../../workflows/run/messages.ts';
import type { agentRun } from '../../workflows/run/workflow.ts';
import type { TestTemporal } from '../support/temporal/temporal.ts';
import { bundleWorkflows } from '../support/temporal/workflow-bundle.ts';

export type Turn = Parameters<Activities['takeTurn']>[0];
export type RunHandle = WorkflowHandle<typeof agentRun>;

export const SUCCEEDED: TurnOutcome = { kind: 'ended', status: 'succeeded' };
export const asksFor = (...effects: Effect[]): TurnOutcome => ({
  kind: 'tools',
  calls: effects.map((effect, i) => ({ callId: `call_${i}`, tool: 'a_tool', effect, dispatch: 'activity' })),
});
export const SPAWNS: TurnOutcome = {
  kind: 'tools',
  calls: [{ callId: 'call_0', tool: 'spawn_run', effect: 'idempotent', dispatch: 'child_run' }],
};
/** Tools once, then an answer. */
export const firstTurn =
  (outcome: TurnOutcome) =>
  async ({ turn }: Turn): Promise<TurnOutcome> =>
    turn === 1 ? outcome : SUCCEEDED;

/** Stays until it is cancelled, as a model call does. */
export const hang = (): Promise<never> =>
  heartbeating<never>(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );

/** What the workflow recorded, in order. */
interface Recorded {
  ends: Parameters<Activities['endRun']>[0][];
  toolFailures: Parameters<Activities['recordToolFailure']>[0][];
  /** Runs that recorded the result of a run they spawned. */
  parents: string[];
}

export interface Started extends Recorded {
  /** Starts a run; without an id of its own it takes a new one. */
  start(input?: Partial<AgentRunInput>): Promise<RunHandle>;
  /** Of the worker. */
  taskQueue: string;
}

/** A worker with these activities, on a queue of its own, for as long as `drive` takes. */
export async function withRuns<T>(
  { connection, client, namespace, queuePrefix }: TestTemporal,
  activities: Partial<Activities>,
  drive: (started: Started) => Promise<T>,
  options: Partial<WorkerOptions> = {},
): Promise<T> {
  const taskQueue = `${queuePrefix}${newRunId()}-orchestration`;
  const recorded: Recorded = { ends: [], toolFailures: [], parents: [] };
  const recorders: Partial<Activities> = {
    async endRun(end) {
      recorded.ends.push(end);
      return { status: end.status };
    },
    recordToolFailure: async (failure) => void recorded.toolFailures.push(failure),
    recordChildRun: async ({ runId }) => void recorded.parents.push(runId),
  };
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(),
    activities: { ...recorders, ...activities },
    // As in src/worker.ts: a cancelled call learns of it with a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    ...options,
  });
  const start: Started['start'] = ({ runId = newRunId(), ...input } = {}) =>
    client.workflow.start<typeof agentRun>(AGENT_RUN, {
      taskQueue,
      workflowId: runWorkflowId(runId),
      args: [{ runId, customerId: 'c', workspaceId: 'w', agent: 'writer', split: false, limits: LIMITS, ...input }],
    });
  return worker.runUntil(() => drive({ start, taskQueue, ...recorded }));
}

export const LIMITS = { maxTurns: 50, maxTokens: 1_000_000 };

export const runIdOf = ({ workflowId }: RunHandle): string => workflowId.replace('run-', '');

/** `COMPLETED`, `CANCELLED`, or the type of the failure. */
export async function endOf(run: RunHandle): Promise<string> {
  try {
    await run.result();
    return 'COMPLETED';
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return error.cause instanceof ApplicationFailure ? present(error.cause.type) : (await run.describe()).status.name;
  }
}

export const eventsOf = async (run: RunHandle) => (await run.fetchHistory()).events ?? [];

/** Seconds of the timers that a run has set so far. */
export const timersOf = async (run: RunHandle): Promise<number[]> =>
  (await eventsOf(run)).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer ? Number(timer.startToFireTimeout?.seconds) : [],
  );
