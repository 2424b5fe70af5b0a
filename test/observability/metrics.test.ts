/** What a process counts, read at its metrics listener after a little of everything was done. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { openMetrics } from '../../src/observability.ts';
import { first, present } from '../../src/platform/core/present.ts';
import type { HttpListener } from '../../src/platform/http/server.ts';
import {
  agentStep,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilProject,
} from '../support/fixtures/projects.ts';
import { demandIn, otpHeaders } from '../support/service/otp.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import { findPromtool } from '../support/programs/promtool.ts';
import { compute } from '../support/faults/hold.ts';
import { untilStatus } from '../support/fixtures/runs.ts';
import { scrape } from '../support/observability/scrape.ts';
import { call, eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

const promtool = findPromtool();
const isWithoutPromtool = isMissing('alerts', await reasonOf(promtool));

let service: TestService;
let tenant: Tenant;
let receiver: WebhookReceiver;
let listener: HttpListener;

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => (receiver.received.length === 1 ? 500 : 200));
  service = await startTestService({
    env: {
      METRICS_PORT: '0',
      WEBHOOK_ALLOW_HTTP: 'true',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      WEBHOOK_RETRY_INITIAL: '100ms',
    },
  });
  tenant = await service.tenant('acc_measured');
  listener = present(await openMetrics(service.runtime, service.services, [{}]));
});
afterAll(async () => {
  await listener?.close(0);
  await service?.close();
  await receiver?.close();
});

const page = () => scrape(`${listener.url}/metrics`);

/** Of one family, once it has come to this. */
const untilValue = (name: string, labels: Record<string, string>, wanted: number | ReturnType<typeof expect.any>) =>
  eventually(async () => expect((await page()).value(name, labels)).toEqual(wanted));

// Guards: ends of runs are counted once each, by agent and cause, and a workspace's own agents add no series.
test('runs are counted as they end', async () => {
  await tenant.run({ agent: 'assistant', prompt: 'Hello' });
  await tenant.run({ agent: 'assistant', prompt: '[[fail-status:400]]' });
  const own = { slug: 'own', description: 'Ours', prompt: 'Help.', model: 'claude-haiku-4-5', allowed_tool_slugs: [] };
  await tenant.cp('POST', '/v1/agents', own);
  await tenant.run({ agent: 'own', prompt: 'Hello' });
  const { body } = await tenant.api('POST', '/v1/runs', { agent: 'writer', prompt: '[[sleep:60000]]' });
  await untilStatus(tenant, body.run_id, 'running');
  await tenant.cp('POST', `/v1/runs/${body.run_id}/cancel`);
  const ends = 'aos_run_duration_seconds_count';
  await untilValue(ends, { agent: 'assistant', outcome: 'succeeded' }, 1);
  await untilValue(ends, { agent: 'assistant', outcome: 'failed' }, 1);
  await untilValue(ends, { agent: 'custom', outcome: 'succeeded' }, 1);
  await untilValue(ends, { agent: 'writer', outcome: 'cancelled' }, 1);
  await untilValue('aos_model_call_duration_seconds_count', { outcome: 'cancelled' }, 1);
  const { value, text } = await page();
  expect(value('aos_run_failures_total', { cause: 'model_refused_request' })).toBe(1);
  expect(value('aos_run_wait_seconds_count', { agent: 'assistant', conversation: 'no' })).toBe(2);
  expect(value('aos_model_call_duration_seconds_count', { outcome: 'succeeded' })).toBe(2);
  expect(value('aos_model_call_duration_seconds_count', { outcome: 'model_refused_request' })).toBe(1);
  expect(value('aos_model_tokens_total', { model: 'offline', agent: 'custom' })).toBeGreaterThan(0);
  expect(value('aos_model_cost_usd_total', { model: 'offline', agent: 'assistant' })).toBeGreaterThan(0);
  expect(text).not.toMatch(/measured|"own"/);
});

