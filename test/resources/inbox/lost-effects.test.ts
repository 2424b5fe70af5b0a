/** Calls of single runs of which nobody knows whether they took effect: where the agent wants to know, a person is asked. */
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import { doBehind } from '../../support/database/locks.ts';
import { inboxFaults } from '../../support/database/inbox-oracle.ts';
import { dispatch, endsOf, eventsOf, tool, typesOf } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { answer, detailOf, openWaits, untilWait } from './waits.ts';

let receiver: WebhookReceiver;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  receiver = await startWebhookReceiver(({ path }) => (path.startsWith('/held') ? 'timeout' : 'reset'));
  service = await startTestService({
    env: {
      HOUSEKEEPING_INTERVAL: '1s',
      LOST_WORK_INTERVAL: '1h',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      EXTENSIONS: 'idempotency',
    },
  });
  acme = await service.tenant('acc_lost');
  for (const [slug, on_lost_effect] of [
    ['careful', 'ask'],
    ['careless', undefined],
  ]) {
    const agent = { slug, model: 'offline', prompt: 'You post.', allowed_tool_slugs: ['http_request'] };
    const made = await acme.cp('POST', '/v1/agents', { ...agent, ...(on_lost_effect && { on_lost_effect }) });
    expect(made).toMatchObject({ status: 201, body: { on_lost_effect: on_lost_effect ?? 'tell' } });
  }
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});
// Guards, after each of them: the inbox has what waits, all of it and nothing else.
afterEach(async () => expect(await inboxFaults(service.runtime.db, acme.caller.customerId)).toEqual([]));

const timesAt = (path: string) => receiver.received.filter((request) => request.path === `/${path}`).length;
const posts = (path: string, agent = 'careful') => {
  const url = `http://${receiver.hostAndPort}/${path}`;
  return dispatch(acme, { agent, prompt: tool('http_request', { method: 'POST', url, body: '{"pay":1}' }) });
};
const resultOf = async (runId: string) =>
  (await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'tool_result');

// Guards: whoever finds out says so once, and the agent is told exactly that; the call is never made again by itself.
test.each([
  { said: 'done', status: 'succeeded', told: 'it took effect' },
  { said: 'not_done', status: 'failed', told: 'it did not take effect' },
])('a run waits until a person has found out: $said', async ({ said, status, told }) => {
  const runId = await posts(`lost-${said}`);
  const wait = await untilWait(acme, { run_id: runId });
  expect(wait).toMatchObject({
    kind: 'lost_effect',
    title: 'Did the call of http_request take effect?',
    answers: ['done', 'not_done'],
    may_answer: true,
    project_id: null,
    agent: 'careful',
  });
  expect(await detailOf(acme, wait.id)).toMatchObject({
    effect: { tool: 'http_request', arguments: { method: 'POST', body: '{"pay":1}' } },
    question: null,
    choices: [
      { answer: 'done', takes: ['comment'] },
      { answer: 'not_done', takes: ['comment'] },
    ],
  });
  expect(await eventsOf(acme, runId)).toContainEqual(
    expect.objectContaining({ event_type: 'tool_call', status: 'waiting' }),
  );
  expect(await answer(acme, wait, { answer: 'approve' })).toMatchObject({ status: 400 });
  expect(await answer(acme, { ...wait, revision: 9 }, { answer: said })).toMatchObject({
    status: 409,
    body: { detail: { code: 'changed_since' } },
  });
  const answers = await Promise.all([1, 2, 3].map(() => answer(acme, wait, { answer: said, comment: 'I looked' })));
  expect(answers.map((each) => each.status).toSorted()).toEqual([200, 409, 409]);
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  expect(await resultOf(runId)).toMatchObject({
    status,
    payload: { result_preview: expect.stringContaining(told) },
  });
  expect((await resultOf(runId))?.payload['result_preview']).toContain('I looked');
  expect(timesAt(`lost-${said}`)).toBe(1);
  expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'settled', answer: said, comment: 'I looked' });
});

