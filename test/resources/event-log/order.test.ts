/** The order of a workspace's events: whoever reads it from place to place meets each event exactly once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { BEGINNING, isAfter, type Place } from '../../../src/resources/event-log/model.ts';
import { createEventLogStore, type EventLogStore } from '../../../src/resources/event-log/store/read.ts';
import { pick, seeded } from '../../proof/random.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let log: EventLogStore;
beforeAll(async () => {
  database = await openTestDatabase();
  log = createEventLogStore(database.db);
  for (const customer of ['alba', 'bora']) {
    await makeWorkspace(database.db, `acc_${customer}`);
    await database.db.rows(sql`insert into runs (id, customer_id, agent, transport, prompt)
      values (${`run-${customer}`}, ${customer}, 'writer', 'rest', 'Write.')`);
    await database.db.rows(sql`
      insert into projects (id, customer_id, title, workflow_slug, workflow_version, brief, auth_mode)
      values (${`project-${customer}`}, ${customer}, 'Bread', 'content', 1, 'Bread.', 'session')`);
  }
});
afterAll(() => database?.close());

/** One event of each kind of table, with its name in it. */
const WRITES: readonly ((customer: string, name: string) => string)[] = [
  (customer, name) => `insert into run_events (run_id, customer_id, key, event_type, payload)
    values ('run-${customer}', '${customer}', '${name}', 'tool_call', '{"name":"${name}"}')`,
  (customer, name) => `insert into project_events (project_id, customer_id, level, category, topic, actor_kind, payload)
    values ('project-${customer}', '${customer}', 'info', 'task', 'phase_started', 'system', '{"name":"${name}"}')`,
  (customer, name) => `insert into log_events (customer_id, kind, topic, subject, payload)
    values ('${customer}', 'wait', 'opened', '${name}', '{"name":"${name}"}')`,
];

const nameOf = (data: Record<string, unknown>): string =>
  ((data.payload ?? data.payload_jsonb) as { name: string }).name;

/** Follows a workspace, in pages as small as this. */
function reader(customer: string, limit: number) {
  let after: Place = BEGINNING;
  const seen: string[] = [];
  const places: Place[] = [];
  return {
    seen,
    places,
    async read(): Promise<void> {
      const page = await log.readPage(customer, {}, { after, limit });
      for (const row of page.rows) {
        seen.push(nameOf(row.data));
        places.push({ tx: row.tx, seq: row.seq });
      }
      after = page.next;
    },
    /** Of what is committed: other tests' databases are on the same server, and what is written there holds it up too. */
    async readToTheEnd(): Promise<void> {
      const [{ tx }] = (await database.db.rows<{ tx: number }>(sql`select event_tx()::float8 as tx`)) as [
        { tx: number },
      ];
      while (after.tx <= tx) await this.read();
    },
  };
}

/** Transactions that are open side by side, write when it is their turn and end in any order, some by a rollback. */
async function interleave(clients: readonly pg.Client[], tag: string, steps: number, meanwhile: () => Promise<void>) {
  const random = seeded(20_261_124);
  const chance = (likely: number): boolean => random() < likely;
  const open = new Map<pg.Client, string[]>();
  const committed: string[] = [];
  let named = 0;
  const end = async (client: pg.Client, written: string[]) => {
    const isKept = chance(0.85);
    await client.query(isKept ? 'commit' : 'rollback');
    open.delete(client);
    if (isKept) committed.push(...written);
  };
  for (let step = 0; step < steps; step++) {
    const client = pick(random, clients);
    const written = open.get(client);
    if (!written) {
      await client.query('begin');
      open.set(client, []);
    } else if (written.length > 0 && chance(0.4)) {
      await end(client, written);
    } else {
      const name = `${tag}-${named++}`;
      await client.query(pick(random, WRITES)(chance(0.7) ? 'alba' : 'bora', name));
      written.push(name);
    }
    if (chance(0.4)) await meanwhile();
  }
  for (const [client, written] of open) await end(client, written);
  return committed;
}

const isNative = (): boolean => database.poolSize > 1;
async function withClients<T>(count: number, work: (clients: pg.Client[]) => Promise<T>): Promise<T> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: database.url }));
  await Promise.all(clients.map((client) => client.connect()));
  return work(clients).finally(() => Promise.all(clients.map((client) => client.end())));
}

describe('transactions that commit out of order', () => {
  // Guards against: a reader that misses an event whose transaction began before, and committed after, one that it has
  // read; that gets one twice; or that gets one that was rolled back. The embedded database has one connection, so
  // nothing is interleaved there.
  test('every reader meets each event exactly once, in one order', async () => {
    if (!isNative()) return;
    const readers = ['alba', 'bora'].flatMap((customer) => [1, 7, 500].map((limit) => reader(customer, limit)));
    const committed = await withClients(12, (clients) =>
      interleave(clients, 'a', 1_200, async () => {
        for (const each of readers) await each.read();
      }),
    );
    for (const each of readers) await each.readToTheEnd();
    expect(committed.length).toBeGreaterThan(300);
    const [one, ...others] = readers.slice(0, 3);
    expect([...present(one).seen, ...itemAt(readers, 3).seen].sort()).toEqual(committed.toSorted());
    for (const other of others) expect(other.seen).toEqual(present(one).seen);
    expect(present(one).places.every((place, i) => i === 0 || isAfter(place, itemAt(present(one).places, i - 1)))).toBe(
      true,
    );
  });

  // Guards: the test above could fail: without the horizon the same readers miss events.
  test('without the horizon events are missed', async () => {
    if (!isNative()) return;
    const all = reader('alba', 500);
    await all.readToTheEnd();
    const before = all.seen.length;
    await database.db.rows(sql`create or replace function event_horizon() returns bigint language sql stable as
      'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset()'`);
    await withClients(12, (clients) => interleave(clients, 'b', 600, () => all.read()));
    await all.readToTheEnd();
    await database.db.rows(sql`create or replace function event_horizon() returns bigint language sql stable as
      'select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + event_offset()'`);
    const sighted = reader('alba', 500);
    await sighted.readToTheEnd();
    expect(all.seen.length).toBeGreaterThan(before);
    expect(all.seen.length).toBeLessThan(sighted.seen.length);
  });
});
