/** A run's workflow against activities that do what a test tells them; its history, against the real ones (history.test.ts). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { WorkflowFailedError, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { bundleWorkflowCode, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { fail, heartbeating } from '../../activities/failures.ts';
import type { Activities } from '../../activities/index.ts';
import { newRunId } from '../../src/platform/core/ids.ts';
import { runWorkflowId, type Effect, type TurnOutcome } from '../../src/resources/runs/model.ts';
import { AGENT_RUN, goAheadSignal, type AgentRunInput } from '../../workflows/run/messages.ts';
import type { agentRun } from '../../workflows/run/workflow.ts';
import { eventually } from '../support/service.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal.ts';

type Turn = Parameters<Activities['takeTurn']>[0];
type End = Parameters<Activities['endRun']>[0];

const SUCCEEDED: TurnOutcome = { kind: 'ended', status: 'succeeded' };
const asksFor = (...effects: Effect[]): TurnOutcome => ({
  kind: 'tools',
  calls: effects.map((effect, i) => ({ callId: `call_${i}`, tool: 'a_tool', effect, dispatch: 'activity' })),
});
const SPAWNS: TurnOutcome = {
  kind: 'tools',
  calls: [{ callId: 'call_0', tool: 'spawn_run', effect: 'idempotent', dispatch: 'child_run' }],
};
/** Tools once, then an answer. */
const oneToolTurn =
  (outcome: TurnOutcome) =>
  async ({ turn }: Turn): Promise<TurnOutcome> =>
    turn === 1 ? outcome : SUCCEEDED;

let temporal: TestTemporal;
let workflowBundle: WorkflowBundleWithSourceMap;
let slow: Promise<string>;
let slowAttempts = 0;

beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  [temporal, workflowBundle] = await Promise.all([connectTestTemporal(), bundleWorkflowCode({ workflowsPath })]);
  // Has to outlast a heartbeat timeout, so it goes on beside the other tests; the last one looks at it.
  slow = work(
    {
      async takeTurn() {
        slowAttempts++;
        return heartbeating(() => new Promise((resolve) => setTimeout(() => resolve(SUCCEEDED), 22_000)));
      },
    },
    async ({ start }) => endOf(await start()),
  );
});
afterAll(() => temporal?.close());

type Handle = WorkflowHandleWithFirstExecutionRunId<typeof agentRun>;

interface Started {
  /** Starts a run; its id is in `runIdOf`. */
  start(input?: Partial<AgentRunInput>): Promise<Handle>;
  ends: End[];
  toolFailures: Parameters<Activities['recordToolFailure']>[0][];
  /** Of runs whose result was recorded, `recordChildRun` was called for these. */
  children: string[];
}

/** A worker with these activities, on a queue of its own, for as long as `drive` takes. */
async function work<T>(activities: Partial<Activities>, drive: (started: Started) => Promise<T>): Promise<T> {
  const taskQueue = `${temporal.queuePrefix}${newRunId()}-orchestration`;
  const ends: Started['ends'] = [];
  const toolFailures: Started['toolFailures'] = [];
  const children: string[] = [];
  const recorders: Partial<Activities> = {
    async endRun(end) {
      ends.push(end);
      return { status: end.status };
    },
    recordToolFailure: async (failure) => void toolFailures.push(failure),
    recordChildRun: async ({ runId }) => void children.push(runId),
  };
  const worker = await Worker.create({
    ...{ connection: temporal.connection, namespace: temporal.namespace, taskQueue, workflowBundle },
    activities: { ...recorders, ...activities },
    // As in src/worker.ts: a cancelled call learns of it with a heartbeat.
    ...{ maxHeartbeatThrottleInterval: '1s', defaultHeartbeatThrottleInterval: '1s' },
  });
  const start: Started['start'] = (input = {}) => {
    const runId = input.runId ?? newRunId();
    const limits = { maxTurns: 50, maxTokens: 1_000_000 };
    return temporal.client.workflow.start<typeof agentRun>(AGENT_RUN, {
      ...{ taskQueue, workflowId: runWorkflowId(runId) },
      args: [{ customerId: 'c', workspaceId: 'w', agent: 'writer', split: false, limits, ...input, runId }],
    });
  };
  return worker.runUntil(() => drive({ start, ends, toolFailures, children }));
}

