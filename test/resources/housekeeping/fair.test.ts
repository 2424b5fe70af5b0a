/**
 * Accepted work whose start was lost begins within a minute, whatever else waits: of the same workspace, where Temporal
 * has it, and of others, where it does not. In full (`PROOF_SIZE=full`, on a native Postgres) 100,000 rows of each kind wait.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { newRunId } from '../../../src/platform/core/ids.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { createRouterKeyStore } from '../../../src/resources/billing/model-router/store.ts';
import { insertDeliveries } from '../../../src/resources/webhook-subscriptions/store/outbox.ts';
import { CHORES } from '../../../workflows/housekeeper/chores.ts';
import { agentStep, makeTemplate, phaseSpec, untilProject } from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

const OTHERS = sized(120, 100_000);
/** The promise of the service; the machine of the tests is crowded, that of the proof is not. */
const BEGINS_WITHIN_MS = sized(120_000, 60_000);

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
let hog: Tenant;
const rows = <Row>(statement: SQL): Promise<Row[]> => service.runtime.db.rows<Row>(statement);

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    worker: false,
    env: { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' },
  });
  acme = await service.tenant('acc_acme');
  // Before the other in any order by name, too.
  hog = await service.tenant('acc_aaa');
  await makeTemplate(acme, 'lost', [phaseSpec('text', [agentStep('write')])]);
  for (const tenant of [acme, hog]) {
    expect((await tenant.api('POST', '/v1/webhooks', { url: receiver.url, events: ['run.failed'] })).status).toBe(201);
  }
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** So many rows of every kind, older than anything else, and due. */
async function fillWith(count: number): Promise<void> {
  const [n, then] = [sql`generate_series(1, ${count}::int) n`, sql`now() - interval '1 hour'`];
  // They wait behind each other in one conversation: known to Temporal, in the workspace of what is lost.
  const waiting = (customer: string, dueAt: SQL) => sql`
    insert into runs (id, customer_id, agent, transport, prompt, conversation, created_at, start_due_at)
    select ${customer} || lpad(n::text, 12, '0'), ${customer}, 'writer', 'rest', 'Write.', 'thread:one', ${then}, ${dueAt}
    from ${n}`;
  await rows(waiting(acme.caller.customerId, sql`null::timestamptz`));
  await rows(waiting(hog.caller.customerId, then));
  await rows(sql`
    insert into projects (id, customer_id, title, workflow_slug, workflow_version, brief, auth_mode, created_at, start_due_at)
    select 'hog-' || n, ${hog.caller.customerId}, 'T', 'lost', 1, 'B', 'session', ${then}, ${then} from ${n}`);
  await rows(sql`
    insert into webhook_events (customer_id, event_key, body)
    select ${hog.caller.customerId}, 'run:hog-' || n, '{}' from ${n}`);
  await rows(sql`
    insert into webhook_deliveries (id, customer_id, subscription_id, event_type, event_key, created_at, due_at)
    select gen_random_uuid(), s.customer_id, s.id, 'run.failed', 'run:hog-' || n, ${then}, ${then}
    from webhook_subscriptions s, ${n} where s.customer_id = ${hog.caller.customerId}`);
  // An operator's word: nothing is under way of them, so that a look is all there is.
  await rows(sql`
    insert into workspaces (identity_workspace_id, customer_id, plan, status, generation, created_at, due_at)
    select 'acc_hog' || n, 'hog' || n, 'free', 'provisioning', 1, ${then}, ${then} from ${n}`);
  // Known to Temporal, and not begun.
  await rows(sql`
    insert into workspaces (identity_workspace_id, customer_id, plan, status, generation, created_at, due_at)
    select 'acc_pig' || n, 'pig' || n, 'free', 'pending', 1, ${then}, now() + interval '1 hour' from ${n}`);
  await rows(sql`analyze runs, projects, webhook_deliveries, workspaces`);
}

