/** Runs that wait for each other, runs that continue as new, and runs beside each other. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TurnOutcome } from '../../src/resources/runs/model.ts';
import { goAheadSignal } from '../../workflows/run/messages.ts';
import { eventually } from '../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import {
  asksFor,
  endOf,
  eventsOf,
  runIdOf,
  SUCCEEDED,
  timersOf,
  withRuns,
  type RunHandle,
  type Turn,
} from './run-worker.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

const WAITING: TurnOutcome = { kind: 'waiting', behind: 'another' };

/** Turns that answer when `mayGo` says so, and the ids of the runs that asked. */
function waitingTurns(mayGo: (runId: string) => boolean) {
  const looks: string[] = [];
  const takeTurn = async ({ runId }: Turn) => {
    looks.push(runId);
    return mayGo(runId) ? SUCCEEDED : WAITING;
  };
  return { looks, takeTurn };
}

describe('a run that waits for its turn', () => {
  // Guards: the signal starts the next run at once; where it is lost, the run checks for itself after half a minute.
  test('goes on at the signal', async () => {
    let isFree = false;
    const { looks, takeTurn } = waitingTurns(() => isFree);
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const run = await start();
      await eventually(async () => expect(await timersOf(run)).toEqual([30]));
      isFree = true;
      await run.signal(goAheadSignal);
      expect(await endOf(run)).toBe('COMPLETED');
      expect(looks).toHaveLength(2);
    });
  });

  // Guards: a signal that arrives during a check, which still finds the other run there, is not lost.
  test('goes on at a signal that comes too early', async () => {
    const looking = Promise.withResolvers<void>();
    const signalled = Promise.withResolvers<void>();
    let looks = 0;
    const takeTurn = async () => {
      if (++looks > 1) return SUCCEEDED;
      looking.resolve();
      await signalled.promise;
      return WAITING;
    };
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const run = await start();
      await looking.promise;
      await run.signal(goAheadSignal);
      signalled.resolve();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(looks).toBe(2);
      expect((await eventsOf(run)).filter((event) => event.timerFiredEventAttributes)).toEqual([]);
    });
  });

  // Guards: a signal that changed nothing makes the run check and wait on, and not start.
  test('waits on when it is still not its turn', async () => {
    let isFree = false;
    const { looks, takeTurn } = waitingTurns(() => isFree);
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const run = await start();
      await eventually(async () => expect(await timersOf(run)).toHaveLength(1));
      await run.signal(goAheadSignal);
      await eventually(async () => expect(await timersOf(run)).toHaveLength(2));
      isFree = true;
      await run.signal(goAheadSignal);
      expect(await endOf(run)).toBe('COMPLETED');
      expect(looks).toHaveLength(3);
    });
  });

  // Guards: workflows on one worker share no state: a signal to one is none to another.
  test('is not woken by the signal of another', async () => {
    const free = new Set<string>();
    const { looks, takeTurn } = waitingTurns((runId) => free.has(runId));
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const [one, two] = [await start(), await start()];
      for (const run of [one, two]) await eventually(async () => expect(await timersOf(run)).toHaveLength(1));
      free.add(runIdOf(one)).add(runIdOf(two));
      await one.signal(goAheadSignal);
      expect(await endOf(one)).toBe('COMPLETED');
      expect(looks.filter((runId) => runId === runIdOf(two))).toHaveLength(1);
      expect((await two.describe()).status.name).toBe('RUNNING');
      await two.signal(goAheadSignal);
      expect(await endOf(two)).toBe('COMPLETED');
    });
  });
});

describe('a run that waits for long', () => {
  // Guards: the checks become less frequent, down to one every ten minutes.
  test('looks less and less often', async () => {
    const { takeTurn } = waitingTurns(() => false);
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const run = await start();
      await untilWaits(run, 1);
      for (let looks = 2; looks <= 7; looks++) {
        await run.signal(goAheadSignal);
        await untilWaits(run, looks);
      }
      expect(await timersOf(run)).toEqual([30, 60, 120, 240, 480, 600, 600]);
      await run.cancel();
      expect(await endOf(run)).toBe('CANCELLED');
    });
  });

  // Guards: the history begins anew with a check, so that a signal at that moment is not lost.
  test('continues as new and keeps waiting', async () => {
    let isFree = false;
    const { looks, takeTurn } = waitingTurns(() => isFree);
    await withRuns(temporal, { takeTurn }, async ({ start }) => {
      const run = await start({ continueAfterTurns: 2 });
      await untilWaits(run, 1);
      await run.signal(goAheadSignal);
      await untilWaits(run, 2);
      const latest = await goAheadAnew(run);
      expect(await timersOf(latest)).toEqual([30]);
      isFree = true;
      await latest.signal(goAheadSignal);
      expect(await endOf(run)).toBe('COMPLETED');
      expect(looks).toHaveLength(4);
    });
  });

  const untilWaits = (run: RunHandle, times: number): Promise<void> =>
    eventually(async () => expect(await timersOf(run)).toHaveLength(times));

  /** Signals a run that has looked often enough. @returns its next execution, when that waits */
  async function goAheadAnew(run: RunHandle): Promise<RunHandle> {
    const { workflow } = temporal.client;
    const { runId } = await run.describe();
    await run.signal(goAheadSignal);
    const first = workflow.getHandle(run.workflowId, runId);
    await eventually(async () => expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW'));
    const latest: RunHandle = workflow.getHandle(run.workflowId);
    await untilWaits(latest, 1);
    return latest;
  }
});

describe('a run of many turns', () => {
  const TURNS = 5;
  const tools = ({ turn }: Turn): TurnOutcome => (turn <= TURNS ? asksFor('read', 'read') : SUCCEEDED);

  // Guards: a run's history begins anew after a number of turns, and no turn is skipped or repeated.
  test('continues as new and keeps going', async () => {
    const turns: number[] = [];
    const takeTurn = async (turn: Turn) => {
      turns.push(turn.turn);
      return tools(turn);
    };
    let calls = 0;
    const callTool = async () => void calls++;
    await withRuns(temporal, { takeTurn, callTool }, async ({ start }) => {
      const run = await start({ continueAfterTurns: 2 });
      const first = temporal.client.workflow.getHandle(run.workflowId, (await run.describe()).runId);
      expect(await endOf(run)).toBe('COMPLETED');
      expect(turns).toEqual([1, 2, 3, 4, 5, 6]);
      expect(calls).toBe(2 * TURNS);
      expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW');
      expect((await eventsOf(run)).length).toBeLessThan((await eventsOf(first)).length + 10);
    });
  });

  // Guards: a signal during continuing as new neither stops the run nor changes its turns. Nothing is carried over: a
  // run that has begun does not wait again, and one that waits checks for itself first.
  test('takes a signal while it continues as new', async () => {
    const inLastTool = Promise.withResolvers<void>();
    const signalled = Promise.withResolvers<void>();
    const turns: number[] = [];
    const takeTurn = async (turn: Turn) => {
      turns.push(turn.turn);
      return tools(turn);
    };
    const callTool = async () => {
      if (turns.length !== 2) return;
      inLastTool.resolve();
      await signalled.promise;
    };
    await withRuns(temporal, { takeTurn, callTool }, async ({ start }) => {
      const run = await start({ continueAfterTurns: 2 });
      await inLastTool.promise;
      await run.signal(goAheadSignal);
      signalled.resolve();
      expect(await endOf(run)).toBe('COMPLETED');
      expect(turns).toEqual([1, 2, 3, 4, 5, 6]);
    });
  });
});
