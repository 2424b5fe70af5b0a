/**
 * An archive in bulk: runs that ended long ago with what they left behind, by statements over `generate_series`. Half of
 * it is one workspace's, the other half that of fifty others. The newest thousand runs are of the last thirty days, at
 * every size: an archive grows at its old end, and what a time window costs is what happened in it.
 */
import type pg from 'pg';

/** The one whose lists are measured. */
export const ARCHIVED = 'internal';
const OTHERS = 50;
/** Later rows than those of the archive begin here, so that a larger one can be put beneath a smaller one. */
const FIRST_LIVE = 50_000_000;

/** Row `n` is older than row `n - 1`; what is asked for by a filter that hardly anything passes is the oldest. */
const AGE = `case when n <= 1000 then interval '30 days' * n / 1000.0 else interval '30 days' + interval '335 days' * (n - 1000) / 1000000.0 end`;
const SETTING_UP = `
  create or replace function pg_temp.at(n bigint) returns timestamptz language sql stable as $$ select now() - ${AGE} $$;
  create or replace function pg_temp.owner(n bigint) returns text language sql immutable as
    $$ select case when n % 2 = 1 then '${ARCHIVED}' else 'archive-' || (n / 2) % ${OTHERS} end $$;
  create or replace function pg_temp.uuid_of(kind int, n bigint) returns uuid language sql stable as $$
    select (lpad(to_hex((extract(epoch from pg_temp.at(n)) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(kind), 3, '0')
      || '8' || lpad(to_hex(n), 15, '0'))::uuid $$;
  create or replace function pg_temp.run_id(n bigint) returns text language sql stable as $$
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (45 - 5 * i)) & 31)::int + 1, 1), '' order by i)
      || lpad(n::text, 16, '0')
    from (select (extract(epoch from pg_temp.at(n)) * 1000)::bigint as ms) t, generate_series(0, 9) i $$;
  create or replace function pg_temp.agent(n bigint) returns text language sql immutable as
    $$ select (array['assistant', 'writer', 'researcher', 'editor', 'reviewer', 'planner'])[(n / 2) % 6 + 1] $$;
  insert into workspaces (identity_workspace_id, customer_id, plan, granted_plan, status, ready_at)
    select 'acc_archive-' || n, 'archive-' || n, 'pro_byo', 'pro_byo', 'ready', now() from generate_series(0, ${OTHERS - 1}) n
    on conflict do nothing;
  insert into webhook_subscriptions (customer_id, url, events, active, sealed_secret)
    select customer_id, 'https://archive.example.com', '{*}', false, 'sealed' from workspaces w
    where not exists (select 1 from webhook_subscriptions s where s.customer_id = w.customer_id and s.sealed_secret = 'sealed');
  insert into output_destinations (id, customer_id, name, kind, config, enabled)
    select md5(customer_id)::uuid, customer_id, 'archive', 'webhook', '{}', false from workspaces on conflict do nothing`;

/** `filling` has the rows that are added. */
const runs = `
  insert into runs (id, seq, customer_id, agent, transport, prompt, status, output, model, model_tier, model_rule,
    turn_count, input_tokens, output_tokens, cost_usd, event_count, last_event_at, last_event_type, created_at, started_at, completed_at)
  select run_id, ${FIRST_LIVE} - n, pg_temp.owner(n), pg_temp.agent(n),
    case when n % 10 = 9 then 'cron' else 'rest' end, 'What is new in chapter ' || n || '?',
    case when n % 50 = 1 then 'failed' else 'succeeded' end::run_status, repeat('It is as it was. ', 20), 'offline', 'offline', 'default',
    1, 200, 100, 0.0012, 3, pg_temp.at(n), 'run_completed', pg_temp.at(n), pg_temp.at(n), pg_temp.at(n) from filling`;
const events = `
  insert into run_events (id, run_id, customer_id, key, ts, event_type, duration_ms, cost_usd, status, payload)
  select ${FIRST_LIVE} * 4 - n * 4 + e, run_id, pg_temp.owner(n), 'e' || e, pg_temp.at(n),
    (array['run_received', 'run_started', 'run_completed'])[e]::run_event_type, 12, 0.0004, 'ok', '{"prompt_length": 30}'
  from filling, generate_series(1, 3) e`;
const runArtifacts = `
  insert into run_artifacts (id, customer_id, run_id, call_id, agent, filename, content_type, size_bytes, sha256, file_key, created_at)
  select pg_temp.uuid_of(1, n), pg_temp.owner(n), run_id, 'call', pg_temp.agent(n), 'a.txt', 'text/plain', 1, 'x', 'f' || n, pg_temp.at(n)
  from filling where n / 2 % 10 = 3`;
const toolCalls = `
  insert into run_tool_calls (run_id, call_id, customer_id, turn, position, tool, arguments, effect, status, result, created_at, completed_at)
  select run_id, 'call', pg_temp.owner(n), 1, 0, (array['calculator', 'current_time'])[n / 2 % 2 + 1], '{}', 'read', 'succeeded', '1', pg_temp.at(n), pg_temp.at(n)
  from filling where n / 2 % 5 = 1`;
