/** Work that waits for its turn is no lost work: nothing of a backlog is started a second time, or told as lost. */
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import type { Log } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { insertDeliveries } from '../../../src/resources/webhook-subscriptions/store/outbox.ts';
import { agentStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { dispatch } from '../../support/fixtures/runs.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { confirmed } from '../../support/service/otp.ts';
import {
  eventually,
  startTestService,
  type Answer,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';

const EACH = 25;
const LOST = 'started accepted work whose first start was lost';

let service: TestService;
let acme: Tenant;
let operator: Tenant;
const rows = <Row>(statement: SQL): Promise<Row[]> => service.runtime.db.rows<Row>(statement);

beforeAll(async () => {
  // Without a worker everything waits, as behind a backlog that nobody gets through.
  service = await startTestService({
    worker: false,
    env: { EGRESS_ALLOWLIST: 'hooks.example:80', WEBHOOK_ALLOW_HTTP: 'true' },
  });
  acme = await service.tenant('acc_acme');
  operator = await service.tenant(INTERNAL_WORKSPACE);
  await makeTemplate(acme, 'text', [phaseSpec('text', [agentStep('write')])]);
  const hook = { url: 'http://hooks.example/', events: ['run.failed'] };
  expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
  const config = { url: 'http://hooks.example/', secret: 'a secret of many characters' };
  const output = { kind: 'webhook', name: 'Hook', config };
  expect((await acme.cp('POST', '/v1/output-destinations', output)).status).toBe(201);
});
afterAll(() => service?.close());
let info: jest.SpiedFunction<Log['info']>;
beforeEach(() => {
  jest.restoreAllMocks();
  info = jest.spyOn(service.runtime.log, 'info');
});

async function acceptOutput(): Promise<void> {
  const id = randomUUID();
  await rows(sql`
    insert into output_deliveries (id, customer_id, destination_id, artifact_id)
    select ${id}::uuid, customer_id, id, gen_random_uuid() from output_destinations`);
  await service.services.destinations.startRecorded([id]);
}

async function acceptWebhook(nth: number): Promise<void> {
  const { customerId } = acme.caller;
  const event = { customerId, eventType: 'run.failed', eventKey: `run:${nth}`, data: { run_id: String(nth) } } as const;
  await service.services.webhooks.startRecorded(await insertDeliveries(service.runtime.db, event));
}

async function accepted(answer: Promise<Answer>): Promise<void> {
  expect(await answer).toMatchObject({ status: 201 });
}

/** How each kind is accepted, which starts it, and the column by which housekeeping finds it. */
const KINDS = {
  runs: { at: 'start_due_at', accept: () => dispatch(acme, { agent: 'writer', prompt: 'Write.' }) },
  projects: { at: 'start_due_at', accept: () => startProject(acme, 'text') },
  webhook_deliveries: { at: 'due_at', accept: acceptWebhook },
  output_deliveries: { at: 'due_at', accept: acceptOutput },
  workspaces: {
    at: 'due_at',
    accept: (nth: number) =>
      accepted(operator.cp('POST', '/v1/workspaces', { identity_workspace_id: `acc_new${nth}`, plan: 'free' })),
  },
  workspace_exports: {
    at: 'due_at',
    accept: (nth: number) => {
      const tenant = present([acme, operator][nth - 1]);
      return accepted(confirmed(tenant, 'POST', `/v1/workspaces/${tenant.caller.workspaceId}/exports`));
    },
  },
};

/** Lets so much time pass for everything that waits. */
async function pass(minutes: number): Promise<void> {
  for (const [table, { at }] of Object.entries(KINDS)) {
    const column = sql.identifier(at);
    await rows(sql`update ${sql.identifier(table)} set ${column} = ${column} - ${minutes} * interval '1 minute'`);
  }
}

/** @returns the workflows that a round of housekeeping asks Temporal to start */
async function startedByRound(): Promise<string[]> {
  const start = jest.spyOn(service.runtime.temporal.client.workflow, 'start');
  const { runs, projects, webhooks, destinations, workspaces, exports } = service.services;
  const chores = [runs.startLost, projects.startLost, webhooks.startDue, destinations.startDue];
  for (const chore of [...chores, workspaces.startLost, exports.startLost]) await chore(UNHURRIED);
  const types = start.mock.calls.map(([type]) => String(type)).toSorted();
  start.mockRestore();
  return types;
}

const toldAsLost = () => info.mock.calls.filter((told) => told.includes(LOST)).map(([about]) => about);

/** @returns of how many rows, by kind, nobody has noted yet that Temporal has them */
async function unnoted(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, { at }] of Object.entries(KINDS)) {
    const isSoon = sql`${sql.identifier(at)} < now() + interval '3 minutes'`;
    const [found] = await rows<{ n: number }>(sql`select count(*)::int n from ${sql.identifier(table)}
      where ${isSoon} and status::text in ('pending', 'queued', 'planning')`);
    counts[table] = present(found).n;
  }
  return counts;
}
const NONE = Object.fromEntries(Object.keys(KINDS).map((table) => [table, 0]));

// Guards against: whatever had waited for 15 s being started again and told as lost, when Temporal was busiest.
test('a backlog of two minutes makes no second start', async () => {
  for (let nth = 0; nth < EACH; nth++) await KINDS.runs.accept();
  for (const { accept } of Object.values(KINDS)) for (const nth of [1, 2]) await accept(nth);
  const [{ n: waiting } = { n: 0 }] = await rows<{ n: number }>(
    sql`select count(*)::int n from runs where status = 'queued'`,
  );
  expect(waiting).toBe(EACH + 2);
  await eventually(async () => expect(await unnoted()).toEqual(NONE));
  await pass(2);
  expect(await startedByRound()).toEqual([]);
  expect(toldAsLost()).toEqual([]);
});

// Guards: the note of a start may be lost. Then Temporal is asked once more, and says that it has the work.
test('a start whose note was lost is not told as lost work', async () => {
  await rows(sql`update runs set start_due_at = now()`);
  await rows(sql`update projects set start_due_at = now()`);
  await pass(60);
  const types = new Set(await startedByRound());
  expect([...types]).toEqual([
    'agentRun',
    'exportWorkspace',
    'outputDelivery',
    'project',
    'provisionWorkspace',
    'webhookDelivery',
  ]);
  expect(toldAsLost()).toEqual([]);
  await eventually(async () => expect(await unnoted()).toEqual(NONE));
  expect(await startedByRound()).toEqual([]);
});

// Guards: what was accepted and never reached Temporal is started, and told.
test('work that was lost is counted', async () => {
  const { temporal } = service.runtime;
  const start = jest.spyOn(temporal.client.workflow, 'start').mockRejectedValue(new Error('the process is killed'));
  await acceptWebhook(100).catch(() => {});
  await acceptOutput().catch(() => {});
  start.mockRestore();
  await pass(1);
  expect(await startedByRound()).toEqual(['outputDelivery', 'webhookDelivery']);
  expect(toldAsLost()).toEqual([
    expect.objectContaining({ what: 'delivery', started: 1 }),
    expect.objectContaining({ what: 'delivery', started: 1 }),
  ]);
});
