/** Cancelling a run, whatever it is doing. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Activities } from '../../activities/index.ts';
import { newRunId } from '../../src/platform/core/ids.ts';
import { runWorkflowId, type TurnOutcome } from '../../src/resources/runs/model.ts';
import { eventually } from '../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { asksFor, endOf, hang, runIdOf, SPAWNS, timersOf, withRuns, type Turn } from './run-worker.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

const acceptAs = (runId: string) => async () => ({ runId, agent: 'coder', wait: true });

/** An activity that hangs, when it was entered, and when it was told to stop. */
function hanging() {
  const entered = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const activity = async (): Promise<never> => {
    entered.resolve();
    return hang().finally(stopped.resolve);
  };
  return { entered: entered.promise, stopped: stopped.promise, activity };
}

describe('reaches', () => {
  // Guards: both the record and Temporal say cancelled, once, and the model call stops.
  test('a model call', async () => {
    const { entered, stopped, activity } = hanging();
    await withRuns(temporal, { takeTurn: activity }, async ({ start, ends }) => {
      const run = await start();
      await entered;
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
      await stopped;
    });
  });

  // Guards: the same during a tool call, whatever its effect: a cancelled run calls nothing more and reports no
  // failure.
  test.each(['read', 'irreversible'] as const)('a tool call: %s', async (effect) => {
    const { entered, stopped, activity } = hanging();
    const activities = { takeTurn: async () => asksFor(effect), callTool: activity };
    await withRuns(temporal, activities, async ({ start, ends, toolFailures }) => {
      const run = await start();
      await entered;
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
      expect(toolFailures).toEqual([]);
      await stopped;
    });
  });

  // Guards: a run that waits for its turn in a conversation can be cancelled.
  test('a run that waits in its conversation', async () => {
    const takeTurn = async (): Promise<TurnOutcome> => ({ kind: 'waiting', behind: 'another' });
    await withRuns(temporal, { takeTurn }, async ({ start, ends }) => {
      const run = await start();
      await eventually(async () => expect(await timersOf(run)).toHaveLength(1));
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
    });
  });

  // Guards: cancelling a run ends the runs that it waits for, with their calls.
  test('the wait for a spawned run, and that run', async () => {
    const childId = newRunId();
    const { entered, stopped, activity } = hanging();
    const takeTurn = ({ runId }: Turn) => (runId === childId ? activity() : Promise.resolve(SPAWNS));
    const activities = { takeTurn, acceptChildRun: acceptAs(childId) };
    await withRuns(temporal, activities, async ({ start, ends, parents }) => {
      const run = await start();
      await entered;
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(await endOf(temporal.client.workflow.getHandle(runWorkflowId(childId)))).toBe('CANCELLED');
      expect(ends).toEqual([childId, runIdOf(run)].map((runId) => ({ runId, status: 'cancelled' })));
      expect(parents).toEqual([]);
      await stopped;
    });
  });

  // Guards: a spawned run that was accepted and not started does not stay queued for housekeeping to start.
  test('the moment between accepting a spawned run and starting it', async () => {
    const childId = newRunId();
    const accepting = Promise.withResolvers<void>();
    const mayAccept = Promise.withResolvers<void>();
    const acceptChildRun = async () => {
      accepting.resolve();
      await mayAccept.promise;
      return acceptAs(childId)();
    };
    await withRuns(temporal, { takeTurn: async () => SPAWNS, acceptChildRun }, async ({ start, ends }) => {
      const run = await start();
      await accepting.promise;
      await run.cancel();
      mayAccept.resolve();
      expect(await endOf(run)).toBe('CANCELLED');
      expect(ends).toContainEqual({ runId: childId, status: 'cancelled' });
      expect(ends).toContainEqual({ runId: runIdOf(run), status: 'cancelled' });
    });
  });
});

// Guards: an end that was recorded just before a cancellation is the end of the run, in Temporal too.
test.each([
  ['succeeded', 'COMPLETED'],
  ['failed', 'internal_error'],
] as const)('comes too late for a run that has %s', async (status, end) => {
  const { entered, activity } = hanging();
  const endRun: Activities['endRun'] = async () => ({ status });
  await withRuns(temporal, { takeTurn: activity, endRun }, async ({ start }) => {
    const run = await start();
    await entered;
    await run.cancel();
    expect(await endOf(run)).toBe(end);
  });
});

// Guards: the cancellation is recorded, however long Postgres is away, before Temporal says cancelled.
test('is recorded although the database is away at first', async () => {
  const { entered, activity } = hanging();
  const ends: string[] = [];
  const endRun: Activities['endRun'] = async ({ status }) => {
    if (ends.push(status) < 4) throw new Error('connection refused');
    return { status };
  };
  await withRuns(temporal, { takeTurn: activity, endRun }, async ({ start }) => {
    const run = await start();
    await entered;
    await run.cancel();
    expect(await endOf(run)).toBe('CANCELLED');
    expect(ends).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
  });
});
