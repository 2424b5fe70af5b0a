/** What has no table of events of its own is told in the log of the workspace, in the statement that makes it true. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createScheduledJobActivities } from '../../../activities/scheduled-jobs.ts';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { createIntegrationStore } from '../../../src/resources/integrations/store.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { answer, asks, ASKER_AGENT, untilWait } from '../inbox/waits.ts';

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let outputStatus = 200;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => outputStatus);
  service = await startTestService({
    env: {
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_INITIAL: '10ms',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
    },
  });
  tenant = await service.tenant('acc_kinds');
  await tenant.cp('POST', '/v1/agents', ASKER_AGENT);
  await makeTemplate(tenant, 'plain', [phaseSpec('text', [agentStep('write')])]);
  await makeTemplate(tenant, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate')])]);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

interface Told {
  topic: string;
  subject: string;
  run: string | null;
  project: string | null;
  payload: Record<string, unknown>;
}
const told = (kind: string, of: { subject?: string; project?: string; run?: string }): Promise<Told[]> =>
  service.runtime.db.rows<Told & Record<string, unknown>>(sql`
    select topic, subject, run_id as run, project_id as project, payload from log_events
    where customer_id = ${tenant.caller.customerId} and kind = ${kind}
      and subject = coalesce(${of.subject ?? null}, subject)
      and project_id is not distinct from coalesce(${of.project ?? null}, project_id)
      and run_id is not distinct from coalesce(${of.run ?? null}, run_id) order by tx, seq`);
const until = (kind: string, of: { subject?: string; project?: string; run?: string }, topics: string[]) =>
  eventually(async () => {
    const events = await told(kind, of);
    expect(events.map(({ topic }) => topic)).toEqual(topics);
    return events;
  });

// Guards: a question makes an event when it waits and one when it is answered, each once, with the id to look it up by.
test('waits of runs', async () => {
  const run = await asks(tenant, 'Which colour?');
  const wait = await untilWait(tenant, { run_id: run });
  const [opened] = await until('wait', { run }, ['opened']);
  expect(opened).toEqual({
    topic: 'opened',
    subject: wait.id,
    run,
    project: null,
    payload: { kind: 'question', revision: 1 },
  });
  await answer(tenant, wait, { answer: 'submit', data: { answer: 'blue' } });
  await tenant.waitForRun(run);
  const [, settled] = await until('wait', { run }, ['opened', 'settled']);
  expect(settled!.payload).toEqual({
    kind: 'question',
    revision: 1,
    answer: 'submit',
    settled_by: tenant.caller.actor,
    settled_via: 'inbox',
  });
});

// Guards: a gate does the same; a change of its subject makes an event, and an abandoned project settles it.
test('waits of projects', async () => {
  const project = await startProject(tenant, 'gated');
  const wait = await untilWait(tenant, { project_id: project });
  await service.runtime.db.rows(sql`update waits set revision = revision + 1 where id = ${wait.id}::uuid`);
  await tenant.cp('POST', `/v1/projects/${project}/abandon`);
  const events = await until('wait', { project }, ['opened', 'revised', 'settled']);
  expect(events.map(({ subject, payload }) => [subject, payload['revision']])).toEqual([
    [wait.id, 1],
    [wait.id, 2],
    [wait.id, 2],
  ]);
});

// Guards: the outcome of sending an artifact to a destination is one event at its end, and one more for each time it is
// sent again.
test('outputs', async () => {
  const { body } = await tenant.cp('POST', '/v1/output-destinations', {
    name: 'To a webhook',
    kind: 'webhook',
    config: { url: receiver.url, secret: 'a secret of sixteen characters' },
  });
  outputStatus = 400;
  const project = await startProject(tenant, 'plain');
  const [failed] = await until('output', { project }, ['failed']);
  expect(failed!.payload).toMatchObject({ destination_id: body.id, attempts: 1, withheld: 0 });
  outputStatus = 200;
  const again = await tenant.cp('POST', `/v1/output-destinations/deliveries/${failed!.subject}/redeliver`);
  expect(again.status).toBeLessThan(300);
  const events = await until('output', { project }, ['failed', 'delivered']);
  expect(events[1]).toMatchObject({ subject: failed!.subject, run: null, payload: { attempts: 2 } });
});

// Guards: switching a schedule, each firing and each failure to fire make events, in order. An activity that is repeated,
// because its worker was killed before Temporal knew how it ended, tells nothing again and stays at what was told.
test('schedules', async () => {
  const { body: heartbeat } = await tenant.cp('POST', '/v1/heartbeats', {
    name: 'Pulse',
    agent_slug: 'assistant',
    prompt: 'Say something.',
    interval_s: 86_400,
  });
  const path = `/v1/heartbeats/${heartbeat.id}`;
  await tenant.cp('PATCH', path, { enabled: false });
  await tenant.cp('PATCH', path, { enabled: true, name: 'Beat' });
  await tenant.cp('PATCH', path, { name: 'Pulse' });
  const { stores, builtinJobs: builtin } = service.services;
  const activities = createScheduledJobActivities({ ...stores, builtin, log: service.runtime.log });
  const tick = { customerId: tenant.caller.customerId, source: { kind: 'heartbeat', id: heartbeat.id } as const };
  const runId = newUuid();
  await activities.acceptScheduledRun({ ...tick, runId });
  // A repeat of the activity fires nothing.
  await activities.acceptScheduledRun({ ...tick, runId });
  const setStatus = (status: string, at: string | null) =>
    service.runtime.db
      .rows(sql`update workspaces set status = ${status}::workspace_status, archived_at = ${at}::timestamptz
      where customer_id = ${tick.customerId}`);
  await setStatus('archived', new Date().toISOString());
  const refused = newUuid();
  await Promise.all([1, 2].map(() => activities.acceptScheduledRun({ ...tick, runId: refused })));
  await setStatus('ready', null);
  expect(await activities.acceptScheduledRun({ ...tick, runId: refused })).toBeUndefined();
  const of = { of: 'heartbeat' };
  expect(await told('schedule', { subject: heartbeat.id })).toMatchObject([
    { topic: 'switched_off', run: null, payload: of },
    { topic: 'switched_on', payload: of },
    { topic: 'fired', run: runId, payload: of },
    { topic: 'missed', run: null, payload: { ...of, problem: 'workspace_archived', firing: refused } },
  ]);
});

// Guards: the event of a job has the id that the API uses, also for built-in jobs.
test('schedules of jobs', async () => {
  const { body: job } = await tenant.cp('POST', '/v1/scheduled-jobs', {
    name: 'Nightly',
    cron: '0 3 * * *',
    agent_slug: 'assistant',
    brief: 'Say something.',
  });
  const { body: jobs } = await tenant.cp('GET', '/v1/scheduled-jobs');
  const shipped = jobs.data.find(({ kind }: { kind: string }) => kind !== 'custom');
  for (const [id, enabled] of [
    [job.id, false],
    [shipped.id, !shipped.enabled],
  ])
    expect((await tenant.cp('PATCH', `/v1/scheduled-jobs/${id}`, { enabled })).status).toBe(200);
  expect(await told('schedule', { subject: job.id })).toMatchObject([
    { topic: 'switched_off', payload: { of: 'job' } },
  ]);
  expect(await told('schedule', { subject: shipped.id })).toMatchObject([
    { topic: shipped.enabled ? 'switched_off' : 'switched_on' },
  ]);
});

// Guards: the validity of a credential makes an event when it changes, and not at each check.
test('integrations', async () => {
  const { db } = service.runtime;
  const store = createIntegrationStore(db);
  const tokenId = newUuid();
  const token = { customerId: tenant.caller.customerId, slug: 'slack', kind: 'bot', scope: 'default', tokenId };
  await store.putToken({ ...token, sealed: 'sealed' });
  for (const health of ['ok', 'ok', 'invalid'] as const) {
    await db.rows(sql`update integration_credentials set check_at = now() where token_id = ${tokenId}`);
    const [due] = await store.claimDue({ tokenId, limit: 1, againMs: 60_000 });
    await store.recordHealth(due!, health, 120_000);
    // Late, of a check that was overtaken: it changes nothing.
    await store.recordHealth(due!, 'rate_limited', 60_000);
  }
  const payload = { kind: 'bot', scope: 'default' };
  expect(await told('integration', { subject: 'slack' })).toMatchObject([
    { topic: 'ok', payload: { ...payload, before: 'unchecked' } },
    { topic: 'invalid', payload: { ...payload, before: 'ok' } },
  ]);
});
