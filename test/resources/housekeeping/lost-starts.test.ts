/** What was accepted by a process that died before it started anything: each kind is started, and once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId } from '../../../src/platform/core/ids.ts';
import type { NewRun } from '../../../src/resources/runs/store/accept.ts';
import { agentStep, phaseSpec, projectEventsOf, untilProject } from '../../support/fixtures/projects.ts';
import { dispatch, endsOf, typesOf } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { makeDue } from '../../support/service/housekeeping.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    worker: false,
    env: { HOUSEKEEPING_INTERVAL: '1s', EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' },
  });
  acme = await service.tenant('acc_acme');
  const hook = { url: receiver.url, events: ['run.succeeded', 'project.completed'] };
  expect((await acme.api('POST', '/v1/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** The row that a dispatch, a retry or a tick of a schedule leaves when its process dies after the commit. */
async function acceptRun(more: Partial<NewRun> = {}): Promise<string> {
  const id = newRunId();
  await service.services.stores.runs.acceptRun({
    id,
    customerId: acme.caller.customerId,
    agent: 'writer',
    transport: 'rest',
    prompt: 'Write.',
    threadId: null,
    channelId: null,
    conversation: null,
    override: null,
    ...more,
  });
  return id;
}

async function acceptProject(): Promise<string> {
  const { project } = await service.services.stores.projects.createProject({
    customerId: acme.caller.customerId,
    title: 'Lost',
    isTitled: true,
    isSample: false,
    brief: 'Tell the story of bread.',
    params: null,
    workflowSlug: 'lost',
    workflowVersion: 1,
    authMode: 'session',
    costBudgetUsd: null,
    phases: [phaseSpec('text', [agentStep('write')])],
  });
  return project.id;
}

// Guards: work that was answered 201, or that a schedule started, does not wait for ever, and nothing is started twice.
test('each kind of lost start is repeated', async () => {
  const conversation = { threadId: 'one', conversation: 'thread:one' };
  const spec = { slug: 'lost', version: 1, title: 'Lost', phases: [phaseSpec('text', [agentStep('write')])] };
  expect((await acme.cp('POST', '/v1/workflows', { spec })).status).toBe(201);
  const runs = {
    dispatched: await acceptRun(),
    limited: await acceptRun({ costBudgetUsd: '1' }),
    scheduled: await acceptRun({ transport: 'cron', jobN: 1 }),
    unpicked: await acceptRun({ agent: null }),
    first: await acceptRun(conversation),
    next: await acceptRun(conversation),
    started: await dispatch(acme, { agent: 'writer', prompt: 'Write.' }),
  };
  const project = await acceptProject();
  // Long enough ago that nobody is starting them.
  const { db } = service.runtime;
  await makeDue(db);

  await service.startWorker();
  for (const id of Object.values(runs)) {
    expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(endsOf(await typesOf(acme, id))).toEqual(['run_completed']);
  }
  await untilProject(acme, project, 'completed');
  const started = (await projectEventsOf(acme, project)).filter(({ topic }) => topic === 'project_started');
  expect(started).toHaveLength(1);
  // The order of a conversation is that of its acceptance.
  const ends = await db.rows<{ id: string }>(sql`
    select id from runs where conversation = 'thread:one' order by completed_at`);
  expect(ends.map(({ id }) => id)).toEqual([runs.first, runs.next]);
  const told = (id: string) => receiver.received.filter(({ body }) => body.includes(id));
  for (const id of [...Object.values(runs), project]) await eventually(() => expect(told(id)).toHaveLength(1));
});

// Guards: a cancellation holds although it never reached Temporal, whatever is started afterwards.
test('a cancelled run stays cancelled although its workflow was not told', async () => {
  const id = await dispatch(acme, { agent: 'writer', prompt: '[[sleep:60000]]' });
  await eventually(async () => expect((await acme.api('GET', `/v1/runs/${id}`)).body.status).toBe('running'));
  expect(await service.services.stores.runs.endRun(id, { status: 'cancelled' })).toMatchObject({ status: 'cancelled' });
  await service.services.runs.start({ id, ...acme.caller, agent: 'writer' });
  expect(await acme.waitForRun(id)).toMatchObject({ status: 'cancelled' });
  expect(endsOf(await typesOf(acme, id))).toEqual(['run_cancelled']);
});
