/** Traces, as a collector receives them: one from a request to the call of a model, and nothing in it that is a tenant's. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { Writable } from 'node:stream';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { openTracing, type Tracing } from '../../src/platform/observability/tracing.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../support/fakes/otlp-receiver.ts';
import { call, eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  stepOf,
  untilProject,
  untilStep,
} from '../support/fixtures/projects.ts';
import { bundleWorkflows } from '../support/temporal/workflow-bundle.ts';
import { SYSTEM_JOB } from '../../workflows/system-job/messages.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

const CANARY = 'canary-7f3a9c';
const CALLERS = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${CALLERS.traceId}-${CALLERS.spanId}-01`;

let collector: OtlpReceiver;
let tracing: Tracing;
let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
const lines: string[] = [];

beforeAll(async () => {
  collector = await startOtlpReceiver();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  process.env.OTEL_BSP_SCHEDULE_DELAY = '50';
  process.env.OTEL_SERVICE_NAME = 'aos-under-test';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const log = createLog({ level: 'debug', pretty: false, destination });
  tracing = present(await openTracing(process.env, log));
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({
    log,
    env: { EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_ALLOW_HTTP: 'true' },
  });
  tenant = await service.tenant('acc_traced');
  await tenant.api('POST', '/v1/webhooks', { url: receiver.url });
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
  await tracing?.close();
  await collector?.close();
});

const traceOf = (response: { headers: Headers }): string =>
  itemAt(present(response.headers.get('traceresponse')).split('-'), 1);
const inTrace = (traceId: string): ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan | undefined =>
  spans.find((span) => span.name === name);
/** Names from a span up to the root. */
function pathOf(spans: readonly ReceivedSpan[], span: ReceivedSpan | undefined): string[] {
  const parent = span && spans.find(({ spanId }) => spanId === span.parentId);
  return span ? [span.name, ...pathOf(spans, parent)] : [];
}

// Guards: one trace covers a run from its request to its model calls, tool calls and webhook. Each span is below the
// one that caused it, across workflows and spawned runs.
test('go from a request to the call of a model', async () => {
  const spawn = JSON.stringify({ agent: 'writer', prompt: `Write ${CANARY}.`, wait: true });
  const accepted = await tenant.api('POST', '/v1/runs', {
    agent: 'assistant',
    prompt: `${CANARY} [[tool:save_artifact {"filename":"a.md","content":"b"}]] [[tool:spawn_run ${spawn}]]`,
  });
  expect(accepted.status).toBe(201);
  const traceId = traceOf(accepted);
  expect(await tenant.waitForRun(accepted.body.run_id)).toMatchObject({ status: 'succeeded' });
  const spans = await eventually(() => {
    const found = inTrace(traceId);
    for (const name of ['POST /v1/runs', 'execute_tool builtin', 'run recordChildRun', 'run deliverWebhook'])
      expect(found.map((span) => span.name)).toContain(name);
    return found;
  });
  expect(pathOf(spans, named(spans, 'chat offline'))).toEqual([
    ...['chat offline', 'run takeTurn', 'start agentRun', 'POST /v1/runs'],
  ]);
  expect(pathOf(spans, named(spans, 'execute_tool builtin'))).toEqual([
    ...['execute_tool builtin', 'run callTool', 'start agentRun', 'POST /v1/runs'],
  ]);
  expect(present(named(spans, 'chat offline')).attributes).toMatchObject({
    'gen_ai.request.model': 'offline',
    'gen_ai.usage.input_tokens': expect.any(Number),
  });
  const workflows = new Set(spans.map(({ attributes }) => attributes['temporal.workflow.type']));
  expect([...workflows]).toEqual(expect.arrayContaining(['agentRun', 'webhookDelivery']));
  const runs = new Set(
    spans
      .filter(({ attributes }) => attributes['temporal.workflow.type'] === 'agentRun')
      .map(({ attributes }) => attributes['temporal.workflow.id']),
  );
  expect(runs.size).toBe(2);
  expect(spans.some(({ name }) => name.startsWith('postgres '))).toBe(true);
});

