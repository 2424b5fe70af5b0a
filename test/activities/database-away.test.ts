/** Activities whose database goes away under them. */
import { expect, jest, test } from '@jest/globals';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { outlastingDatabase } from '../../activities/database-away.ts';
import { createToolActivities, type ToolDependencies } from '../../activities/tools.ts';
import { present } from '../../src/platform/core/present.ts';
import { DatabaseAway } from '../../src/platform/db/away.ts';

/** One attempt, of work that fails like this, with a database that is back at the given look. */
async function attempt({
  failure = new DatabaseAway(new Error('refused')) as Error,
  backAtLook = 1,
  isLocal = false,
  cancelAtLook = Infinity,
}) {
  const stop = new AbortController();
  const heartbeat = jest.fn();
  let looks = 0;
  const { inbound } = outlastingDatabase({
    lookEveryMs: 2,
    ping: async () => {
      looks += 1;
      if (looks >= cancelAtLook) stop.abort();
      if (looks < backAtLook) throw new Error('refused');
    },
  })({ info: { isLocal }, heartbeat, cancellationSignal: stop.signal } as unknown as Context);
  const thrown = await present(present(inbound).execute)({ args: [], headers: {} }, () =>
    Promise.reject(failure),
  ).catch((error: unknown) => error);
  return { thrown, looks, beats: heartbeat.mock.calls.length };
}

// Guards: an outage of the database costs one attempt, however long it lasts: the attempt heartbeats meanwhile and ends
// when the database is back.
test('outlasts an outage', async () => {
  const { thrown, looks, beats } = await attempt({ backAtLook: 20 });
  expect(thrown).toBeInstanceOf(DatabaseAway);
  expect(looks).toBe(20);
  expect(beats).toBeGreaterThan(0);
});

// Guards: only an absent database makes an activity wait, and only where attempts are counted.
test('waits for nothing else', async () => {
  expect(await attempt({ failure: new Error('no') })).toMatchObject({ looks: 0 });
  expect(await attempt({ isLocal: true })).toMatchObject({ looks: 0 });
});

// Guards: a worker that is told to stop does not wait for a database that stays away.
test('ends when nobody waits for it', async () => {
  expect(await attempt({ backAtLook: Infinity, cancelAtLook: 3 })).toMatchObject({ looks: 3 });
});

/** A call of a tool whose result cannot be recorded so often, or whose own query fails. */
async function callOf({ timesAway = 0, failure }: { timesAway?: number; failure?: Error }) {
  let effects = 0;
  const recorded: unknown[] = [];
  const { callTool } = createToolActivities({
    runs: {
      loadToolCall: async () => ({
        status: 'pending',
        runStatus: 'running',
        customerId: 'acme',
        tool: 'send',
        arguments: {},
      }),
      async recordToolResult({ result }: { result: unknown }) {
        if (timesAway-- > 0) throw new DatabaseAway(new Error('refused'));
        recorded.push(result);
      },
    },
    tools: {
      get: async () => ({
        dispatch: 'activity',
        async execute() {
          effects += 1;
          if (failure) throw failure;
          return { sent: true };
        },
      }),
    },
  } as unknown as ToolDependencies);
  const context = { heartbeat() {}, cancellationSignal: new AbortController().signal } as unknown as Context;
  const thrown = await asyncLocalStorage
    .run(context, () => callTool({ runId: 'run', callId: 'call' }))
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  return { effects, recorded, thrown };
}

// Guards: an effect that took place is recorded once the database is back, so nobody has to wonder whether it did.
test('an outage between an effect and its record is waited out', async () => {
  expect(await callOf({ timesAway: 1 })).toEqual({ effects: 1, recorded: [{ sent: true }], thrown: undefined });
});

// Guards: a failing query of a tool keeps its own error class, which keeps its text and parameters out of the history.
test('no query is told to the model', async () => {
  const failure = new DrizzleQueryError('select $1', ['secret'], new Error('deadlock detected'));
  expect(await callOf({ failure })).toEqual({ effects: 1, recorded: [], thrown: failure });
});