// Guards: the end of a project is counted once, however often it is asked for.
test('projects are counted as they end', async () => {
  await makeTemplate(tenant, 'short', [phaseSpec('only', [agentStep('write')])]);
  const id = await startProject(tenant, 'short');
  await untilProject(tenant, id, 'completed');
  await untilValue('aos_project_duration_seconds_count', { template: 'custom', outcome: 'completed' }, 1);
  await service.services.engine.completeProject({ projectId: id });
  const other = await startProject(tenant, 'short');
  await command(tenant, other, 'abandon');
  await untilValue('aos_project_duration_seconds_count', { template: 'custom', outcome: 'abandoned' }, 1);
  await untilValue('aos_project_duration_seconds_count', { outcome: 'completed' }, 1);
});

// Guards: calls of tools are counted by kind and outcome, and a refusal is told apart from a failure.
test('calls of tools are counted', async () => {
  const tool = (args: unknown) => `[[tool:calculator ${JSON.stringify(args)}]]`;
  await tenant.run({ agent: 'assistant', prompt: tool({ expression: '6*7' }) });
  await tenant.run({ agent: 'assistant', prompt: tool({ expression: '6*' }) });
  await untilValue('aos_tool_call_duration_seconds_count', { kind: 'builtin', outcome: 'succeeded' }, 1);
  await untilValue('aos_tool_call_duration_seconds_count', { kind: 'builtin', outcome: 'refused' }, 1);
});

// Guards: each attempt of a delivery is counted with its outcome.
test('attempts to deliver are counted', async () => {
  await tenant.api('POST', '/v1/webhooks', { url: receiver.url });
  await tenant.run({ agent: 'assistant', prompt: 'Hello' });
  await untilValue('aos_delivery_attempts_total', { kind: 'webhook', outcome: 'to_be_repeated' }, 1);
  await untilValue('aos_delivery_attempts_total', { kind: 'webhook', outcome: 'delivered' }, 1);
});

// Guards: attempts to guess keys and codes are visible in the metrics.
test('refused credentials and codes are counted', async () => {
  await call(`${service.baseUrl}/v1/runs/any`, 'GET', { authorization: 'Bearer svc_pk_guessed' });
  await call(`${service.baseUrl}/api/v1/cp/v1/runs`, 'GET', { cookie: 'service_session=guessed' });
  await call(`${service.baseUrl}/login/verify`, 'POST', {}, { challenge_id: 'guessed', code: '000000' });
  const path = '/v1/integrations/openai-compatible/secrets/models.default';
  const asked = await tenant.cp('PUT', path, { value: 'llama' });
  await tenant.cp('PUT', path, { value: 'llama' }, otpHeaders(demandIn(asked).challenge_id, '000000'));
  const { value } = await page();
  expect(value('aos_auth_refusals_total', { credential: 'api-key', reason: 'invalid_api_key' })).toBe(1);
  expect(value('aos_auth_refusals_total', { credential: 'session', reason: 'auth_required' })).toBe(1);
  expect(value('aos_sign_ins_total', { method: 'code', outcome: 'invalid_code' })).toBe(1);
  expect(value('aos_otp_checks_total', { outcome: 'asked' })).toBe(1);
  expect(value('aos_otp_checks_total', { outcome: 'refused' })).toBe(1);
});

// Guards: how much a worker has left for model calls, and for other work, is visible before it has nothing left.
test('slots of the worker are told by kind', async () => {
  const { body } = await tenant.api('POST', '/v1/runs', { agent: 'writer', prompt: '[[sleep:60000]]' });
  const of = (kind: string, state: string) => ({ queue: 'orchestration', kind, state });
  await untilValue('aos_worker_slots', of('model_calls', 'taken'), 1);
  const { WORKER_MAX_MODEL_CALLS } = service.runtime.config;
  const { value } = await page();
  expect(value('aos_worker_slots', of('model_calls', 'free'))).toBe(WORKER_MAX_MODEL_CALLS - 1);
  expect(value('aos_worker_slots', of('work', 'free'))).toBeGreaterThan(0);
  expect(value('aos_worker_slots', of('model_calls', 'waiting'))).toBe(0);
  await tenant.cp('POST', `/v1/runs/${body.run_id}/cancel`);
  await untilValue('aos_worker_slots', of('model_calls', 'taken'), 0);
});

