/** A run that waits for people: what ends the wait, and that nothing else does. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Activities } from '../../activities/index.ts';
import type { TurnOutcome } from '../../src/resources/runs/model.ts';
import { submittedSignal } from '../../workflows/run/messages.ts';
import { eventually } from '../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { endOf, eventsOf, firstTurn, runIdOf, timersOf, withRuns } from './run-worker.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

const asks = (count: number): TurnOutcome => ({
  kind: 'tools',
  calls: Array.from({ length: count }, (_, n) => ({
    callId: `call_${n}`,
    tool: 'ask_human',
    effect: 'idempotent',
    dispatch: 'human',
  })),
});

/** Activities of a run that asks that many questions at once; `call_0` waits for `page_0`. */
function asking(count: number, timeoutMs = 3_600_000) {
  const answers: string[] = [];
  const activities = {
    takeTurn: firstTurn(asks(count)),
    callTool: async ({ callId }) => ({ pageId: callId.replace('call', 'page'), timeoutMs }),
    recordSubmission: async ({ callId, pageId }) => void answers.push(`${callId} ${pageId}`),
  } satisfies Partial<Activities>;
  return { answers, activities };
}

// Guards: each wait ends with its own submission, in any order, also where every task replays the run.
test.each([{}, { maxCachedWorkflows: 0 }])('ends with the submission of its page, with %j', async (options) => {
  const { answers, activities } = asking(3);
  await withRuns(
    temporal,
    activities,
    async ({ start }) => {
      const run = await start();
      await eventually(async () => expect(await timersOf(run)).toEqual([3_600, 3_600, 3_600]));
      await run.signal(submittedSignal, 'page_of_somebody_else');
      for (const n of [2, 0]) {
        await run.signal(submittedSignal, `page_${n}`);
        await eventually(() => expect(answers).toContain(`call_${n} page_${n}`));
      }
      // Told twice, as housekeeping may do.
      await run.signal(submittedSignal, 'page_0');
      expect(answers).toHaveLength(2);
      await run.signal(submittedSignal, 'page_1');
      expect(await endOf(run)).toBe('COMPLETED');
      expect(answers).toEqual(['call_2 page_2', 'call_0 page_0', 'call_1 page_1']);
    },
    options,
  );
});

// Guards: a submission that arrives while the page is still being made is not lost.
test('hears what came before the wait', async () => {
  const { answers, activities } = asking(1);
  const entered = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const callTool = async (call: Parameters<typeof activities.callTool>[0]) => {
    entered.resolve();
    await mayGoOn.promise;
    return activities.callTool(call);
  };
  await withRuns(temporal, { ...activities, callTool }, async ({ start }) => {
    const run = await start();
    await entered.promise;
    await run.signal(submittedSignal, 'page_0');
    mayGoOn.resolve();
    expect(await endOf(run)).toBe('COMPLETED');
    expect(answers).toEqual(['call_0 page_0']);
    expect(await timersOf(run)).toEqual([]);
  });
});

// Guards: the wait lasts as long as the call asked for; then the record is checked once.
test('ends with its time', async () => {
  const { answers, activities } = asking(1, 1_000);
  await withRuns(temporal, activities, async ({ start }) => {
    const run = await start();
    expect(await endOf(run)).toBe('COMPLETED');
    expect(await timersOf(run)).toEqual([1]);
    expect(answers).toEqual(['call_0 page_0']);
  });
});

// Guards: no worker is held while a person thinks: only a timer runs.
test('is no activity', async () => {
  const { activities } = asking(1);
  await withRuns(temporal, activities, async ({ start, ends }) => {
    const run = await start();
    await eventually(async () => expect(await timersOf(run)).toHaveLength(1));
    expect((await run.describe()).raw.pendingActivities ?? []).toEqual([]);
    await run.cancel();
    expect(await endOf(run)).toBe('CANCELLED');
    expect(ends).toEqual([{ runId: runIdOf(run), status: 'cancelled' }]);
    expect((await eventsOf(run)).some(({ timerCanceledEventAttributes: timer }) => timer)).toBe(true);
  });
});
