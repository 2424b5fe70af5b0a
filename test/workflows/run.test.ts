/** How a run ends, and what it does with the tools and runs that its model asks for. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { fail } from '../../activities/failures.ts';
import { newRunId } from '../../src/platform/core/ids.ts';
import { runWorkflowId, type Effect, type TurnOutcome } from '../../src/resources/runs/model.ts';
import { eventually } from '../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import {
  asksFor,
  endOf,
  eventsOf,
  firstTurn,
  hang,
  LIMITS,
  runIdOf,
  SPAWNS,
  SUCCEEDED,
  withRuns,
  type RunHandle,
  type Turn,
} from './run-worker.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

/** A takeTurn that throws each of these in turn and then answers; and the calls it was asked for. */
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
  ApplicationFailure.create({
    type: 'model_unavailable',
    message: 'it is down',
    ...(nextRetryDelay && { nextRetryDelay }),
  });

describe('a model that', () => {
  // Guards: an error that no retry would mend is tried once, recorded with its name, and named in Temporal too.
  test('refuses ends the run with its reason', async () => {
    const { calls, takeTurn } = throwing(fail('model_auth_failed', 'the key was refused'));
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      const run = await start();
      expect(await endOf(run)).toBe('model_auth_failed');
      const error = { code: 'model_auth_failed', message: 'the key was refused' };
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'failed', error }]);
      expect(calls).toEqual([{ runId: runIdOf(run), turn: 1, limits: LIMITS }]);
    });
  });

  // Guards: a short failure of the provider costs time and not the run, and records no end.
  test('fails twice is asked a third time', async () => {
    const { calls, takeTurn } = throwing(unavailable(), new Error('the connection broke'));
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect(calls).toHaveLength(3);
      expect(ends).toEqual([]);
    });
  });

  // Guards: attempts are limited, and a delay that the provider asks for replaces our own.
  test('stays away fails the run after five attempts', async () => {
    const { calls, takeTurn } = throwing(...Array.from({ length: 9 }, () => unavailable(1)));
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('model_unavailable');
      expect(calls).toHaveLength(5);
      expect(ends).toMatchObject([{ status: 'failed', error: { code: 'model_unavailable', message: 'it is down' } }]);
    });
  });

  // Guards: a long Retry-After is waited for in full, and that wait can be cancelled.
  test('asks for an hour is given it', async () => {
    await withRuns(temporal, { takeTurn: throwing(unavailable(3_600_000)).takeTurn }, async ({ start, ends }) => {
      const run = await start();
      const waitS = await eventually(async () => {
        const [pending] = (await run.describe()).raw.pendingActivities ?? [];
        if (!pending?.currentRetryInterval) throw new Error('no retry is scheduled yet');
        return Number(pending.currentRetryInterval.seconds);
      });
      expect(waitS).toBe(3_600);
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
    });
  });

  // Guards: an unforeseen error ends the run too, and its text, which may hold anything, is not passed on.
  test('fails in an unforeseen way is an internal error', async () => {
    const { takeTurn } = throwing(ApplicationFailure.nonRetryable('undefined is not a secret', 'TypeError'));
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('internal_error');
      expect(ends).toMatchObject([
        { error: { code: 'internal_error', message: expect.not.stringContaining('secret') } },
      ]);
    });
  });

  // Guards: an end that the turn itself decided (a limit, a budget) fails the workflow under the same name.
  test('is not asked because of a limit', async () => {
    const error = { code: 'turn_limit_exceeded' as const, message: 'no answer after 50 turns' };
    const takeTurn = async (): Promise<TurnOutcome> => ({ kind: 'ended', status: 'failed', error });
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      expect(await endOf(await start())).toBe('turn_limit_exceeded');
      expect(ends).toEqual([]);
    });
  });
});

