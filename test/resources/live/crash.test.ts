/** Places in the log over a crash of the database server. */
import { expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createDatabase } from '../../../src/platform/db/client.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { BEGINNING, isAfter } from '../../../src/resources/event-log/model.ts';
import { createEventLogStore } from '../../../src/resources/event-log/store/read.ts';
import { startNativePostgres } from '../../support/database/native-postgres.ts';

// Guards: whoever follows a quiet workspace goes on after the crash with the cursor that the stream began with, and sees what is
// then written. Numbers of transactions that wrote nothing are given again after it: a place beyond them would be unknown
// at first, and then hide what was written before it.
test('the place at which a quiet stream began is good after a crash', async () => {
  // The log is written when somebody waits for it, and not by the clock.
  const server = await startNativePostgres(['wal_writer_delay=10s', 'autovacuum=off']);
  if (typeof server === 'string') throw new Error(server);
  try {
    await migrate(server.url);
    /** @returns places of before a crash, and the database after it */
    const crash = async () => {
      const before = createDatabase({ url: server.url, poolSize: 1 });
      const burn = async () => {
        for (let n = 0; n < 20; n++) await before.rows(sql`select pg_current_xact_id()`);
      };
      await burn();
      const log = createEventLogStore(before);
      const lasting = await log.lastingEnd();
      await burn();
      const passing = await log.end();
      await server.kill();
      await before.close().catch(() => {});
      await server.start();
      const after = createDatabase({ url: server.url, poolSize: 1 });
      const restarted = createEventLogStore(after);
      return { lasting, after, restarted, tookBack: isAfter(passing, await restarted.end()) };
    };
    // The log is on the disk now and then although nobody waited for it, and such a crash takes nothing back.
    let crashed = await crash();
    for (let left = 4; left > 0 && !crashed.tookBack; left--) {
      await crashed.after.close();
      crashed = await crash();
    }
    const { lasting, after, restarted, tookBack } = crashed;
    expect(tookBack).toBe(true);
    expect(isAfter(lasting, await restarted.end())).toBe(false);
    await after.rows(sql`insert into log_events (customer_id, kind, topic, subject, payload)
      values ('acme', 'wait', 'opened', 'after the crash', '{}')`);
    const told = async (from = lasting) =>
      (await restarted.readPage('acme', {}, { after: from, limit: 10 })).rows.map(({ data }) => data.id);
    expect(await told()).toEqual(['after the crash']);
    expect(await told(BEGINNING)).toEqual(['after the crash']);
    await after.close();
  } finally {
    await server.stop();
  }
});
