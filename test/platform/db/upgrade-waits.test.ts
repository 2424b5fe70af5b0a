/** The inbox of a database that waited before there was an inbox: what is open is brought forward, whatever it waits for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { startPostgres, type EmbeddedPostgres } from '../../../src/embedded/postgres.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import { migrateUpTo, upgrade } from '../../support/database/upgrade.ts';

let folder: string;
let postgres: EmbeddedPostgres;
let db: Database;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-upgrade-'));
  postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  db = createDatabase({ url: postgres.url, poolSize: 1 });
});
afterAll(async () => {
  await db?.close();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Fixed, so that the rows below can name each other. */
const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const STARTED = '2026-10-01 08:00:00+00';

/** One of each kind that waits, and beside each of them one that looks like it and does not. */
const EARLIER = `
  insert into workspaces (identity_workspace_id, customer_id, plan, status, ready_at) values ('acc_old', 'old', 'pro_byo', 'ready', now());
  insert into projects (id, customer_id, title, workflow_slug, workflow_version, brief, auth_mode, status, pause_reason)
  select id, 'old', id, 'content', 1, 'Bread.', 'session', status::project_status, reason::pause_reason from (values
    ('gated', 'active', null), ('stopped', 'paused', 'budget_breached'), ('asked', 'paused', 'requested')) as p(id, status, reason);
  insert into project_events (project_id, customer_id, topic, level, category, actor_kind, ts, payload)
    values ('stopped', 'old', 'project_paused', 'warn', 'project', 'system', '${STARTED}', '{}');
  insert into tasks (id, project_id, customer_id, position, phase_slug, title, status, task_kind)
    values ('${id(1)}', 'gated', 'old', 0, 'text', 'Text', 'blocked', 'regular'),
      ('${id(2)}', 'gated', 'old', 1, 'edit', 'Edit', 'blocked', 'edit_session');
  insert into subtasks (id, task_id, project_id, customer_id, position, step_slug, title, kind, role, max_attempts, status, gate_kind, gate_config, started_at)
  select id::uuid, task::uuid, 'gated', 'old', n, 'step-' || n, 'Step', 'gate', 'gatekeeper', 1, status::task_status, kind::gate_kind,
    config::jsonb, '${STARTED}' from (values
    (1, '${id(11)}', '${id(1)}', 'blocked', 'human', '{"due_in_s": 3600}'), (2, '${id(12)}', '${id(1)}', 'blocked', 'webhook', '{"expires_in_s": 60}'),
    (3, '${id(13)}', '${id(2)}', 'blocked', 'human', '{}'), (4, '${id(14)}', '${id(1)}', 'blocked', 'schedule', '{}'),
    (5, '${id(15)}', '${id(1)}', 'succeeded', 'human', '{}')) as s(n, id, task, status, kind, config);
  insert into runs (id, customer_id, agent, transport, prompt, status, completed_at) values
    ('01asks', 'old', 'writer', 'rest', 'Ask.', 'running', null), ('01over', 'old', 'writer', 'rest', 'Ask.', 'succeeded', now());
  insert into run_tool_calls (run_id, customer_id, call_id, turn, position, tool, arguments, effect)
    select run, 'old', 'call', 1, 0, tool, '{"question": "Which?"}', 'idempotent' from (values ('01asks', 'ask_human'), ('01over', 'ask_human')) as c(run, tool);
  insert into run_tool_calls (run_id, customer_id, call_id, turn, position, tool, arguments, effect)
    values ('01asks', 'old', 'post', 1, 1, 'http_request', '{}', 'irreversible');
  insert into miniapp_pages (id, token_hash, customer_id, run_id, call_id, tool, html, expires_at, submitted_at, submitted) values
    ('${id(21)}', 'a', 'old', '01asks', 'call', 'ask_human', '', now() + interval '1 day', null, null),
    ('${id(22)}', 'b', 'old', '01over', 'call', 'ask_human', '', now() + interval '1 day', null, null);
`;

// Guards: an upgrade loses no wait and invents none; each is as it would have been opened, can be settled, and waits again.
test('what is open is in the inbox after an upgrade, and nothing else', async () => {
  await migrateUpTo(postgres.url, '0014_run_texts');
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(EARLIER).finally(() => client.end());
  await upgrade(postgres.url);
  const open = await db.rows(sql`
    select kind, subject, revision, project_id as project, run_id as run, opened_at = ${STARTED}::timestamptz as since,
      extract(epoch from due_at - opened_at)::int as due, expires_at is not null as ends
    from waits where settled_at is null order by kind`);
  const gate = { revision: 1, project: 'gated', run: null, since: true, due: null, ends: false };
  expect(open).toEqual([
    { ...gate, kind: 'gate', subject: id(11), due: 3_600 },
    { ...gate, kind: 'plan', subject: id(13) },
    { ...gate, kind: 'webhook_gate', subject: id(12), due: 60 },
    { ...gate, kind: 'question', subject: id(21), project: null, run: '01asks', since: false, ends: true },
    { ...gate, kind: 'paused', subject: 'stopped', project: 'stopped' },
  ]);
  expect(await db.rows(sql`select 1 from waits where settled_at is not null`)).toEqual([]);
  expect(await inboxFaults(db)).toEqual([]);

  // What earlier code began is ended by the code of now.
  await db.rows(sql`update run_tool_calls set lost_at = now() where call_id = 'post'`);
  expect(await inboxFaults(db)).toEqual([]);
  await db.rows(sql`update subtasks set status = 'succeeded' where id = ${id(11)}::uuid`);
  await db.rows(sql`update projects set status = 'active', pause_reason = null where id = 'stopped'`);
  await db.rows(sql`update runs set status = 'cancelled', completed_at = now() where id = '01asks'`);
  expect(await db.rows(sql`select kind from waits where settled_at is null order by kind`)).toEqual([
    { kind: 'plan' },
    { kind: 'webhook_gate' },
  ]);
  await db.rows(sql`update projects set status = 'paused', pause_reason = 'subtask_failed' where id = 'stopped'`);
  expect(await db.rows(sql`select revision from waits where subject = 'stopped' and settled_at is null`)).toEqual([
    { revision: 2 },
  ]);
  expect(await inboxFaults(db)).toEqual([]);
});