describe('the tools of one turn', () => {
  // Guards: calls run at the same time: each of these waits for the other.
  test('are called in parallel', async () => {
    const arrived = new Set<string>();
    const callTool = async ({ callId }: { callId: string }) => {
      arrived.add(callId);
      await eventually(() => expect(arrived.size).toBe(2));
    };
    const takeTurn = firstTurn(asksFor('read', 'idempotent'));
    await withRuns(temporal, { takeTurn, callTool }, async ({ start, toolFailures }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect(toolFailures).toEqual([]);
    });
  });

  /** A run with one tool, which throws in each of its first attempts. */
  function tryTool(effect: Effect, failure: Error, times = Infinity) {
    let attempts = 0;
    const callTool = async () => {
      if (++attempts <= times) throw failure;
    };
    return withRuns(temporal, { takeTurn: firstTurn(asksFor(effect)), callTool }, async ({ start, toolFailures }) => ({
      end: await endOf(await start()),
      attempts,
      told: toolFailures.map(({ message, isOutcomeUnknown }) => ({ message, isOutcomeUnknown })),
    }));
  }
  const broken = ApplicationFailure.create({ type: 'tool_failed', message: 'TypeError: fetch failed' });

  // Guards: a call that may be repeated is, and a success after a failure counts.
  test.each(['read', 'idempotent'] as const)('are repeated when they are %s', async (effect) => {
    expect(await tryTool(effect, broken, 1)).toEqual({ end: 'COMPLETED', attempts: 2, told: [] });
  });

  // Guards: a tool that fails for good is answered to the model with the reason, and the run goes on.
  test('that keep failing are told to the model', async () => {
    const told = [{ message: 'TypeError: fetch failed', isOutcomeUnknown: false }];
    expect(await tryTool('read', broken)).toEqual({ end: 'COMPLETED', attempts: 3, told });
  });

  // Guards: an irreversible effect is attempted once, and where it is broken off it is not reported as failed.
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
  const acceptAs = (runId: string, wait = true) => ({ acceptChildRun: async () => ({ runId, agent: 'coder', wait }) });
  const handleOf = (runId: string): RunHandle => temporal.client.workflow.getHandle(runWorkflowId(runId));

  // Guards: the parent waits for the result, and a failed child is a result too.
  test('that fails is a result', async () => {
    const childId = newRunId();
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId === childId) throw fail('model_refused_request', 'no');
      return firstTurn(SPAWNS)(turn);
    };
    await withRuns(temporal, { takeTurn, ...acceptAs(childId) }, async ({ start, parents, ends }) => {
      const run = await start();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(await endOf(handleOf(childId))).toBe('model_refused_request');
      expect(parents).toEqual([runIdOf(run)]);
      expect(ends).toMatchObject([{ runId: childId, status: 'failed' }]);
    });
  });

  // Guards: the cancellation of a child does not end its parent.
  test('that is cancelled alone is a result', async () => {
    const childId = newRunId();
    const isHanging = Promise.withResolvers<void>();
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId !== childId) return firstTurn(SPAWNS)(turn);
      isHanging.resolve();
      return hang();
    };
    await withRuns(temporal, { takeTurn, ...acceptAs(childId) }, async ({ start, parents, ends }) => {
      const run = await start();
      await isHanging.promise;
      await handleOf(childId).cancel();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(parents).toEqual([runIdOf(run)]);
      expect(ends).toEqual([{ runId: childId, status: 'cancelled' }]);
    });
  });

  // Guards: the parent goes on at once, and its end does not end the child.
  test('that nobody waits for outlives its parent', async () => {
    const childId = newRunId();
    const mayEnd = Promise.withResolvers<void>();
    const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
      if (turn.runId !== childId) return firstTurn(SPAWNS)(turn);
      await mayEnd.promise;
      return SUCCEEDED;
    };
    await withRuns(temporal, { takeTurn, ...acceptAs(childId, false) }, async ({ start }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect((await handleOf(childId).describe()).status.name).toBe('RUNNING');
      mayEnd.resolve();
      expect(await endOf(handleOf(childId))).toBe('COMPLETED');
    });
  });

  // Guards: a refused spawn starts nothing, and the model goes on.
  test('that is refused is not started', async () => {
    const activities = { takeTurn: firstTurn(SPAWNS), acceptChildRun: async () => undefined };
    await withRuns(temporal, activities, async ({ start, parents }) => {
      const run = await start();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(parents).toEqual([]);
      const started = (await eventsOf(run)).filter(
        (event) => event.startChildWorkflowExecutionInitiatedEventAttributes,
      );
      expect(started).toEqual([]);
    });
  });
});
