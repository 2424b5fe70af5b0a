/** Migrations go forward on a database that an earlier release has been working on. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type EmbeddedPostgres } from '../../../src/embedded/postgres.ts';
import { migrateUpTo, migrationTags, upgrade } from '../../support/upgrade.ts';

let folder: string;
let postgres: EmbeddedPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-upgrade-'));
  postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
}, 60_000);
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function query<Row>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows as Row[])
    .finally(() => client.end());
}

// Guards: an upgrade keeps what is there, gives old rows what new columns need, and can be begun twice at once and again.
test('an upgrade keeps what is there', async () => {
  await migrateUpTo(postgres.url, '0004_scheduled_jobs');
  await query(`
    insert into workspaces (identity_workspace_id, customer_id, plan, status, ready_at)
      values ('acc_old', 'old', 'pro_byo', 'ready', now());
    insert into runs (id, customer_id, agent, transport, prompt) values ('01old', 'old', 'writer', 'rest', 'Write.');
    insert into budgets (id, customer_id, limit_usd, spent_usd) values ('run:01old', 'old', 2, 0.5);
    insert into projects (id, customer_id, title, workflow_slug, workflow_version, brief, auth_mode)
      values ('old-1', 'old', 'Old', 'content', 1, 'Bread.', 'session');
    insert into api_keys (customer_id, name, key_hash, key_prefix) values ('old', 'key', 'hash', 'svc_old');
    insert into agents (customer_id, slug, prompt, model) values ('old', 'mine', 'Work.', 'claude-haiku-4-5');
    insert into memory_entries (customer_id, type, slug, name, content) values ('old', 'note', 'n', 'Note', 'A note.');
  `);
  await Promise.all([upgrade(postgres.url), upgrade(postgres.url)]);
  await upgrade(postgres.url);

  const applied = await query('select id from drizzle.__drizzle_migrations');
  expect(applied).toHaveLength((await migrationTags()).length);
  expect(await query(`select plan, status from workspaces where customer_id = 'old'`)).toEqual([
    { plan: 'pro_byo', status: 'ready' },
  ]);
  expect(await query(`select spent_usd::float8 as spent from budgets where id = 'run:01old'`)).toEqual([
    { spent: 0.5 },
  ]);
  // Under way, so housekeeping will ask about them.
  for (const table of ['runs', 'projects']) {
    expect(await query(`select 1 as n from ${table} where customer_id = 'old' and checked_at <= now()`)).toHaveLength(
      1,
    );
  }
  // Lists count what was there before they counted.
  expect(
    await query(`select list, rows::int, dims from tallies where customer_id = 'old' and level = 5 order by list`),
  ).toEqual([
    { list: 'memory_entries', rows: 1, dims: [null, 'note', 'shared'] },
    { list: 'projects', rows: 1, dims: ['planning', 'content'] },
    { list: 'runs', rows: 1, dims: ['writer', 'rest'] },
  ]);
  for (const table of ['api_keys', 'agents', 'memory_entries']) {
    expect(await query(`select 1 as n from ${table} where customer_id = 'old'`)).toHaveLength(1);
  }
}, 180_000);