const webhookEvents = `
  insert into webhook_events (customer_id, event_key, body, created_at)
  select pg_temp.owner(n), 'run:' || n, '{"type":"run.succeeded"}', pg_temp.at(n) from filling where n / 2 % 2 = 0`;
const deliveries = `
  insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, status, attempt_count, created_at, completed_at)
  select pg_temp.uuid_of(2, n), pg_temp.owner(n), s.id, 'run.succeeded', 'run:' || n,
    case when n % 24 = 17 then 'exhausted' else 'delivered' end::webhook_delivery_status, 1, pg_temp.at(n), pg_temp.at(n)
  from filling join webhook_subscriptions s on s.customer_id = pg_temp.owner(n) and s.sealed_secret = 'sealed' where n / 2 % 2 = 0`;
const deliveryAttempts = `
  insert into webhook_delivery_attempts (delivery_id, attempt, ts, status_code, duration_ms)
  select pg_temp.uuid_of(2, n), 1, pg_temp.at(n), 200, 10 from filling where n / 2 % 2 = 0`;
const audit = `
  insert into audit_log (id, customer_id, actor, action, target, change, status, created_at)
  select ${FIRST_LIVE} - n, pg_temp.owner(n), 'person-' || n / 2 % 5 || '@example.com', (array['agents.update', 'agents.create', 'api-keys.create'])[n / 2 % 3 + 1], '{}', '{}', 200, pg_temp.at(n)
  from filling where n / 2 % 10 in (4, 5)`;
const ledger = `
  insert into wallet_ledger (id, customer_id, key, delta_usd_micros, balance_after_usd_micros, kind, created_at)
  select ${FIRST_LIVE} - n, pg_temp.owner(n), 'run:' || n, -1200, 0, 'run', pg_temp.at(n) from filling where n / 2 % 4 = 0`;
const memory = `
  insert into memory_entries (customer_id, type, content, agent, scope, created_at, updated_at)
  select pg_temp.owner(n), (array['note', 'fact', 'feedback'])[n / 200 % 3 + 1], 'Chapter ' || n, pg_temp.agent(n), 'shared', pg_temp.at(n), pg_temp.at(n)
  from filling where n / 2 % 50 = 7`;
const threads = `
  insert into chat_threads (id, customer_id, title, created_by, created_at, updated_at)
  select pg_temp.uuid_of(3, n), pg_temp.owner(n), 'Chapter', 'person', pg_temp.at(n), pg_temp.at(n) from filling where n / 2 % 50 = 9`;

/** Of twenty runs one is a project: three phases of two steps, the first with a webhook gate. */
const OF_PROJECTS = `filling where n / 2 % 20 = 11`;
const projects = `
  insert into projects (id, seq, customer_id, title, workflow_slug, workflow_version, status, pause_reason, brief, auth_mode, completions, created_at, started_at, completed_at, abandoned_at)
  select 'archived-' || n, ${FIRST_LIVE} - n, pg_temp.owner(n), 'Chapter ' || n, (array['content', 'blog-post', 'worksheet'])[n / 40 % 3 + 1], 1,
    s.status::project_status, case when s.status = 'paused' then 'requested' end::pause_reason, 'A chapter.', 'session', 1, pg_temp.at(n), pg_temp.at(n),
    case when s.status = 'completed' then pg_temp.at(n) end, case when s.status = 'abandoned' then pg_temp.at(n) end
  from (select n, case n / 40 % 5 when 1 then 'abandoned' when 2 then 'paused' else 'completed' end as status from ${OF_PROJECTS}) s`;
const budgets = `
  insert into budgets (id, customer_id, spent_usd) select 'project:archived-' || n, pg_temp.owner(n), 0.01 from ${OF_PROJECTS} on conflict do nothing`;
const tasks = `
  insert into tasks (id, project_id, customer_id, position, phase_slug, title, status, created_at, started_at, completed_at)
  select pg_temp.uuid_of(10 + t, n), 'archived-' || n, pg_temp.owner(n), t, 'phase-' || t, 'Phase', 'succeeded', pg_temp.at(n), pg_temp.at(n), pg_temp.at(n)
  from (select n from ${OF_PROJECTS}) p, generate_series(1, 3) t`;
const subtasks = `
  insert into subtasks (id, project_id, task_id, customer_id, position, step_slug, title, kind, role, status, max_attempts, gate_kind, created_at, started_at, completed_at)
  select pg_temp.uuid_of(100 + t * 10 + s, n), 'archived-' || n, pg_temp.uuid_of(10 + t, n), pg_temp.owner(n), s, 'step-' || s, 'Step',
    case when is_gate then 'gate' else 'agent' end::step_kind, case when is_gate then 'gatekeeper' else 'producer' end::step_role,
    'succeeded', 3, case when is_gate then 'webhook' end::gate_kind, pg_temp.at(n), pg_temp.at(n), pg_temp.at(n)
  from (select n from ${OF_PROJECTS}) p, generate_series(1, 3) t, generate_series(1, 2) s, lateral (select t = 1 and s = 2 as is_gate) g`;
