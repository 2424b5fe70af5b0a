import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Decimal } from 'decimal.js';
import { itemAt, last, present } from '../../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, endsOf, eventsOf, rowOf, tool, typesOf } from '../../support/fixtures/runs.ts';

let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  service = await startTestService();
  acme = await service.tenant('acc_acme');
});
afterAll(() => service?.close());

const BEGINNING = ['run_received', 'run_started', 'model_resolved', 'context_loaded'];

// Guards: a success has the specified events in order, and its terminal event the specified content.
test('a run that uses tools tells its story in order', async () => {
  const run = await acme.run({
    agent: 'assistant',
    prompt: `Sum and date. ${tool('calculator', { expression: '6*7' })}[[then]]${tool('current_time', {})}`,
  });
  expect(run).toMatchObject({ status: 'succeeded', error: null, output: expect.stringContaining('42') });
  const events = await eventsOf(acme, run.run_id);
  expect(events.map(({ event_type }) => event_type)).toEqual([
    ...BEGINNING,
    ...['claude_iteration', 'tool_call', 'tool_result'],
    ...['claude_iteration', 'tool_call', 'tool_result'],
    ...['claude_iteration', 'run_completed'],
  ]);
  expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort((a, b) => a - b));
  expect(events.at(-1)).toMatchObject({ status: 'succeeded', payload: { output_length: present(run.output).length } });
  expect(Object.keys(last(events).payload)).toEqual(['output_length']);
  expect(events.every(({ agent, transport }) => agent === 'assistant' && transport === 'rest')).toBe(true);
  for (const { event_type, cost_usd, duration_ms } of events) {
    expect(cost_usd === null).toBe(event_type !== 'claude_iteration');
    expect(duration_ms === null).toBe(!['claude_iteration', 'tool_result'].includes(event_type));
  }
});

// Guards: a failure ends with run_failed and a named cause in the event and in the detail, and nothing follows.
test('a failed run says why', async () => {
  const run = await acme.run({ agent: 'assistant', prompt: '[[fail-status:401]]' });
  expect(run).toMatchObject({ status: 'failed', output: null, error: expect.stringMatching(/^model_auth_failed: /) });
  const events = await eventsOf(acme, run.run_id);
  expect(events.map(({ event_type }) => event_type)).toEqual([...BEGINNING, 'run_failed']);
  expect(events.at(-1)).toMatchObject({ status: 'failed', payload: { code: 'model_auth_failed' } });
});

// Guards: a repeated attempt shows in the timeline and does not end the run.
test('a provider that recovers costs a failed request, not the run', async () => {
  const run = await acme.run({ agent: 'assistant', prompt: 'Patience. [[fail:1]]' });
  expect(run.status).toBe('succeeded');
  const events = await eventsOf(acme, run.run_id);
  expect(events.map(({ event_type }) => event_type)).toEqual([
    ...BEGINNING,
    ...['claude_request', 'claude_iteration', 'run_completed'],
  ]);
  expect(events[4]).toMatchObject({ status: 'failed', payload: { turn: 1, attempt: 1, code: 'model_unavailable' } });
});

// Guards: both surfaces accept `message` instead of `prompt`, and each detail has exactly its fields.
test('the control plane dispatches too, and each detail has its own fields', async () => {
  const accepted = await acme.cp('POST', '/v1/runs', { agent: 'writer', message: 'Hello', transport: 'slack' });
  expect(accepted).toMatchObject({ status: 201, body: { run_id: expect.stringMatching(/^[0-9a-hjkmnp-tv-z]{26}$/) } });
  const { run_id } = accepted.body;
  await acme.waitForRun(run_id);
  const known = {
    run_id,
    agent: 'writer',
    status: 'succeeded',
    output: expect.any(String),
    error: null,
    waits_for: null,
    sample: false,
  };
  const times = { started_at: expect.any(String), completed_at: expect.any(String) };
  const { body: detail } = await acme.cp('GET', `/v1/runs/${run_id}/detail`);
  expect(detail).toEqual({ ...known, ...times, customer_id: 'acme', transport: 'slack', parent_run_id: null });
  const { body: run } = await acme.api('GET', `/v1/runs/${run_id}`);
  expect(run).toEqual({ ...known, ...times, created_at: expect.any(String) });
  expect(Date.parse(run.created_at)).toBeLessThanOrEqual(Date.parse(run.started_at));
  expect(Date.parse(run.started_at)).toBeLessThanOrEqual(Date.parse(run.completed_at));
  expect(await acme.cp('GET', `/v1/runs/${run_id}`)).toMatchObject({ status: 404, body: { detail: 'not_found' } });
});