// Guards: a waiting gate is in the backlog, and the lateness of scheduled starts is measured.
test('gates that wait and ticks of schedules are told of', async () => {
  await makeTemplate(tenant, 'gated', [phaseSpec('only', [gateStep('approve')])]);
  const id = await startProject(tenant, 'gated');
  await untilValue('aos_backlog', { kind: 'gate', status: 'human' }, 1);
  await command(tenant, id, 'abandon');
  await untilValue('aos_backlog', { kind: 'gate' }, undefined as never);
  const { client } = service.runtime.temporal;
  await client.schedule.getHandle(`${service.runtime.config.TASK_QUEUE_PREFIX}system-job/integration-health`).trigger();
  await eventually(async () => {
    const { value } = await page();
    expect(value('aos_schedule_lag_seconds_count', { workflow: 'systemJob' })).toBeGreaterThanOrEqual(1);
    expect(value('aos_task_queue_wait_seconds_count', { queue: 'orchestration' })).toBeGreaterThanOrEqual(1);
  });
});

// Guards: dependencies are checked at each scrape, and the pool's use and the SDK's metrics are included.
test('what the process depends on is told', async () => {
  const { value, names } = await page();
  expect([value('aos_database_up'), value('aos_temporal_up')]).toEqual([1, 1]);
  expect(value('aos_database_connections', { state: 'used' })).toBeGreaterThanOrEqual(0);
  expect(names).toContain('temporal_workflow_task_schedule_to_start_latency_seconds');
});

// Guards: names, types and help texts are those that Prometheus' own checker takes, the SDK's among them.
(isWithoutPromtool ? test.skip : test)('every metric is one that promtool accepts', async () => {
  const { text } = await page();
  const { status, stdout, stderr } = spawnSync(await promtool, ['check', 'metrics'], { input: text });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' });
});

// Guards: a bucket is a series of each combination of labels; twice as many cost a scrape twice as much.
test('no family has more buckets than its thresholds need', async () => {
  const { text } = await page();
  const buckets = new Map<string, Set<string>>();
  for (const [, name, le] of text.matchAll(/^(aos_\w+)_bucket\{.*?le="([^"]+)"/gm)) {
    buckets.set(present(name), (buckets.get(present(name)) ?? new Set()).add(present(le)));
  }
  expect(buckets.size).toBeGreaterThan(5);
  expect([...buckets].filter(([, bounds]) => bounds.size > 7).map(([name]) => name)).toEqual([]);
});

// Guards: the report of a standstill names the requests and activities around it, and nothing of their content.
test('a process that stood still says what was under way', async () => {
  const warn = jest.spyOn(service.runtime.log, 'warn');
  const { body } = await tenant.api('POST', '/v1/runs', { agent: 'writer', prompt: '[[sleep:60000]]' });
  await untilStatus(tenant, body.run_id, 'running');
  const { detail } = service.services.runs;
  jest.spyOn(service.services.runs, 'detail').mockImplementation((...asked) => {
    compute(400);
    return detail(...asked);
  });
  // Another one may have been told of just before, and then this one is only counted.
  await eventually(async () => {
    await tenant.api('GET', `/v1/runs/${body.run_id}`);
    expect(warn).toHaveBeenCalledWith(
      {
        stood_still_ms: expect.any(Number),
        own_ms: expect.any(Number),
        untold_before: expect.any(Number),
        under_way: expect.arrayContaining(['GET /v1/runs/{run_id}', 'takeTurn']),
      },
      'the event loop stood still',
    );
  });
  jest.restoreAllMocks();
  const { value } = await page();
  const name = 'aos_event_loop_own_delay_seconds';
  expect(present(value(`${name}_count`)) - present(value(`${name}_bucket`, { le: '0.25' }))).toBeGreaterThanOrEqual(1);
  await tenant.cp('POST', `/v1/runs/${body.run_id}/cancel`);
});