const attempts = `
  insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, status, dispatch_key, output, cost_usd, created_at, started_at, completed_at)
  select pg_temp.uuid_of(200 + t * 10 + s, n), 'archived-' || n, pg_temp.uuid_of(10 + t, n), pg_temp.uuid_of(100 + t * 10 + s, n), pg_temp.owner(n), 1, 'initial', 'succeeded', 'd', '"Done"', 0.001, pg_temp.at(n), pg_temp.at(n), pg_temp.at(n)
  from (select n from ${OF_PROJECTS}) p, generate_series(1, 3) t, generate_series(1, 2) s`;
const artifacts = `
  insert into artifacts (id, project_id, task_id, customer_id, phase_slug, version, schema_slug, content, produced_by_attempt_id, produced_via, created_at)
  select pg_temp.uuid_of(300 + t, n), 'archived-' || n, pg_temp.uuid_of(10 + t, n), pg_temp.owner(n), 'phase-' || t, 1, 'text', '"A chapter"', pg_temp.uuid_of(210 + t * 10, n), 'initial', pg_temp.at(n)
  from (select n from ${OF_PROJECTS}) p, generate_series(1, 3) t`;
const projectEvents = `
  insert into project_events (id, project_id, customer_id, ts, subtask_id, level, category, topic, actor_kind, payload)
  select ${FIRST_LIVE} * 20 - n * 20 + e, 'archived-' || n, pg_temp.owner(n), pg_temp.at(n), pg_temp.uuid_of(100 + e / 6 * 10 + 1, n),
    case when n / 40 % 2 = 1 and e = 7 then 'error' else 'info' end::event_level,
    case e % 4 when 0 then 'task' when 3 then case when e = 19 then 'artifact' else 'gate' end else 'subtask' end::event_category,
    'subtask_attempt_started', 'system', '{}'
  from (select n from ${OF_PROJECTS}) p, generate_series(1, 19) e`;
const outputs = `
  insert into output_deliveries (id, customer_id, destination_id, project_id, artifact_id, status, attempts, created_at, completed_at)
  select pg_temp.uuid_of(4, n), pg_temp.owner(n), md5(pg_temp.owner(n))::uuid, 'archived-' || n, pg_temp.uuid_of(301, n), 'delivered', 1, pg_temp.at(n), pg_temp.at(n) from ${OF_PROJECTS}`;

/** Of each gate an answer. */
const waits = `
  insert into waits (id, customer_id, kind, subject, project_id, subtask_id, revision, opened_at, settled_at, answer, settled_by, settled_via)
  select pg_temp.uuid_of(5, n), pg_temp.owner(n), 'webhook_gate', pg_temp.uuid_of(112, n)::text, 'archived-' || n, pg_temp.uuid_of(112, n), 1,
    pg_temp.at(n), pg_temp.at(n), 'approve', 'ci', 'signal' from ${OF_PROJECTS}`;

const STATEMENTS = [
  ...[
    runs,
    events,
    runArtifacts,
    toolCalls,
    webhookEvents,
    deliveries,
    deliveryAttempts,
    audit,
    ledger,
    memory,
    threads,
  ],
  ...[projects, budgets, tasks, subtasks, attempts, artifacts, projectEvents, outputs, waits],
];

/** Each with the table that it counts. */
export const TALLIES = [
  ...[
    ['runs', 'runs'],
    ['run_outcomes', 'runs'],
    ['projects', 'projects'],
    ['project_events', 'project_events'],
  ],
  ...[
    ['webhook_gates', 'subtasks'],
    ['audit_log', 'audit_log'],
    ['webhook_deliveries', 'webhook_deliveries'],
  ],
  ...[
    ['output_deliveries', 'output_deliveries'],
    ['run_artifacts', 'run_artifacts'],
    ['wallet_ledger', 'wallet_ledger'],
  ],
  ...[
    ['chat_threads', 'chat_threads'],
    ['memory_entries', 'memory_entries'],
  ],
] as const;

const SEQUENCES = [
  ['runs', 'seq', 1],
  ['projects', 'seq', 1],
  ['run_events', 'id', 4],
  ['project_events', 'id', 20],
  ['audit_log', 'id', 1],
  ['wallet_ledger', 'id', 1],
] as const;

/** Adds what there is more in an archive of `to` runs than in one of `from`. Past triggers and foreign keys, for speed. */
export async function fillArchive(client: pg.ClientBase, { from, to }: { from: number; to: number }): Promise<void> {
  await client.query(SETTING_UP);
  await client.query('begin');
  await client.query('set local session_replication_role = replica');
  await client.query(
    `create temporary table filling on commit drop as
      select n, pg_temp.run_id(n) as run_id from generate_series(${from + 1}::bigint, ${to}) n`,
  );
  for (const statement of STATEMENTS) await client.query(statement);
  for (const [table, column, step] of SEQUENCES) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), greatest(nextval(pg_get_serial_sequence($1, $2)), $3))`,
      [table, column, FIRST_LIVE * step + 1],
    );
  }
  for (const tally of TALLIES) await client.query('select recount_tally($1, $2)', [...tally]);
  await client.query('commit');
  // As autovacuum leaves it in time.
  await client.query('vacuum analyze');
}