// Guards: rows of the list are sums of the run's events; they are listed newest first, with filters and pages.
test('the list tells of each run what its events say', async () => {
  const beta = await service.tenant('acc_list');
  const ids: string[] = [];
  for (const [agent, transport] of [
    ['writer', 'rest'],
    ['writer', 'cli'],
    ['coder', 'cli'],
  ]) {
    ids.push((await beta.run({ agent, transport, prompt: 'List me' })).run_id);
  }
  const list = async (query: string) => {
    const { body } = await beta.cp('GET', `/v1/runs?${query}`);
    return { meta: body.meta, ids: body.data.map((row: { run_id: string }) => row.run_id) };
  };
  const [first, second, third] = ids;
  expect(await list('')).toEqual({ meta: { total: 3, limit: 50, offset: 0 }, ids: [third, second, first] });
  expect(await list('agent=writer')).toEqual({ meta: { total: 2, limit: 50, offset: 0 }, ids: [second, first] });
  expect(await list('transport=cli&agent=coder')).toMatchObject({ meta: { total: 1 }, ids: [third] });
  expect(await list('since_hours=1&limit=1&offset=1')).toEqual({
    meta: { total: 3, limit: 1, offset: 1 },
    ids: [second],
  });
  expect(await list('agent=nobody')).toMatchObject({ meta: { total: 0 }, ids: [] });

  const events = await eventsOf(beta, present(third));
  expect(await rowOf(beta, present(third))).toEqual({
    run_id: third,
    parent_run_id: null,
    agent: 'coder',
    transport: 'cli',
    started_at: itemAt(events, 0).ts,
    last_event_at: last(events).ts,
    last_event_type: 'run_completed',
    last_status: 'succeeded',
    event_count: events.length,
    model: 'offline',
    reasoning: false,
    total_cost_usd: present(events.find(({ cost_usd }) => cost_usd)).cost_usd,
    is_priced: true,
    model_tier: 'offline',
    model_rule: 'offline',
    model_enforce: false,
    sample: false,
  });
});

// Guards: costs add up exactly: the windows show the sum of the events.
test('statistics and costs are sums of the events', async () => {
  const gamma = await service.tenant('acc_costs');
  const empty = { runs: 0, completed: 0, failed: 0, in_flight: 0, cost_usd: '0' };
  expect((await gamma.cp('GET', '/v1/runs/stats/today')).body).toEqual(empty);
  const prompts = ['One', 'Two, which is longer', `Three ${tool('calculator', { expression: '1/3' })}`];
  const runs = await Promise.all([
    ...prompts.map((prompt) => gamma.run({ agent: 'assistant', prompt })),
    gamma.run({ agent: 'coder', prompt: 'Four' }),
    gamma.run({ agent: 'coder', prompt: '[[fail-status:400]]' }),
  ]);
  const costOf = async (ids: string[]) => {
    const events = (await Promise.all(ids.map((id) => eventsOf(gamma, id)))).flat();
    return events.reduce((sum, { cost_usd }) => sum.plus(cost_usd ?? 0), new Decimal(0)).toFixed();
  };
  const total = await costOf(runs.map(({ run_id }) => run_id));
  const assistant = await costOf(runs.slice(0, 3).map(({ run_id }) => run_id));
  const coder = await costOf(runs.slice(3).map(({ run_id }) => run_id));
  expect(Number(coder)).toBeGreaterThan(0);

  const { body: stats } = await gamma.cp('GET', '/v1/runs/stats/today');
  expect(stats).toEqual({ runs: 5, completed: 4, failed: 1, in_flight: 0, cost_usd: total });
  const saved_usd = '0';
  const group = (agent: string, cost_usd: string, run_count: number) => ({
    agent,
    total_cost_usd: cost_usd,
    saved_usd,
    run_count,
    tiers: [
      {
        tier: 'offline',
        cost_usd,
        saved_usd,
        run_count,
        models: [{ model: 'offline', cost_usd, saved_usd, run_count }],
      },
    ],
  });
  for (const [query, window, window_hours] of [
    ['', '7d', 168],
    ['?window=24h', '24h', 24],
    ['?window=30d', '30d', 720],
  ]) {
    const { body } = await gamma.cp('GET', `/v1/runs/costs${query}`);
    expect(body.data).toEqual([group('assistant', assistant, 3), group('coder', coder, 2)]);
    const counted = { total_cost_usd: total, saved_usd, run_count: 5, agent_count: 2 };
    expect(body.meta).toEqual({ window, window_hours, since: expect.any(String), ...counted });
    const ageHours = (Date.now() - Date.parse(body.meta.since)) / 3_600_000;
    expect(Math.abs(ageHours - Number(window_hours))).toBeLessThan(0.1);
  }
});

// Guards: a retry is a new run with the same prompt, agent and transport, and the first run does not change.
test('a retry is a new run', async () => {
  const first = await acme.run({ agent: 'writer', transport: 'cli', prompt: 'Again, please' });
  const retry = await acme.cp('POST', `/v1/runs/${first.run_id}/retry`);
  expect(retry).toMatchObject({ status: 201, body: { status: 'queued' } });
  expect(retry.body.run_id).not.toBe(first.run_id);
  const second = await acme.waitForRun(retry.body.run_id);
  expect(second).toMatchObject({ agent: 'writer', status: 'succeeded', output: first.output });
  expect((await rowOf(acme, second.run_id)).transport).toBe('cli');
  expect(await acme.waitForRun(first.run_id)).toEqual(first);
});

// Guards: the end of a run is announced once, whatever was asked of it meanwhile.
test('each run has one end', async () => {
  const ids = await Promise.all([
    dispatch(acme, { agent: 'assistant', prompt: 'one' }),
    dispatch(acme, { agent: 'assistant', prompt: '[[fail-status:400]]' }),
    dispatch(acme, { agent: 'assistant', prompt: '[[sleep:60000]]' }),
  ]);
  await acme.cp('POST', `/v1/runs/${ids[2]}/cancel`);
  await Promise.all(ids.map((id) => acme.waitForRun(id)));
  const ends = await Promise.all(ids.map(async (id) => endsOf(await typesOf(acme, id))));
  expect(ends).toEqual([['run_completed'], ['run_failed'], ['run_cancelled']]);
});