const runIdOf = ({ workflowId }: Handle): string => workflowId.replace('run-', '');

/** `COMPLETED`, `CANCELLED`, or the type of the failure. */
async function endOf(handle: Handle): Promise<string> {
  try {
    await handle.result();
    return 'COMPLETED';
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return error.cause instanceof ApplicationFailure ? error.cause.type! : (await handle.describe()).status.name;
  }
}

const eventsOf = async (handle: Handle) => (await handle.fetchHistory()).events ?? [];

/** Stays until it is cancelled, as a model call does. */
const hang = () =>
  heartbeating<never>((signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));

/** A takeTurn that throws each of these in turn and then answers; and how often it was called. */
function throwing(...failures: Error[]) {
  const calls: Turn[] = [];
  const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
    const failure = failures[calls.push(turn) - 1];
    if (failure) throw failure;
    return SUCCEEDED;
  };
  return { calls, takeTurn };
}
const unavailable = (nextRetryDelay?: number) =>
  ApplicationFailure.create({ type: 'model_unavailable', message: 'it is down', ...(nextRetryDelay && { nextRetryDelay }) });

describe('a model that', () => {
  // Guards: what no retry would mend is asked once, recorded with its name, and named in Temporal too.
  test('refuses ends the run with its reason', async () => {
    const { calls, takeTurn } = throwing(fail('model_auth_failed', 'the key was refused'));
    await work({ takeTurn }, async ({ start, ends }) => {
      const run = await start();
      expect(await endOf(run)).toBe('model_auth_failed');
      expect(ends).toEqual([
        { runId: runIdOf(run), status: 'failed', error: { code: 'model_auth_failed', message: 'the key was refused' } },
      ]);
      expect(calls).toEqual([{ runId: runIdOf(run), turn: 1, limits: { maxTurns: 50, maxTokens: 1_000_000 } }]);
    });
  });

  // Guards: a provider's hiccup costs time, not the run, and leaves no end behind that the turn did not record.
  test('fails twice is asked a third time', async () => {
    const { calls, takeTurn } = throwing(unavailable(), new Error('the connection broke'));
    await work({ takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect(calls).toHaveLength(3);
      expect(ends).toEqual([]);
    });
  });

  // Guards: attempts are limited, and a delay that the provider asks for replaces our own (which would take 15 s here).
  test('stays away fails the run after five attempts', async () => {
    const { calls, takeTurn } = throwing(...Array.from({ length: 9 }, () => unavailable(1)));
    await work({ takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('model_unavailable');
      expect(calls).toHaveLength(5);
      expect(ends).toMatchObject([{ status: 'failed', error: { code: 'model_unavailable', message: 'it is down' } }]);
    });
  });

  // Guards: a long retry-after is waited for in full, and the wait can be cancelled.
  test('asks for an hour is given it', async () => {
    await work({ takeTurn: throwing(unavailable(3_600_000)).takeTurn }, async ({ start, ends }) => {
      const run = await start();
      const waitS = await eventually(async () => {
        const [pending] = (await run.describe()).raw.pendingActivities ?? [];
        const seconds = Number(pending?.currentRetryInterval?.seconds);
        if (!(seconds > 0)) throw new Error('no retry is scheduled yet');
        return seconds;
      });
      expect(waitS).toBe(3_600);
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
    });
  });

  // Guards: an error nobody foresaw ends the run too, and its text (which may hold anything) goes no further.
  test('fails in an unforeseen way is an internal error', async () => {
    const { takeTurn } = throwing(ApplicationFailure.nonRetryable('undefined is not a secret', 'TypeError'));
    await work({ takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('internal_error');
      expect(ends).toMatchObject([{ error: { code: 'internal_error', message: expect.not.stringContaining('secret') } }]);
    });
  });

  // Guards: an end that the turn itself found (a limit, a budget) fails the workflow under the same name.
  test('is not asked because of a limit', async () => {
    const error = { code: 'turn_limit_exceeded' as const, message: 'no answer after 50 turns' };
    await work({ takeTurn: async () => ({ kind: 'ended', status: 'failed', error }) }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('turn_limit_exceeded');
      expect(ends).toEqual([]);
    });
  });
});

