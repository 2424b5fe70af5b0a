/** A copy of the database on a server whose transactions have lower numbers than those that wrote what is there. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { BEGINNING } from '../../../src/resources/event-log/model.ts';
import { continueEventOrder, createEventLogStore } from '../../../src/resources/event-log/store/read.ts';
import { openTestDatabase } from '../../support/database/database.ts';

// Guards: after a restore into another database, earlier events stay visible and later ones come after them, and
// repeating the move changes nothing.
test('the order goes on after a move to another server', async () => {
  const database = await openTestDatabase();
  const { db } = database;
  const log = createEventLogStore(db);
  const add = (subject: string) =>
    db.rows(sql`insert into log_events (customer_id, kind, topic, subject, payload)
      values ('a', 'wait', 'opened', ${subject}, '{}')`);
  await add('before');
  await db.rows(sql`update log_events set tx = tx + 5000000`);
  await continueEventOrder(db);
  const offset = () => db.rows(sql`select event_offset()`);
  const first = await offset();
  await continueEventOrder(db);
  expect(await offset()).toEqual(first);
  await add('after');
  // Other tests write on the same server.
  let read: unknown[] = [];
  while (read.length < 2) {
    read = (await log.readPage('a', {}, { after: BEGINNING, limit: 10 })).rows.map(({ data }) => data.id);
  }
  expect(read).toEqual(['before', 'after']);
  await database.close();
});