// Guards: carrying the trace through a workflow disturbs nothing: updates are answered, the steps of a project are in
// the trace that started it, and the recorded history replays.
test('go through a project whose gate a person decides, and replay', async () => {
  await makeTemplate(tenant, 'gated', [phaseSpec('only', [agentStep('write'), gateStep('approve')])]);
  const brief = { workflow_slug: 'gated', title: 'Traced', brief: CANARY };
  const begun = await tenant.cp('POST', '/v1/projects', brief);
  const id = begun.body.id as string;
  await untilStep(tenant, id, 'only', 'approve', 'blocked');
  const { id: gate } = await stepOf(tenant, id, 'only', 'approve');
  const decided = await tenant.cp('POST', `/v1/projects/${id}/subtasks/${gate}/resolve-gate`, { decision: 'approved' });
  expect(decided.status).toBe(200);
  await untilProject(tenant, id, 'completed');
  await eventually(() => {
    expect(named(inTrace(traceOf(decided)), 'update resolveGate')).toBeDefined();
    const types = inTrace(traceOf(begun)).map(({ attributes }) => attributes['temporal.workflow.type']);
    expect(types).toEqual(expect.arrayContaining(['project', 'phase', 'agentRun']));
  });
  const { body } = await tenant.cp('GET', `/v1/projects/${id}/events`);
  const traces = new Set(body.data.map((event: { trace_id: string | null }) => event.trace_id?.replaceAll('-', '')));
  expect([...traces]).toContain(traceOf(begun));
  const { client } = service.runtime.temporal;
  const workflowBundle = await bundleWorkflows();
  const workflowId = `project-${id}`;
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  expect(JSON.stringify(history)).toContain('_tracer-data');
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
});

// Guards: an operator's call may continue a trace; a trace that a stranger names is only linked and has no effect on
// sampling.
test('join a trace of the control plane, and link one of the gateway', async () => {
  const ask = { traceparent };
  const joined = await call(`${service.controlPlaneUrl}/v1/operator/workspaces`, 'GET', ask);
  expect(traceOf(joined)).toBe(CALLERS.traceId);
  const linked = await call(`${service.baseUrl}/v1/runs/unknown`, 'GET', ask);
  expect(traceOf(linked)).not.toBe(CALLERS.traceId);
  const span = await eventually(() => {
    const found = named(inTrace(traceOf(linked)), 'GET /v1/runs/{run_id}');
    if (!found) throw new Error('not received yet');
    return found;
  });
  expect(span).toMatchObject({ parentId: '', links: [CALLERS.traceId] });
  expect(span.attributes).toMatchObject({ 'http.response.status_code': 401 });
});

// Guards: what a schedule starts, which no request asked for, has a trace that its execution names.
test('begin with a schedule under the id of the execution', async () => {
  const handle = await service.runtime.temporal.client.workflow.start(SYSTEM_JOB, {
    workflowId: `${service.runtime.config.TASK_QUEUE_PREFIX}job-by-hand`,
    args: [{ jobId: 'integration-health' }],
    taskQueue: `${service.runtime.config.TASK_QUEUE_PREFIX}orchestration`,
  });
  await handle.result();
  const traceId = handle.firstExecutionRunId.replaceAll('-', '');
  await eventually(() => expect(named(inTrace(traceId), 'run runSystemJobForPage')).toMatchObject({ parentId: '' }));
});

// Guards: a line of the log leads to its trace.
test('are named by log lines', async () => {
  await tenant.run({ agent: 'assistant', prompt: 'Hello' });
  const named = lines.map((line) => JSON.parse(line) as { trace_id?: string; span_id?: string });
  const { trace_id, span_id } = present(named.find(({ trace_id }) => trace_id !== undefined));
  expect({ trace_id, span_id }).toEqual({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});

// Guards: traces contain nothing of tenants: no prompt, answer, argument, key, session or address.
test('carry no content and no secret', async () => {
  const failing = `${CANARY} [[tool:calculator {"expression":"${CANARY}("}]] [[fail-status:400]]`;
  await tenant.run({ agent: 'assistant', prompt: failing });
  await tenant.api('GET', `/v1/runs?agent=${CANARY}`);
  const before = collector.spans.length;
  await tenant.api('GET', '/v1/runs');
  await eventually(() => expect(collector.spans.length).toBeGreaterThan(before));
  const sent = collector.bytes();
  expect(sent.includes('aos-under-test')).toBe(true);
  const { host } = new URL(receiver.url);
  for (const secret of [CANARY, tenant.apiKey, tenant.session, 'svc_pk_', host, service.runtime.config.SECRETS_KEY]) {
    expect({ secret, isSent: sent.includes(secret) }).toEqual({ secret, isSent: false });
  }
});