describe('the tools of one turn', () => {
  // Guards: they run side by side: each of these waits for the other.
  test('are called in parallel', async () => {
    const arrived = new Set<string>();
    const callTool = async ({ callId }: { callId: string }) => {
      arrived.add(callId);
      await eventually(() => expect(arrived.size).toBe(2), 10_000);
    };
    await work({ takeTurn: oneToolTurn(asksFor('read', 'idempotent')), callTool }, async ({ start, toolFailures }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect(toolFailures).toEqual([]);
    });
  });

  /** Runs one tool that throws in each of its first attempts. */
  async function tryTool(effect: Effect, failure: Error, times = Infinity) {
    let attempts = 0;
    const callTool = async () => {
      if (++attempts <= times) throw failure;
    };
    return work({ takeTurn: oneToolTurn(asksFor(effect)), callTool }, async ({ start, toolFailures }) => ({
      end: await endOf(await start()),
      attempts,
      told: toolFailures.map(({ message, isOutcomeUnknown }) => ({ message, isOutcomeUnknown })),
    }));
  }
  const broken = ApplicationFailure.create({ type: 'tool_failed', message: 'TypeError: fetch failed' });

  // Guards: what may be repeated is, and its success after a failure is a success.
  test.each(['read', 'idempotent'] as const)('are repeated when they are %s', async (effect) => {
    expect(await tryTool(effect, broken, 1)).toEqual({ end: 'COMPLETED', attempts: 2, told: [] });
  });

  // Guards: a tool that fails for good is an answer to the model, which says why, and the run goes on.
  test('that keep failing are told to the model', async () => {
    const told = [{ message: 'TypeError: fetch failed', isOutcomeUnknown: false }];
    expect(await tryTool('read', broken)).toEqual({ end: 'COMPLETED', attempts: 3, told });
  });

  // Guards: an effect that must not happen twice is attempted once, however it broke off, and nobody says it failed.
  test.each([
    ['a broken connection', broken],
    ['a stopping worker', ApplicationFailure.create({ type: 'WorkerShutdown', message: 'Worker is shutting down' })],
  ])('are not repeated when they are irreversible: %s', async (_, failure) => {
    const { end, attempts, told } = await tryTool('irreversible', failure);
    expect({ end, attempts }).toEqual({ end: 'COMPLETED', attempts: 1 });
    expect(told).toMatchObject([{ isOutcomeUnknown: true }]);
  });
});

