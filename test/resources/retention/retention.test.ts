import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { encodeTime } from 'ulid';
import { newRunId, newUuid } from '../../../src/platform/core/ids.ts';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { createRetention } from '../../../src/resources/retention/service.ts';
import { createRetentionStore, STATEMENTS } from '../../../src/resources/retention/store.ts';
import { eventsOf, rowOf } from '../../support/fixtures/runs.ts';
import { startTestService, TEST_SECRETS, type Tenant, type TestService } from '../../support/service/service.ts';

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_kept');
});
afterAll(() => service.close());

const rows = <Row>(statement: SQL) => service.runtime.db.rows<Row>(statement);
const count = async (table: string, where: SQL = sql`true`): Promise<number> =>
  itemAt(await rows<{ n: number }>(sql`select count(*)::int as n from ${sql.identifier(table)} where ${where}`), 0).n;
const idAt = (at: Date) => encodeTime(at.getTime(), 10).toLowerCase() + newRunId().slice(10);
const uuidAt = (at: Date) => {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newUuid().slice(13)}`;
};
/** A run of then with a transcript; `ended`: it ended the moment it began. */
async function oldRun(days: number, ended = true): Promise<string> {
  const at = daysAgo(days);
  const id = idAt(at);
  await service.services.stores.runs.acceptRun({
    id,
    customerId: tenant.caller.customerId,
    agent: 'assistant',
    transport: 'rest',
    prompt: 'Hello',
    threadId: null,
    channelId: null,
    conversation: null,
    override: null,
  });
  await rows(sql`update runs set created_at = ${at.toISOString()}, status = ${ended ? 'succeeded' : 'running'}::run_status,
    completed_at = ${ended ? at.toISOString() : null}::timestamptz, output = 'Hi' where id = ${id}`);
  await rows(sql`insert into run_messages values (${id}, 0, 'user', '"Hello"')`);
  await rows(sql`insert into run_tool_calls (run_id, call_id, customer_id, turn, position, tool, arguments, effect)
    values (${id}, 'call', ${tenant.caller.customerId}, 1, 0, 'calculator', '{}', 'read')`);
  return id;
}
const leftOf = async (id: string) => ({
  messages: await count('run_messages', sql`run_id = ${id}`),
  calls: await count('run_tool_calls', sql`run_id = ${id}`),
  events: (await eventsOf(tenant, id)).length,
  event_count: (await rowOf(tenant, id)).event_count,
});
const WHOLE = { messages: 1, calls: 1, events: 1, event_count: 1 };

/** Settings as an operator gives them. */
const retentionWith = (env: Record<string, string>) =>
  createRetention({
    store: createRetentionStore(service.runtime.db),
    settings: loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', ...env }),
    log: service.runtime.log,
  });
const NOTHING = {
  RETENTION_RUN_DETAILS: '',
  RETENTION_EVENTS: '0',
  RETENTION_DELIVERIES: '',
  RETENTION_OTP: '',
  RETENTION_AUDIT: '',
};
const sweep = (env: Record<string, string>, signal = new AbortController().signal) =>
  retentionWith({ ...NOTHING, ...env }).sweep(signal);

// Guards: a tick deletes old transcripts and events. The run stays in the list with its result and the number of
// events that can be read, and younger runs and those in flight stay whole.
test('a tick deletes what is old', async () => {
  const [transcript, all, young, inFlight] = [
    await oldRun(100),
    await oldRun(400),
    await oldRun(10),
    await oldRun(400, false),
  ];
  await service.services.retention.sweep(new AbortController().signal);
  expect(await leftOf(all)).toEqual({ messages: 0, calls: 0, events: 0, event_count: 0 });
  expect(await leftOf(transcript)).toEqual({ messages: 0, calls: 0, events: 1, event_count: 1 });
  expect(await leftOf(young)).toEqual(WHOLE);
  expect(await leftOf(inFlight)).toEqual(WHOLE);
  expect(await rowOf(tenant, all)).toMatchObject({ last_status: 'succeeded', agent: 'assistant' });
  await rows(sql`update runs set status = 'cancelled', completed_at = now() where id = ${inFlight}`);
});

// Guards: an empty setting and 0 keep rows for ever, and no detail is deleted while its endpoint still shows it.
test('what has no end is kept', async () => {
  const id = await oldRun(300);
  expect(await sweep({})).toBe(0);
  expect(await sweep({ RETENTION_RUN_DETAILS: '1d', RUN_DETAIL_TTL: '365d' })).toBe(0);
  expect(await leftOf(id)).toEqual(WHOLE);
  expect(await sweep({ RETENTION_RUN_DETAILS: '200y' })).toBe(0);
  await sweep({ RETENTION_RUN_DETAILS: '1d' });
  expect(await leftOf(id)).toEqual({ messages: 0, calls: 0, events: 1, event_count: 1 });
});

// Guards: a page that a person may still open works, whatever became of its run.
test('open pages stay with the calls they belong to', async () => {
  const id = await oldRun(100);
  await rows(sql`insert into miniapp_pages (id, customer_id, run_id, call_id, tool, html, expires_at)
    values (${newUuid()}, ${tenant.caller.customerId}, ${id}, 'call', 'ask', '<p>', now() + interval '1 day')`);
  await sweep({ RETENTION_RUN_DETAILS: '90d' });
  expect(await leftOf(id)).toMatchObject({ messages: 0, calls: 1 });
  await rows(sql`update miniapp_pages set expires_at = now() - interval '91 days' where run_id = ${id}`);
  await sweep({ RETENTION_RUN_DETAILS: '90d' });
  expect(await leftOf(id)).toMatchObject({ calls: 0 });
  expect(await count('miniapp_pages', sql`run_id = ${id}`)).toBe(0);
});

// Guards: ended deliveries are deleted with their attempts, and unsent ones stay.
test('deliveries', async () => {
  const { body: hook } = await tenant.api('POST', '/v1/webhooks', { url: 'https://example.com/hook' });
  const at = daysAgo(100);
  const deliver = async (status: string, completed: Date | null) => {
    const id = uuidAt(at);
    await rows(sql`insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, status,
      created_at, completed_at) values (${id}, ${tenant.caller.customerId}, ${hook.id}, 'run.succeeded', ${id},
      ${status}::webhook_delivery_status, ${at.toISOString()}, ${completed?.toISOString() ?? null})`);
    await rows(sql`insert into webhook_delivery_attempts (delivery_id, attempt, duration_ms) values (${id}, 1, 5)`);
    return id;
  };
  await deliver('delivered', at);
  const gone = await deliver('delivered', at);
  const kept = [await deliver('pending', null), await deliver('exhausted', daysAgo(1))];
  // What is told goes with the last delivery that tells it.
  const tell = (eventKey: string, told: Date) =>
    rows(sql`insert into webhook_events (customer_id, event_key, body, created_at)
      values (${tenant.caller.customerId}, ${eventKey}, '{}', ${told.toISOString()})`);
  for (const eventKey of [gone, ...kept]) await tell(eventKey, at);
  await tell('of-no-delivery-yet', daysAgo(1));
  await rows(sql`insert into delivery_slots (host, n, held_until)
    values ('old.example', 1, ${at.toISOString()}), ('new.example', 1, now())`);
  await sweep({ RETENTION_DELIVERIES: '90d' });
  const told = await rows<{ key: string }>(sql`select event_key as key from webhook_events order by 1`);
  expect(told.map(({ key }) => key)).toEqual([...kept, 'of-no-delivery-yet'].toSorted());
  expect(await rows(sql`select host from delivery_slots`)).toEqual([{ host: 'new.example' }]);
  const left = await rows<{ id: string }>(sql`select id from webhook_deliveries order by id`);
  expect(left.map(({ id }) => id)).toEqual(kept.toSorted());
  expect(await count('webhook_delivery_attempts')).toBe(2);
});

// Guards: a delivery that is sent again during or after its deletion exists with its content, or is unknown.
test('a delivery that is sent again', async () => {
  const { body: hook } = await tenant.api('POST', '/v1/webhooks', { url: 'https://example.com/again' });
  const at = daysAgo(100);
  const old = async () => {
    const id = uuidAt(at);
    await rows(sql`insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, status,
      created_at, completed_at) values (${id}, ${tenant.caller.customerId}, ${hook.id}, 'run.succeeded', ${id}, 'exhausted',
      ${at.toISOString()}, ${at.toISOString()})`);
    await rows(sql`insert into webhook_events (customer_id, event_key, body, created_at)
      values (${tenant.caller.customerId}, ${id}, '{}', ${at.toISOString()})`);
    return id;
  };
  const redeliver = (id: string) => tenant.cp('POST', `/v1/webhook-deliveries/${id}/redeliver`);
  const [gone, again] = [await old(), await old()];
  expect((await redeliver(again)).status).toBe(200);
  await sweep({ RETENTION_DELIVERIES: '90d' });
  expect((await redeliver(gone)).status).toBe(404);
  expect(await count('webhook_events', sql`event_key in (${gone}, ${again})`)).toBe(1);
  expect(await rows(sql`select 1 from webhook_deliveries where id = ${again}::uuid`)).toHaveLength(1);
  // Many at once, while they go.
  const racing = await Promise.all(Array.from({ length: 10 }, old));
  const [answers] = await Promise.all([Promise.all(racing.map(redeliver)), sweep({ RETENTION_DELIVERIES: '90d' })]);
  const [{ orphans } = { orphans: -1 }] = await rows<{ orphans: number }>(sql`
    select count(*)::int as orphans from webhook_deliveries d where d.subscription_id = ${hook.id}
      and not exists (select 1 from webhook_events e where e.event_key = d.event_key and e.customer_id = d.customer_id)`);
  expect(orphans).toBe(0);
  for (const [n, { status }] of answers.entries())
    expect({ status, left: await count('webhook_deliveries', sql`id = ${itemAt(racing, n)}::uuid`) }).toEqual(
      status === 200 ? { status, left: 1 } : { status: 404, left: 0 },
    );
});

// Guards: events of projects are deleted by their own age, but not those of a project under way.
test('events of projects', async () => {
  const { customerId } = tenant.caller;
  const project = async (status: string) => {
    const id = `project-${status}-${newRunId()}`;
    await rows(sql`insert into projects (id, customer_id, title, workflow_slug, workflow_version, status, brief, auth_mode,
      completed_at) values (${id}, ${customerId}, 'T', 'w', 1, ${status}::project_status, 'B', 'session', now())`);
    for (const days of [400, 10]) {
      await rows(sql`insert into project_events (project_id, customer_id, ts, level, category, topic, actor_kind, payload)
        values (${id}, ${customerId}, ${daysAgo(days).toISOString()}, 'info', 'project', 'project_started', 'system', '{}')`);
    }
    return id;
  };
  const [done, active] = [await project('completed'), await project('active')];
  await sweep({ RETENTION_EVENTS: '365d' });
  expect(await count('project_events', sql`project_id = ${done}`)).toBe(1);
  expect(await count('project_events', sql`project_id = ${active}`)).toBe(2);
  await rows(sql`update projects set status = 'completed'`);
});

// Guards against: a reader that resumes before deleted events and is not told that some are missing.
test.each([
  ['run_events', async () => void (await oldRun(400))],
  [
    'project_events',
    async () => {
      const id = `project-${newRunId()}`;
      await rows(sql`insert into projects (id, customer_id, title, workflow_slug, workflow_version, status, brief, auth_mode,
        completed_at) values (${id}, ${tenant.caller.customerId}, 'T', 'w', 1, 'completed', 'B', 'session', now())`);
      await rows(sql`insert into project_events (project_id, customer_id, ts, level, category, topic, actor_kind, payload)
        values (${id}, ${tenant.caller.customerId}, ${daysAgo(400).toISOString()}, 'info', 'project', 'old', 'system', '{}')`);
    },
  ],
  [
    'log_events',
    async () => {
      await rows(sql`insert into log_events (customer_id, ts, kind, topic, subject, payload)
        values (${tenant.caller.customerId}, ${daysAgo(400).toISOString()}, 'wait', 'opened', 'old', '{}')`);
    },
  ],
])('what is missing of %s is noted', async (table, make) => {
  const { customerId } = tenant.caller;
  const from = async () =>
    itemAt(
      await rows<{ from: string }>(
        sql`select events_from::text as from from workspaces where customer_id = ${customerId}`,
      ),
      0,
    );
  await sweep({ RETENTION_EVENTS: '365d' });
  await make();
  const last = itemAt(
    await rows<{ tx: string }>(
      sql`select max(tx)::text as tx from ${sql.identifier(table)} where customer_id = ${customerId}`,
    ),
    0,
  );
  await sweep({ RETENTION_EVENTS: '365d' });
  expect(BigInt((await from()).from)).toBe(BigInt(last.tx) + 1n);
});

// Guards against: deleting counts of a day's mails while they still keep the mails within their cap.
test('mails of the day', async () => {
  await rows(sql`insert into output_mail_counts (day, counted, mails)
    select (now() at time zone 'utc')::date - n, 'kept', 7 from generate_series(0, 3) n`);
  await sweep({ RETENTION_DELIVERIES: '1s' });
  const left = await rows<{ ago: number }>(sql`
    select (now() at time zone 'utc')::date - day as ago from output_mail_counts where counted = 'kept' order by 1`);
  expect(left.map(({ ago }) => ago)).toEqual([0, 1]);
});

// Guards: codes, sign-ins and ended sessions are deleted when they are over and their time has passed; open ones stay.
test('codes, sign-ins and ended sessions', async () => {
  for (const [name, expires] of [
    ['old', daysAgo(2)],
    ['open', daysAgo(-1)],
  ] as const) {
    const at = expires.toISOString();
    const asked = daysAgo(3).toISOString();
    await rows(sql`insert into otp_challenges
      (id, customer_id, operation, scope, body_hash, code_hmac, expires_at, created_at)
      values (${name}, ${tenant.caller.customerId}, 'o', 's', 'b', 'c', ${at}, ${asked})`);
    await rows(sql`insert into login_challenges (id, email, code_hmac, expires_at, created_at)
      values (${name}, 'a@b.c', 'c', ${at}, ${asked})`);
    await rows(sql`insert into ended_sessions (session_hash, expires_at) values (${name}, ${at})`);
  }
  expect(await sweep({ RETENTION_OTP: '1d' })).toBe(3);
  for (const [table, id] of [
    ['otp_challenges', 'id'],
    ['login_challenges', 'id'],
    ['ended_sessions', 'session_hash'],
  ] as const) {
    const left = await rows<{ id: string }>(sql`select ${sql.identifier(id)} as id from ${sql.identifier(table)}`);
    expect(left).toEqual([{ id: 'open' }]);
  }
});

// Guards against: a setting that deletes the rows by which mails are counted before their hour is over.
test('codes of the last hour, however short the setting', async () => {
  await rows(sql`insert into otp_challenges
    (id, customer_id, operation, scope, body_hash, code_hmac, expires_at, created_at)
    select 'asked ' || minutes, ${tenant.caller.customerId}, 'o', 's', 'b', 'c',
      now() - interval '20 minutes', now() - minutes * interval '1 minute' from unnest(array[30, 61]) minutes`);
  expect(await sweep({ RETENTION_OTP: '1m' })).toBe(1);
  expect(await count('otp_challenges', sql`id = 'asked 30'`)).toBe(1);
  await rows(sql`delete from otp_challenges where id = 'asked 30'`);
});

// Guards: the audit log has its own age.
test('the audit log', async () => {
  await rows(sql`insert into audit_log (customer_id, actor, action, target, change, status, created_at)
    select 'kept', 'a', 'old', '{}', '{}', 200, now() - interval '800 days' from generate_series(1, 3)`);
  const before = await count('audit_log');
  expect(await sweep({ RETENTION_AUDIT: '730d' })).toBe(3);
  expect(await count('audit_log')).toBe(before - 3);
});

describe('many rows', () => {
  const MANY = 3_000;
  /** More than one tick deletes. */
  const VERY_MANY = 25_000;
  beforeAll(async () => {
    await rows(sql`insert into audit_log (customer_id, actor, action, target, change, status, created_at)
      select 'kept', 'a', 'many', '{}', '{}', 200, now() - n * interval '1 minute' from generate_series(1, ${VERY_MANY}) n`);
    for (const [table, columns] of [
      [
        'otp_challenges',
        sql`(id, customer_id, operation, scope, body_hash, code_hmac, expires_at)
        select 'm' || n, 'kept', 'o', 's', 'b', 'c',`,
      ],
      ['login_challenges', sql`(id, email, code_hmac, expires_at) select 'm' || n, 'a', 'c',`],
      ['ended_sessions', sql`(session_hash, expires_at) select 'm' || n,`],
    ] as const) {
      await rows(sql`insert into ${sql.identifier(table)} ${columns} now() - n * interval '1 minute'
        from generate_series(1, ${MANY}) n`);
    }
    const run = await oldRun(0);
    // Ids of the last month, a minute apart.
    const id = (n: SQL) => sql`'run' || lpad(${n}::text, 23, '0')`;
    await rows(sql`insert into runs (id, customer_id, transport, prompt, status, completed_at)
      select ${id(sql`n`)}, 'kept', 'rest', 'p', 'succeeded', now() from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into run_messages select ${id(sql`n`)}, 0, 'user', '"x"' from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into run_tool_calls (run_id, call_id, customer_id, turn, position, tool, arguments, effect)
      select ${id(sql`n`)}, 'c', 'kept', 1, 0, 't', '{}', 'read' from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into run_events (run_id, customer_id, key, event_type, payload)
      select ${id(sql`n`)}, 'kept', 'k', 'run_completed', '{}' from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into miniapp_pages (id, customer_id, run_id, call_id, tool, html, expires_at)
      select gen_random_uuid(), 'kept', ${id(sql`n`)}, 'c', 't', '', now() from generate_series(1, ${MANY}) n`);
    const [{ id: hook } = { id: 0 }] = await rows<{ id: number }>(sql`select id from webhook_subscriptions limit 1`);
    await rows(sql`insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, status,
      completed_at) select gen_random_uuid(), 'kept', ${hook}, 'e', 'k' || n, 'delivered', now()
      from generate_series(1, ${MANY}) n`);
    await rows(
      sql`insert into webhook_events (customer_id, event_key, body) select 'kept', 'k' || n, '{}' from generate_series(1, ${MANY}) n`,
    );
    await rows(sql`insert into idempotency_keys (customer_id, endpoint, key_hash, caller, request_hash, token, owner, lease_until, created_at)
      select 'kept', 'e', 'k' || n, 'somebody', 'r', gen_random_uuid(), gen_random_uuid(), now(), now() - n * interval '1 second'
      from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into delivery_slots (host, n) select 'host' || n, 1 from generate_series(1, ${MANY}) n`);
    const project = `many-${run}`;
    await rows(sql`insert into projects (id, customer_id, title, workflow_slug, workflow_version, status, brief, auth_mode,
      completed_at) values (${project}, 'kept', 'T', 'w', 1, 'completed', 'B', 'session', now())`);
    await rows(sql`insert into project_events (project_id, customer_id, ts, level, category, topic, actor_kind, payload)
      select ${project}, 'kept', now() - n * interval '1 minute', 'info', 'project', 'x', 'system', '{}'
      from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into log_events (customer_id, ts, kind, topic, subject, payload)
      select 'kept', now() - n * interval '1 minute', 'wait', 'x', 's' || n, '{}' from generate_series(1, ${MANY}) n`);
    await rows(sql`insert into output_mail_counts (day, counted, mails)
      select current_date - n % 30, 'workspace:' || n, 1 from generate_series(1, ${MANY}) n`);
    await rows(sql`analyze`);
  });

  /** Empty in this test: where there is nothing, how it is read does not matter. */
  const SMALL = ['workspaces', 'output_deliveries', 'projects'];

  // Guards: no deletion reads a whole table, whether much is to be deleted or nothing.
  test.each(
    Object.entries(STATEMENTS).flatMap(([kind, each]) =>
      each.map((statement, n) => [`${kind} ${n}`, statement] as const),
    ),
  )('%s is found by an index', async (_, statement) => {
    for (const days of [1, 5_000]) {
      const plan = await rows<{ 'QUERY PLAN': string }>(sql`explain ${statement(daysAgo(days), 500)}`);
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      const scanned = [...text.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => present(table));
      expect({ scanned: scanned.filter((table) => !SMALL.includes(table)), text }).toEqual({ scanned: [], text });
    }
  });

  // Guards: a statement and a tick delete a limited number of rows, and the next tick goes on.
  test('are deleted in steps', async () => {
    const old = () => count('audit_log', sql`action = 'many' and created_at < now() - interval '1 day'`);
    const first = await old();
    expect(first).toBeGreaterThan(20_000);
    expect(await sweep({ RETENTION_AUDIT: '1d' })).toBe(20_000);
    expect(await sweep({ RETENTION_AUDIT: '1d' })).toBeGreaterThanOrEqual(first - 20_000);
    expect(await old()).toBe(0);
  });

  // Guards: a worker that is stopped ends after the current statement.
  test('wait for the next worker', async () => {
    const stopping = new AbortController();
    stopping.abort();
    expect(await sweep({ RETENTION_OTP: '1d' }, stopping.signal)).toBe(0);
  });
});