// Guards: an answer that is sent again under its key, since its reply was lost, is the same answer and no second one.
test('is answered once under one key', async () => {
  const runId = await posts('keyed');
  const { id, revision } = await untilWait(acme, { run_id: runId });
  const send = () =>
    acme.cp('POST', `/v1/inbox/${id}/answer`, { revision, answer: 'done' }, { 'idempotency-key': 'found-out' });
  for (const each of [await send(), await send()])
    expect(each).toMatchObject({ status: 200, body: { answer: 'done' } });
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  expect((await typesOf(acme, runId)).filter((type) => type === 'tool_result')).toHaveLength(1);
});

// Guards: where the agent has not asked for it, the model is told at once, as it always was.
test('others are told that nobody knows', async () => {
  const runId = await posts('careless', 'careless');
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  expect(await resultOf(runId)).toMatchObject({ payload: { result_preview: expect.stringContaining('unknown') } });
  expect(await openWaits(acme, { run_id: runId, status: 'settled' })).toEqual([]);
});

// Guards: nothing of a run that is over is left in the inbox.
test('ends with its run', async () => {
  const runId = await posts('cancelled');
  const wait = await untilWait(acme, { run_id: runId });
  await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'cancelled' });
  expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'settled', answer: null });
  expect(await answer(acme, wait, { answer: 'done' })).toMatchObject({ status: 409 });
});

// Guards: two that find the same call lost at one moment both have the person asked, and neither refuses the call.
test('is asked about by two at once', async () => {
  const runId = await posts('held-twice');
  await eventually(() => expect(timesAt('held-twice')).toBe(1));
  const { runs } = service.services.stores;
  const ask = () => runs.askOrRefuse({ runId, callId: 'call_1_0', tool: 'http_request' });
  expect(await doBehind(service.runtime.db, ask, ask)).toBe(true);
  const wait = await untilWait(acme, { run_id: runId });
  expect(await detailOf(acme, wait.id)).toMatchObject({ status: 'open' });
  expect(await resultOf(runId)).toBeUndefined();
  await acme.cp('POST', `/v1/runs/${runId}/cancel`);
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'cancelled' });
});

/** As after Temporal was set up anew. */
async function forget(runId: string): Promise<void> {
  const { client, namespace } = service.runtime.temporal;
  const workflowId = runWorkflowId(runId);
  await client.workflow.getHandle(workflowId).terminate('by an operator');
  await eventually(async () => {
    await client.workflowService
      .deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } })
      .catch(() => {});
    await expect(client.workflow.getHandle(workflowId).describe()).rejects.toThrow();
  });
}
const untilThere = (runId: string) =>
  eventually(() => service.runtime.temporal.client.workflow.getHandle(runWorkflowId(runId)).describe());
const askAbout = (runId: string) =>
  service.runtime.db.rows(sql`update runs set checked_at = now() - interval '2 hours' where id = ${runId}`);

// Guards: a run that Temporal lost in the middle of the call, and then again while it waited, asks once, and goes on with the
// answer; the call is not made a second time.
test('waits on after its workflow was lost', async () => {
  const runId = await posts('held-lost');
  await eventually(() => expect(timesAt('held-lost')).toBe(1));
  await forget(runId);
  await askAbout(runId);
  const wait = await untilWait(acme, { run_id: runId });
  await untilThere(runId);
  await forget(runId);
  await askAbout(runId);
  await untilThere(runId);
  expect(await openWaits(acme, { run_id: runId })).toMatchObject([{ id: wait.id, revision: wait.revision }]);
  expect(await answer(acme, wait, { answer: 'not_done' })).toMatchObject({ status: 200 });
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'succeeded' });
  expect(timesAt('held-lost')).toBe(1);
  expect(endsOf(await typesOf(acme, runId))).toEqual(['run_completed']);
});
