import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { doBehind } from '../../support/database/locks.ts';
import { startBarrier, type Barrier } from '../../support/fakes/barrier.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, endsOf, eventsOf, rowOf, tool, typesOf, untilStatus } from '../../support/fixtures/runs.ts';

let barrier: Barrier;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  barrier = await startBarrier();
  service = await startTestService({ env: { EGRESS_ALLOWLIST: barrier.hostAndPort } });
  acme = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await barrier?.close();
});

const cancel = (runId: string) => acme.cp('POST', `/v1/runs/${runId}/cancel`);

async function expectCancelled(runId: string): Promise<void> {
  expect(await cancel(runId)).toMatchObject({ status: 200, body: { run_id: runId, status: 'cancelled' } });
  await untilStatus(acme, runId, 'cancelled');
  const events = await eventsOf(acme, runId);
  expect(endsOf(events.map(({ event_type }) => event_type))).toEqual(['run_cancelled']);
  expect(events.at(-1)).toMatchObject({ event_type: 'run_cancelled', status: 'cancelled' });
  expect(await cancel(runId)).toMatchObject({ status: 409, body: { detail: 'run_not_in_flight' } });
  expect(await acme.waitForRun(runId)).toMatchObject({ status: 'cancelled', output: null, error: null });
}

// Guards: a cancelled run does not wait for a long model call.
test('a run in a model call', async () => {
  const runId = await dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' });
  await untilStatus(acme, runId, 'running');
  await expectCancelled(runId);
  // No next turn and no event comes of it.
  expect((await rowOf(acme, runId)).total_cost_usd).toBe('0');
});

// Guards: a cancelled run does not wait for a tool that does not answer.
test('a run in a tool call', async () => {
  const runId = await dispatch(acme, {
    agent: 'assistant',
    prompt: tool('http_request', { url: barrier.url('tool') }),
  });
  await barrier.waiting('tool', 1);
  await expectCancelled(runId);
  barrier.open('tool');
});

// Guards: after the end nothing more is recorded, no text, no event and no second end; only the cost is counted.
test('late results', async () => {
  const runId = await dispatch(acme, {
    agent: 'assistant',
    prompt: tool('http_request', { url: barrier.url('late') }),
  });
  await barrier.waiting('late', 1);
  await expectCancelled(runId);
  const before = await rowOf(acme, runId);
  const { runs } = service.services.stores;
  const run = {
    id: runId,
    customerId: 'acme',
    parentRunId: null,
    attemptId: null,
    agent: 'assistant',
    conversation: null,
    modelProvider: null,
  };
  const recorded = await runs.recordTurn({
    run: { ...run, budgetIds: [] },
    turn: 2,
    reply: [{ type: 'text', text: 'too late' }],
    toolCalls: [],
    model: 'offline',
    usage: { inputTokens: 1, outputTokens: 1 },
    costUsd: '0.5',
    events: [{ key: 'turn:2', type: 'claude_iteration', costUsd: '0.5' }],
    end: { status: 'succeeded', output: 'too late' },
  });
  expect(recorded).toBeUndefined();
  const result = { runId, callId: 'call_1_0', tool: 'http_request', durationMs: 1 };
  await runs.recordToolResult({ ...result, status: 'succeeded', result: { status: 200 } });
  expect(await runs.endRun(runId, { status: 'failed' })).toMatchObject({ status: 'cancelled' });
  const after = await rowOf(acme, runId);
  expect(Number(after.total_cost_usd)).toBeCloseTo(Number(before.total_cost_usd) + 0.5, 8);
  expect({ ...after, total_cost_usd: before.total_cost_usd }).toEqual(before);
  expect(endsOf(await typesOf(acme, runId))).toEqual(['run_cancelled']);
  const said = await service.runtime.db.rows(sql`select 1 from run_messages where run_id = ${runId} and turn = 2`);
  expect(said).toEqual([]);
  barrier.open('late');
});

// Guards: of many simultaneous cancellations there is one end, and each caller learns of it.
test('cancelled by many at once', async () => {
  const runId = await dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' });
  await untilStatus(acme, runId, 'running');
  const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(runId)));
  expect(new Set(answers.map(({ status }) => status)).has(200)).toBe(true);
  for (const { status, body } of answers) {
    if (status === 200) expect(body).toEqual({ run_id: runId, status: 'cancelled' });
    else expect({ status, body }).toEqual({ status: 409, body: { detail: 'run_not_in_flight' } });
  }
  expect(endsOf(await typesOf(acme, runId))).toEqual(['run_cancelled']);
});

// Guards: whose end is being recorded while the run is cancelled is answered with that end, and not with what the run was
// before: both ends wait for its row, and see it only when they have it.
test.each([
  [{ status: 'cancelled' as const }, 'run_cancelled', 200],
  [{ status: 'succeeded' as const, output: 'It is done.' }, 'run_completed', 409],
])('while an end is recorded: %p', async (end, event, code) => {
  const runId = await dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' });
  await untilStatus(acme, runId, 'running');
  const { runs } = service.services.stores;
  // That of the workflow waits, and that of the request.
  const answer = await doBehind(
    service.runtime.db,
    () => runs.endRun(runId, end),
    () => cancel(runId),
    2,
  );
  expect(answer).toMatchObject({ status: code });
  expect(await rowOf(acme, runId)).toMatchObject({ last_status: end.status });
  expect(endsOf(await typesOf(acme, runId))).toEqual([event]);
});

// Guards: cancelling a run that has ended changes nothing.
test.each([
  ['succeeded', 'Hello'],
  ['failed', '[[fail-status:400]]'],
])('a run that has %s cannot be cancelled', async (status, prompt) => {
  const { run_id } = await acme.run({ agent: 'assistant', prompt });
  expect(await cancel(run_id)).toMatchObject({ status: 409, body: { detail: 'run_not_in_flight' } });
  expect((await acme.waitForRun(run_id)).status).toBe(status);
});