/** What a process leaves that dies between the row and the start. */
async function loseStarts() {
  const { customerId } = acme.caller;
  const { stores } = service.services;
  const run = newRunId();
  await stores.runs.acceptRun({
    id: run,
    customerId,
    agent: 'writer',
    transport: 'rest',
    prompt: 'Write.',
    threadId: null,
    channelId: null,
    conversation: null,
    override: null,
  });
  const { project } = await stores.projects.createProject({
    customerId,
    title: 'Lost',
    brief: 'Tell the story of bread.',
    params: null,
    workflowSlug: 'lost',
    workflowVersion: 1,
    authMode: 'session',
    costBudgetUsd: null,
    isTitled: true,
    isSample: false,
    phases: [phaseSpec('text', [agentStep('write')])],
  });
  const event = {
    customerId,
    eventType: 'run.failed',
    eventKey: 'run:lost',
    data: { run_id: 'lost-and-found' },
  } as const;
  await insertDeliveries(service.runtime.db, event);
  await stores.workspaces.create({ workspaceId: 'acc_zzz', plan: 'free', config: null });
  return { run, project: project.id };
}

// Before there is a worker, whose housekeeping would take what these look for.

// Guards: every workspace gets its turn, however long others have waited. Simultaneous takers get different rows, and a
// row that was taken is not due again at once.
test('what is due is taken in turn by workspace, and once', async () => {
  const { takeUnstarted, noteStarted } = service.services.stores.runs;
  const fair = await service.tenant('acc_fair');
  const id = newRunId();
  await rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, start_due_at)
    values (${id}, ${fair.caller.customerId}, 'writer', 'rest', 'Write.', now())`);
  await rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, start_due_at)
    select 'older-' || n, ${hog.caller.customerId}, 'writer', 'rest', 'Write.', now() - interval '1 day'
    from generate_series(1, 500) n`);
  const turn = { after: '', workspaces: 20, each: 5 };
  const [first, second] = await Promise.all([takeUnstarted(turn), takeUnstarted(turn)]);
  const taken = [...first.ids, ...second.ids];
  expect(new Set(taken).size).toBe(taken.length);
  expect(taken.filter((one) => one === id)).toHaveLength(1);
  expect(taken.length).toBeLessThanOrEqual(20 * 5 * 2);
  const next = await takeUnstarted(turn);
  expect(next.ids.filter((one) => taken.includes(one))).toEqual([]);
  // A workspace after the ones that had their turn.
  expect(await takeUnstarted({ after: fair.caller.customerId, workspaces: 1, each: 5 })).toEqual({
    ids: [],
    last: undefined,
  });
  // What Temporal has is not due at all.
  await noteStarted([id]);
  const row = itemAt(await rows<{ due: Date | null }>(sql`select start_due_at as due from runs where id = ${id}`), 0);
  expect(row.due).toBeNull();
});

// Guards against: a start that is told of late, of a delivery that was sent anew since or of a workspace that was tried
// again, puts off the look at the newer start, which may be lost.
test('a start that is told of late puts no later one off', async () => {
  const { stores } = service.services;
  const { customerId } = acme.caller;
  const eventKey = 'run:told-late';
  const event = { customerId, eventType: 'run.failed', eventKey, data: { run_id: 'told-late' } } as const;
  const deliveryId = present((await insertDeliveries(service.runtime.db, event))[0]);
  await rows(sql`update webhook_deliveries set redeliveries = 2, due_at = now() where id = ${deliveryId}::uuid`);
  await stores.workspaces.create({ workspaceId: 'acc_told', plan: 'free', config: null });
  await rows(sql`update workspaces set generation = 2, due_at = now() where customer_id = 'told'`);
  const areDue = async () => {
    const [found] = await rows<{ delivery: boolean; workspace: boolean }>(sql`
      select (select due_at <= now() from webhook_deliveries where id = ${deliveryId}::uuid) as delivery,
        (select due_at <= now() from workspaces where customer_id = 'told') as workspace`);
    return found;
  };
  for (const nth of [1, 2]) {
    expect([nth, await areDue()]).toEqual([nth, { delivery: true, workspace: true }]);
    await stores.webhooks.noteStarted([{ deliveryId, redelivery: nth }]);
    await stores.workspaces.noteStarted([{ customerId: 'told', generation: nth }]);
  }
  expect(await areDue()).toEqual({ delivery: false, workspace: false });
});

