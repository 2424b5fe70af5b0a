/** A run whose activities give their slots back, because its workspace has its share of the worker's. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { TurnOutcome } from '../../src/resources/runs/model.ts';
import type { SlotWait } from '../../src/platform/temporal/activity-slots.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { asksFor, endOf, eventsOf, firstTurn, SPAWNS, SUCCEEDED, withRuns, type Turn } from './run-worker.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

const attemptsBefore = () => Context.current().info.attempt - 1;
const failure = () => ApplicationFailure.create({ type: 'model_unavailable', message: 'down', nextRetryDelay: 1 });
const gaveBack = (slotWaitMs = 1): SlotWait => ({ slotWaitMs, made: attemptsBefore() });

// Guards against: a model that is asked for ever, because each slot that is given back begins the attempts again.
test('attempts at a turn are counted over all slots', async () => {
  let failures = 0;
  let looks = 0;
  const takeTurn = async ({ earlier }: Turn): Promise<TurnOutcome> => {
    const made = (earlier?.made ?? 0) + attemptsBefore();
    if (++looks % 3 === 0) return { kind: 'waiting', behind: null, lookMs: 1, earlier: { made } };
    failures += 1;
    throw failure();
  };
  await withRuns(temporal, { takeTurn }, async ({ start }) => {
    expect(await endOf(await start())).toBe('model_unavailable');
  });
  expect(failures).toBe(5);
});

// Guards: the same for a tool.
test('attempts at a tool call are counted over all slots', async () => {
  let failures = 0;
  let looks = 0;
  const callTool = async () => {
    if (++looks === 2) return gaveBack();
    failures += 1;
    throw failure();
  };
  await withRuns(
    temporal,
    { takeTurn: firstTurn(asksFor('idempotent')), callTool },
    async ({ start, toolFailures }) => {
      expect(await endOf(await start())).toBe('COMPLETED');
      expect(toolFailures).toHaveLength(1);
    },
  );
  expect(failures).toBe(3);
});

// Guards against: a history that grows by eleven events a second while a tool call waits for a slot.
test('waits of a tool call grow', async () => {
  let looks = 0;
  const callTool = async () => (++looks <= 4 ? gaveBack(5) : undefined);
  await withRuns(temporal, { takeTurn: firstTurn(asksFor('read')), callTool }, async ({ start }) => {
    const run = await start();
    expect(await endOf(run)).toBe('COMPLETED');
    const timers = (await eventsOf(run)).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? Number(timer.startToFireTimeout?.nanos) / 1_000_000 : [],
    );
    expect(timers).toEqual([5, 10, 20, 40]);
  });
});

// Guards against: a child that books a lost call of its parent, or has fewer attempts for its sake.
test('earlier attempts of a run are none of its child', async () => {
  const turns: Turn[] = [];
  const takeTurn = async (turn: Turn): Promise<TurnOutcome> => {
    turns.push(turn);
    return turn.runId === 'child' || turn.turn > 1 ? SUCCEEDED : SPAWNS;
  };
  const acceptChildRun = async () => ({ runId: 'child', agent: 'reader', wait: true });
  await withRuns(temporal, { takeTurn, acceptChildRun }, async ({ start }) => {
    // As a run that has continued as new while it waited for a slot.
    const earlier = { made: 2, underWay: { turn: 1, attempt: 2 } };
    expect(await endOf(await start({ earlier }))).toBe('COMPLETED');
    expect(turns.map((turn) => turn.earlier)).toEqual([earlier, undefined, undefined]);
  });
});
