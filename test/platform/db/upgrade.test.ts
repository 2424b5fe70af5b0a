/** Migrations go forward on a database that an earlier release has been working on. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type EmbeddedPostgres } from '../../../src/embedded/postgres.ts';
import { migrateUpTo, migrationTags, upgrade } from '../../support/database/upgrade.ts';

let folder: string;
let postgres: EmbeddedPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-upgrade-'));
  postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
});
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

// Guards: an upgrade keeps the data, fills new columns of old rows, and may be started twice at once and repeated.
test('an upgrade keeps what is there', async () => {
  await migrateUpTo(postgres.url, '0004_scheduled_jobs');
  await query(`
    insert into workspaces (identity_workspace_id, customer_id, plan, status, ready_at)
      values ('acc_old', 'old', 'pro_byo', 'ready', now());
    insert into workspaces (identity_workspace_id, customer_id, plan, status, archived_at, config) values
      ('acc_paid', 'paid', 'pro_byo', 'ready', null, '{"billing_subscription_id": "sub_1"}'),
      ('acc_agreed', 'agreed', 'scale', 'ready', null, '{"billing_subscription_id": "sub_2"}'),
      ('acc_own', 'own', 'internal', 'ready', null, null),
      ('acc_gone', 'gone', 'scale', 'archived', now(), null),
      ('acc_kept', 'kept', 'starter_byo', 'archived', now(), '{"billing_subscription_id": "sub_3"}');
    insert into runs (id, customer_id, agent, transport, prompt) values ('01old', 'old', 'writer', 'rest', 'Write.');
    insert into budgets (id, customer_id, limit_usd, spent_usd) values ('run:01old', 'old', 2, 0.5);
    insert into projects (id, customer_id, title, workflow_slug, workflow_version, brief, auth_mode)
      values ('old-1', 'old', 'Old', 'content', 1, 'Bread.', 'session');
    insert into api_keys (customer_id, name, key_hash, key_prefix) values ('old', 'key', 'hash', 'svc_old');
    insert into agents (customer_id, slug, prompt, model) values ('old', 'mine', 'Work.', 'claude-haiku-4-5');
    insert into memory_entries (customer_id, type, slug, name, content) values ('old', 'note', 'n', 'Note', 'A note.');
    insert into webhook_subscriptions (customer_id, url, events, sealed_secret) values ('old', 'https://old.example', '{*}', 's');
    insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, body)
      select gen_random_uuid(), 'old', id, 'run.succeeded', 'run:01old', '{"old":true}' from webhook_subscriptions;
  `);
  await migrateUpTo(postgres.url, '0006_growth');
  await query(`
    insert into output_destinations (id, customer_id, name, kind, config) values
      (gen_random_uuid(), 'old', 'mail', 'email', '{"to": ["Ana@old.example", "ana@old.example", "bob@old.example"]}'),
      (gen_random_uuid(), 'old', 'hook', 'webhook', '{"url": "https://example.com"}');
    insert into runs (id, customer_id, agent, transport, prompt, status, completed_at, error)
      values ('01dear', 'paid', 'writer', 'rest', 'Write.', 'failed', now(), 'budget_exceeded: it has none left: none');
    insert into login_challenges (id, email, code_hmac, expires_at) values ('c', 'ana@old.example', 'h', now());
  `);
  await Promise.all([upgrade(postgres.url), upgrade(postgres.url)]);
  await upgrade(postgres.url);

  const applied = await query('select id from drizzle.__drizzle_migrations');
  expect(applied).toHaveLength((await migrationTags()).length);
  expect(await query(`select plan, status from workspaces where customer_id = 'old'`)).toEqual([
    { plan: 'pro_byo', status: 'ready' },
  ]);
  // Nobody loses a plan; what is no workspace any more has none to lose.
  const plans = 'plan_in_force as plan, granted_plan as granted, paid_plan as paid';
  expect(await query(`select customer_id as id, ${plans} from workspaces order by id`)).toEqual([
    { id: 'agreed', plan: 'scale', granted: 'scale', paid: null },
    { id: 'gone', plan: 'free', granted: null, paid: null },
    { id: 'kept', plan: 'starter_byo', granted: null, paid: 'starter_byo' },
    { id: 'old', plan: 'pro_byo', granted: 'pro_byo', paid: null },
    { id: 'own', plan: 'internal', granted: null, paid: null },
    { id: 'paid', plan: 'pro_byo', granted: null, paid: 'pro_byo' },
  ]);
  expect(await query(`select spent_usd::float8 as spent from budgets where id = 'run:01old'`)).toEqual([
    { spent: 0.5 },
  ]);
  expect(await query(`select error_code as code from runs order by id`)).toEqual([
    { code: 'budget_exceeded' },
    { code: null },
  ]);
  // Under way, so housekeeping will ask about them.
  for (const table of ['runs', 'projects']) {
    expect(await query(`select 1 as n from ${table} where customer_id = 'old' and checked_at <= now()`)).toHaveLength(
      1,
    );
  }
  // Accepted and perhaps never started, so housekeeping will start it; a delivery with what it was recorded with.
  expect(
    await query(`select
      (select count(*)::int from runs where status = 'queued' and start_due_at < now() + interval '16 seconds') as runs,
      (select count(*)::int from projects where status = 'planning' and start_due_at < now() + interval '16 seconds') as projects,
      (select body from webhook_deliveries where status = 'pending' and due_at < now() + interval '16 seconds') as body`),
  ).toEqual([{ runs: 1, projects: 1, body: '{"old":true}' }]);
  // Lists count what was there before they counted.
  expect(
    await query(`select list, rows::int, dims from tallies where customer_id = 'old' and level = 5 order by list`),
  ).toEqual([
    { list: 'memory_entries', rows: 1, dims: [null, 'note', 'shared'] },
    { list: 'projects', rows: 1, dims: ['planning', 'content'] },
    { list: 'runs', rows: 1, dims: ['writer', 'rest'] },
    { list: 'webhook_deliveries', rows: 1, dims: ['pending', '1'] },
  ]);
  // What is there is taken up by the search later, a batch after another.
  expect(await query('select source, up_to from search_backfills order by source')).toEqual([
    { source: 'projects', up_to: 'old-1' },
    { source: 'runs', up_to: '01old' },
  ]);
  // Addresses of destinations wait for an answer, each once; what was sealed without its row is known to be.
  expect(await query(`select email, answer, asked_at from output_recipients order by email`)).toEqual([
    { email: 'ana@old.example', answer: null, asked_at: null },
    { email: 'bob@old.example', answer: null, asked_at: null },
  ]);
  expect(await query('select secrets_bound from webhook_subscriptions')).toEqual([{ secrets_bound: false }]);
  expect(await query('select known from login_challenges')).toEqual([{ known: false }]);
  for (const table of ['api_keys', 'agents', 'memory_entries']) {
    expect(await query(`select 1 as n from ${table} where customer_id = 'old'`)).toHaveLength(1);
  }
});
