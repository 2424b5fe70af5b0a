/** The tail that all streams of a process share, on a real log. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Place } from '../../../src/resources/event-log/model.ts';
import { createEventLogStore } from '../../../src/resources/event-log/store/read.ts';
import { createHub, type LiveListener } from '../../../src/resources/live/hub.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { eventually } from '../../support/service/service.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.close());

const add = (customer: string, subject: string) =>
  database.db.rows(sql`insert into log_events (customer_id, kind, topic, subject, payload)
    values (${customer}, 'wait', 'opened', ${subject}, '{}')`);
const countOn = (transactions: number) =>
  database.db.rows(
    sql.raw(`create or replace function event_offset() returns bigint language sql stable parallel safe as
      'select ${transactions}::bigint'`),
  );

function tail() {
  const store = createEventLogStore(database.db);
  let rounds = 0;
  const ends: Place[] = [];
  const readings = { isFailing: false, failed: 0 };
  const hub = createHub({
    store: {
      ...store,
      async lastingEnd() {
        const end = await store.lastingEnd();
        ends.push(end);
        return end;
      },
      async readTail(...args) {
        if (readings.isFailing) {
          readings.failed += 1;
          throw new Error('the database is away');
        }
        const page = await store.readTail(...args);
        rounds += 1;
        return page;
      },
    },
    texts: { round: async () => {}, isRecorded: () => {} },
    log: createLog({ level: 'silent', pretty: false }),
  });
  const heard: unknown[] = [];
  const listenerOf = (customerId: string): LiveListener => ({
    customerId,
    hear: ({ data }) => void heard.push(data.id),
  });
  const anotherRound = async () => {
    const before = rounds;
    await eventually(() => expect(rounds).toBeGreaterThan(before + 1));
  };
  return { hub, heard, listenerOf, anotherRound, ends, readings };
}

// Guards: after a crash the database gives numbers of transactions again that it had not written down. A tail that had read up to
// them, although there was nothing, would be blind to what is then written under them.
test('numbers of transactions that are given again hide nothing', async () => {
  const { hub, heard, listenerOf, anotherRound } = tail();
  const listener = listenerOf('acme');
  await hub.join(listener);
  await add('acme', 'before');
  await eventually(() => expect(heard).toEqual(['before']));
  await countOn(1_000);
  await anotherRound();
  await countOn(0);
  await add('acme', 'after');
  await eventually(() => expect(heard).toEqual(['before', 'after']));
  hub.leave(listener);
});

// Guards: a listener hears what comes after it joined. Events of before, in a workspace that nobody listened to, are not told
// as news.
test('a listener begins where the log ends', async () => {
  const { hub, listenerOf, anotherRound } = tail();
  const other = listenerOf('other');
  await hub.join(other);
  await add('acme', 'early');
  await anotherRound();
  const late = listenerOf('acme');
  const { end } = await hub.join(late);
  const page = await createEventLogStore(database.db).readPage('acme', {}, { after: end, limit: 10 });
  expect(page.rows).toEqual([]);
  for (const listener of [other, late]) hub.leave(listener);
});

// Guards against: a stream that begins where the log ended when the last listener left, because nobody has read since.
test('who comes after all have left begins where the log ends then', async () => {
  const { hub, listenerOf, ends } = tail();
  const listener = listenerOf('acme');
  await hub.join(listener);
  hub.leave(listener);
  const { end, joined } = await hub.join(listener);
  hub.leave(listener);
  // The end itself may be the same: it waits for transactions of others.
  expect(ends).toHaveLength(2);
  expect([joined, end]).toEqual([ends[1], ends[1]]);
});

// Guards against: the same after rounds that failed, as they do while the database is away.
test('who comes after a round that failed begins where the log ends then', async () => {
  const { hub, listenerOf, ends, readings } = tail();
  const [early, late] = [listenerOf('acme'), listenerOf('acme')];
  readings.isFailing = true;
  await hub.join(early);
  await eventually(() => expect(readings.failed).toBeGreaterThan(0));
  expect((await hub.join(late)).end).toEqual(ends[1]);
  expect(ends).toHaveLength(2);
  for (const listener of [early, late]) hub.leave(listener);
});