// Guards: the backlog of housekeeping can be seen for every chore that takes rows.
test('what is due is counted', async () => {
  await rows(sql`update runs set start_due_at = now() - interval '10 minutes' where id like 'older-%'`);
  const behind = await service.services.system.choresBehind();
  const runs = present(behind.find(({ chore }) => chore === 'startRuns'));
  expect(runs.due).toBeGreaterThan(100);
  expect(runs.overdueS).toBeGreaterThan(500);
  // Two of the chores do a second thing, which has a count of its own.
  expect(behind.map(({ chore }) => chore).sort()).toEqual([...CHORES, 'tellSpending'].sort());
  await rows(sql`delete from runs where id like 'older-%'`);
});

// Guards: rows that fail at every tick do not keep others waiting, because they are not taken first each time.
test('what fails each time is not the first each time', async () => {
  const { customerId } = hog.caller;
  const run = newRunId();
  await rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, status) values (${run}, ${customerId}, 'w', 'rest', 'W', 'running')`);
  await rows(sql`
    insert into miniapp_pages (id, customer_id, run_id, call_id, tool, html, submitted, submitted_at, waits, expires_at)
    select 'page-' || n, ${customerId}, ${run}, 'c' || n, 'ask_human', '', '{}', now() - interval '1 hour',
      array['x/y'], now() from generate_series(1, 3) n`);
  await rows(sql`
    insert into router_keys (customer_id, key_hash, limit_usd, sealed, revision)
    select 'routed-' || n, 'hash', 1, '', 2 from generate_series(1, 3) n`);
  await rows(sql`
    insert into webhook_subscriptions (customer_id, url, events, sealed_secret, failing_since, paused_at)
    select ${customerId}, 'https://gone.example/' || n, '{*}', '', now(), now() from generate_series(1, 3) n`);
  const { stores, outputs } = service.services;
  const lists: Record<string, () => Promise<object[]>> = {
    submissions: () => stores.miniapps.listUntold(1),
    router: () => createRouterKeyStore(service.runtime.db).listUntold(1),
    pauses: () => stores.webhooks.listPausesUntold(1),
  };
  // Of the other table that the same statement is made for.
  expect(await outputs.store.listPausesUntold(1)).toEqual([]);
  for (const [name, list] of Object.entries(lists)) {
    const first = new Set<string>();
    for (let tick = 0; tick < 60; tick++) first.add(JSON.stringify(await list()));
    expect({ name, first: first.size }).toEqual({ name, first: 3 });
  }
  await rows(sql`delete from router_keys`);
  await rows(sql`delete from webhook_subscriptions where url like '%gone.example%'`);
  await rows(sql`delete from runs where id = ${run}`);
});

// Guards: work that was answered 201 begins within a minute although its start was lost and very much else waits.
test('a lost start is found among many others', async () => {
  await fillWith(OTHERS);
  const acceptedAt = performance.now();
  const lost = await loseStarts();
  await service.startWorker();

  const begun: Record<string, number> = {};
  const begins = async (kind: string, look: () => Promise<unknown>) => {
    await eventually(look, 2 * BEGINS_WITHIN_MS);
    begun[kind] = performance.now() - acceptedAt;
    tried(`${kind}: ms until it had begun`, Math.round(begun[kind]));
  };
  const { db } = service.runtime;
  await Promise.all([
    begins('run', async () => {
      const row = itemAt(await db.rows<{ status: string }>(sql`select status from runs where id = ${lost.run}`), 0);
      expect(row.status).not.toBe('queued');
    }),
    begins('project', async () => {
      const row = itemAt(
        await db.rows<{ status: string }>(sql`select status from projects where id = ${lost.project}`),
        0,
      );
      expect(row.status).not.toBe('planning');
    }),
    begins('delivery', async () =>
      expect(receiver.received.some(({ body }) => body.includes('lost-and-found'))).toBe(true),
    ),
    begins('workspace', async () =>
      expect(present(await service.services.stores.workspaces.find('acc_zzz')).status).not.toBe('pending'),
    ),
  ]);
  tried('rows of each kind that waited beside it', OTHERS);
  for (const [kind, ms] of Object.entries(begun))
    expect({ kind, isInTime: ms < BEGINS_WITHIN_MS }).toEqual({ kind, isInTime: true });
  await untilProject(acme, lost.project, 'completed');
});
