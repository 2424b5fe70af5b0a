/** Activities whose database goes away under them. */
import { expect, jest, test } from '@jest/globals';
import type { Context } from '@temporalio/activity';
import { outlastingDatabase } from '../../activities/database-away.ts';
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
  const thrown = await inbound!.execute!({ args: [], headers: {} }, () => Promise.reject(failure)).catch(
    (error: unknown) => error,
  );
  return { thrown, looks, beats: heartbeat.mock.calls.length };
}

// Guards: an outage costs one attempt, however long it is: the attempt ends, alive until then, when the database is back.
test('outlasts an outage', async () => {
  const { thrown, looks, beats } = await attempt({ backAtLook: 20 });
  expect(thrown).toBeInstanceOf(DatabaseAway);
  expect(looks).toBe(20);
  expect(beats).toBeGreaterThan(0);
});

// Guards: nobody waits for the database because of another failure, nor where the attempts are not counted.
test('waits for nothing else', async () => {
  expect(await attempt({ failure: new Error('no') })).toMatchObject({ looks: 0 });
  expect(await attempt({ isLocal: true })).toMatchObject({ looks: 0 });
});

// Guards: a worker that is told to stop does not wait for a database that stays away.
test('ends when nobody waits for it', async () => {
  expect(await attempt({ backAtLook: Infinity, cancelAtLook: 3 })).toMatchObject({ looks: 3 });
});