describe('a spawned run', () => {
  const childId = newRunId();
  const accept = (wait: boolean) => async () => ({ runId: childId, agent: 'coder', wait });
  const childOf = () => temporal.client.workflow.getHandle(runWorkflowId(childId)) as Handle;

  // Guards: the parent waits for the result, and a child that failed is a result too.
  test('that fails is a result', async () => {
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId === childId) throw fail('model_refused_request', 'no');
      return oneToolTurn(SPAWNS)(turn);
    };
    await work({ takeTurn, acceptChildRun: accept(true) }, async ({ start, children, ends }) => {
      const run = await start();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(await endOf(childOf())).toBe('model_refused_request');
      expect(children).toEqual([runIdOf(run)]);
      expect(ends).toMatchObject([{ runId: childId, status: 'failed' }]);
    });
  });

  // Guards: a child that somebody cancels takes nobody with it.
  test('that is cancelled alone is a result', async () => {
    const isHanging = Promise.withResolvers<void>();
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId !== childId) return oneToolTurn(SPAWNS)(turn);
      isHanging.resolve();
      return hang();
    };
    await work({ takeTurn, acceptChildRun: accept(true) }, async ({ start, ends }) => {
      const run = await start();
      await isHanging.promise;
      await childOf().cancel();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(ends).toEqual([{ runId: childId, status: 'cancelled' }]);
    });
  });

  // Guards: nobody waits for it, and its parent's end does not end it.
  test('that nobody waits for outlives its parent', async () => {
    const mayEnd = Promise.withResolvers<void>();
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId !== childId) return oneToolTurn(SPAWNS)(turn);
      await mayEnd.promise;
      return SUCCEEDED;
    };
    await work({ takeTurn, acceptChildRun: accept(false) }, async ({ start }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect((await childOf().describe()).status.name).toBe('RUNNING');
      mayEnd.resolve();
      expect(await endOf(childOf())).toBe('COMPLETED');
    });
  });

  // Guards: one that was refused leaves the model to go on, and starts nothing.
  test('that is refused is not started', async () => {
    await work({ takeTurn: oneToolTurn(SPAWNS), acceptChildRun: async () => undefined }, async ({ start, children }) => {
      const run = await start();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(children).toEqual([]);
      expect((await eventsOf(run)).filter((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)).toEqual([]);
    });
  });
});

describe('cancelling', () => {
  const childId = newRunId();
  const acceptChildRun = async () => ({ runId: childId, agent: 'coder', wait: true });

  // Guards: whatever a run is doing, a cancel ends it at once, in the record and in Temporal, and stops the call.
  test.each<[phase: string, turn: (turn: Turn) => Promise<TurnOutcome> | TurnOutcome]>([
    ['a run that waits in its conversation', () => ({ kind: 'waiting', behind: 'another' })],
    ['a model call', hang],
    ['a tool call', () => asksFor('read')],
    ['an irreversible tool call', () => asksFor('irreversible')],
    ['the wait for a child', ({ runId }) => (runId === childId ? hang() : SPAWNS)],
  ])('reaches %s', async (phase, turn) => {
    const isThere = Promise.withResolvers<void>();
    const isStopped = Promise.withResolvers<void>();
    const noting = async <T>(call: () => T): Promise<Awaited<T>> => {
      Context.current().cancellationSignal.addEventListener('abort', () => isStopped.resolve());
      const outcome = call();
      const isLong = turn === hang || phase.includes('tool');
      if (isLong) isThere.resolve();
      return await outcome;
    };
    const takeTurn = (input: Turn) => (phase.includes('tool') ? (turn(input) as TurnOutcome) : noting(() => turn(input)));
    const activities = { takeTurn: async (input: Turn) => takeTurn(input), callTool: () => noting(hang), acceptChildRun };
    await work(activities, async ({ start, ends }) => {
      const run = await start();
      if (phase.includes('child')) await eventually(async () => expect((await childHandle().describe()).raw.pendingActivities).toHaveLength(1));
      else if (phase.includes('waits')) await eventually(async () => expect(await timersOf(run)).toHaveLength(1));
      else await isThere.promise;
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      const cancelled = [...(phase.includes('child') ? [childId] : []), runIdOf(run)];
      expect(ends).toEqual(cancelled.map((runId) => ({ runId, status: 'cancelled' })));
      if (!phase.includes('waits')) await isStopped.promise;
    });
  });
  const childHandle = () => temporal.client.workflow.getHandle(runWorkflowId(childId)) as Handle;
});

async function timersOf(run: Handle) {
  return (await eventsOf(run)).flatMap((event) => event.timerStartedEventAttributes ?? []);
}

// Guards: heartbeats keep a call alive for longer than a silent one is given; it is billed once.
test('a slow model call is one attempt', async () => {
  expect(await slow).toBe('COMPLETED');
  expect(slowAttempts).toBe(1);
});