// Guards: probes: the process is not ready while it starts, and not alive once a part of it has ended by itself.
test('probes tell how the process is', async () => {
  const parts: { check?(): void }[] = [];
  const starting = present(await openMetrics(service.runtime, service.services, parts));
  const status = async (path: string) => (await fetch(starting.url + path)).status;
  expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503]);
  parts.push({});
  expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
  first(parts).check = () => {
    throw new Error('it ended');
  };
  expect(await status('/healthz')).toBe(503);
  await starting.close(0);
});

// Guards: without tracing, no answer and no history contains anything of it.
test('without an endpoint for traces there are none', async () => {
  const { headers, body } = await tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' });
  expect(headers.get('traceresponse')).toBeNull();
  await tenant.waitForRun(body.run_id);
  const { events } = await service.runtime.temporal.client.workflow.getHandle(`run-${body.run_id}`).fetchHistory();
  expect(JSON.stringify(events)).not.toContain('_tracer-data');
});

describe('dashboard and alerts', () => {
  const fileAt = (path: string) => fileURLToPath(new URL(`../../deploy/observability/${path}`, import.meta.url));
  const dashboard = JSON.parse(readFileSync(fileAt('grafana/dashboards/service.json'), 'utf8')) as {
    panels: { id: number; title: string; targets?: { expr: string }[] }[];
  };
  const rules = parse(readFileSync(fileAt('alerts.yml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string; runbook_url: string } }[] }[];
  };
  const alerts = rules.groups.flatMap((group) => group.rules);
  const panelExpressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const named = (expression: string): string[] =>
    [...expression.matchAll(/\b(?:aos|temporal|nodejs|process)_\w+/g)]
      .map(([name]) => name)
      // A value of a label is none.
      .filter((name) => !new RegExp(`"[^"]*${name}[^"]*"`).test(expression));
  const family = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
  /** Of the SDK, there from its first failure on. */
  const AFTER_A_FAILURE = ['temporal_workflow_task_execution_failed_total', 'temporal_request_failure_total'];

  // Guards against: a renamed metric that its panels and alerts still name by the old name.
  test('name metrics that a process shows', async () => {
    const { names } = await page();
    const known = new Set([...names, ...AFTER_A_FAILURE]);
    const used = [...panelExpressions, ...alerts.map(({ expr }) => expr)].flatMap(named);
    expect(used.length).toBeGreaterThan(50);
    expect(used.filter((name) => !known.has(name) && !known.has(family(name)))).toEqual([]);
  });

  // Guards: every metric is on a panel or in an alert.
  test('show every metric of ours', async () => {
    const { names } = await page();
    const shown = new Set(panelExpressions.flatMap(named).map(family));
    expect(names.filter((name) => name.startsWith('aos_') && !shown.has(name))).toEqual([]);
  });

  // Guards: every alert has a page that says what to do.
  test('each alert has its section in the runbook, and each section its alert', () => {
    const handbook = readFileSync(fileURLToPath(new URL('../../docs/operate/operations.md', import.meta.url)), 'utf8');
    const sections = [...handbook.matchAll(/^### (Aos\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toBe(`docs/operate/operations.md#${alert.toLowerCase()}`);
      expect(annotations.summary).not.toBe('');
    }
  });

  // Guards: Grafana takes panels by their ids, and finds the data source that was provisioned.
  test('the dashboard has panels of its own ids', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  // Guards: each alert fires when it should, and no other does. `alerts.test.yml` says when.
  (isWithoutPromtool ? test.skip : test)('alerts fire when they should', async () => {
    const { status, stdout, stderr } = spawnSync(await promtool, ['test', 'rules', fileAt('alerts.test.yml')]);
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  // Guards against: an alert without a test of its own.
  test('each alert has a test', () => {
    const { tests } = parse(readFileSync(fileAt('alerts.test.yml'), 'utf8')) as {
      tests: { promql_expr_test: { exp_samples: { labels: string }[] }[] }[];
    };
    const fired = JSON.stringify(tests.flatMap((each) => each.promql_expr_test.flatMap((one) => one.exp_samples)));
    expect(alerts.filter(({ alert }) => !fired.includes(alert)).map(({ alert }) => alert)).toEqual([]);
  });
});
