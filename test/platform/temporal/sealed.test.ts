/** The whole service with a payload codec: what Temporal keeps, that all of it works, how keys and tools come and go. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payload } from '@temporalio/common';
import { randomBytes } from 'node:crypto';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import { jobPrefix } from '../../../src/resources/scheduled-jobs/triggers.ts';
import { createServices } from '../../../src/compose/services.ts';
import { startWorker, type RunningWorker } from '../../../src/worker.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec } from '../../support/fixtures/projects.ts';
import { startProject, untilGate, untilProject } from '../../support/fixtures/projects.ts';
import { call, eventually, sessionFor, startTestService, TEST_SECRETS } from '../../support/service/service.ts';
import type { Tenant, TestService } from '../../support/service/service.ts';
import { connectTestTemporal } from '../../support/temporal/temporal.ts';

const CANARY = 'canary-7f3a';
const JOB = { cron: '0 6 * * *', agent_slug: 'assistant', brief: CANARY };
const ONE = `one:${randomBytes(32).toString('base64')}`;
const TWO = `two:${randomBytes(32).toString('base64')}`;
const UI = 'http://ui.localhost:8233';

let service: TestService;
let acme: Tenant;
let worker: RunningWorker;

beforeAll(async () => {
  service = await startTestService({ worker: false, env: { TEMPORAL_CODEC_KEYS: ONE, TEMPORAL_UI_URL: UI } });
  worker = await service.startWorker();
  acme = await service.tenant('acc_acme');
  const steps = [agentStep('write'), gateStep('gate'), agentStep('polish')];
  await makeTemplate(acme, 'gated', [phaseSpec('text', steps)]);
});
afterAll(() => service?.close());

/** As somebody reads it who has Temporal and no key, in the JSON of its tools. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function rawHistory(workflowId: string): Promise<any[]> {
  const { connection, namespace } = service.runtime.temporal;
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId },
  });
  return JSON.parse(JSON.stringify(present(history).events));
}

/** Where Temporal's core writes of itself: numbers, and names of activities. */
const isOfCore = (path: string): boolean => path.endsWith('.markerRecordedEventAttributes.details.data');

/** Every text and payload that is not sealed, with its address; search attributes never are. */
function* readableIn(value: unknown, path = ''): Generator<string> {
  if (value === null || typeof value !== 'object') return;
  if (path.endsWith('.searchAttributes') || isOfCore(path)) return;
  // The id of the workspace is a search attribute too.
  if (path.endsWith('.header.fields.workspace')) return;
  const { metadata, message, stackTrace } = value as Record<string, unknown> & Payload;
  if (metadata?.encoding) {
    const encoding = Buffer.from(String(metadata.encoding), 'base64').toString();
    if (encoding !== 'binary/encrypted') yield `${path}: ${encoding}`;
    return;
  }
  if (message && message !== 'Encoded failure') yield `${path}.message`;
  if (stackTrace) yield `${path}.stackTrace`;
  for (const [name, inner] of Object.entries(value)) yield* readableIn(inner, `${path}.${name}`);
}

describe('what Temporal keeps', () => {
  // Guards: with a codec, a project's arguments, board, signals and results are sealed, and it runs to its end.
  test('of a project', async () => {
    const id = await startProject(acme, 'gated', { brief: CANARY });
    const gate = await untilGate(acme, id, 'text', 'gate');
    expect(await gate.approve(CANARY)).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    for (const workflowId of [`project-${id}`, `project-${id}/text/1`]) {
      const events = await rawHistory(workflowId);
      expect([...readableIn(events)]).toEqual([]);
      expect(JSON.stringify(events)).not.toContain(CANARY);
    }
  });

  // Guards: messages and stacks of errors are sealed too, those of activities and those of workflows.
  test('of a run that failed', async () => {
    const run = await acme.run({ agent: 'assistant', prompt: `[[fail-status:400]] ${CANARY}` });
    expect(run).toMatchObject({ status: 'failed' });
    await eventually(async () => {
      const events = await rawHistory(`run-${run.run_id}`);
      expect([...readableIn(events)]).toEqual([]);
      expect(events.at(-1).workflowExecutionFailedEventAttributes?.failure).toMatchObject({
        message: 'Encoded failure',
        encodedAttributes: expect.anything(),
      });
    });
  });

  // Guards: the arguments of a schedule are sealed in Temporal for as long as the schedule exists.
  test('of a schedule', async () => {
    const { status } = await acme.cp('POST', '/v1/scheduled-jobs', { ...JOB, name: CANARY });
    expect(status).toBe(201);
    const { connection, client, namespace } = service.runtime.temporal;
    const scheduleId = await eventually(async () => {
      const prefix = jobPrefix(service.runtime.config) + acme.caller.customerId;
      for await (const found of client.schedule.list())
        if (found.scheduleId.startsWith(prefix)) return found.scheduleId;
      throw new Error('no schedule yet');
    });
    const kept = await connection.workflowService.describeSchedule({ namespace, scheduleId });
    const { startWorkflow } = JSON.parse(JSON.stringify(present(kept.schedule).action));
    expect(startWorkflow.input.payloads).toHaveLength(1);
    expect([...readableIn(startWorkflow)]).toEqual([]);
  });
});

// Guards: an operator or a script without the key can still answer a gate by a plain signal.
test('a plain signal from outside', async () => {
  const id = await startProject(acme, 'gated');
  const { subtaskId } = await untilGate(acme, id, 'text', 'gate');
  const stranger = await connectTestTemporal();
  await stranger.client.workflow
    .getHandle(`project-${id}`)
    .signal('resolveGate', { subtask_id: subtaskId, decision: 'approved', decided_by: 'script' });
  await stranger.close();
  await untilProject(acme, id, 'completed');
});

describe('the codec of the Temporal Web UI', () => {
  const sealedInput = async (): Promise<unknown> => {
    const run = await acme.run({ agent: 'assistant', prompt: 'hello' });
    const [started] = await rawHistory(`run-${run.run_id}`);
    return started.workflowExecutionStartedEventAttributes.input;
  };
  const ask = (direction: string, body: unknown, headers: Record<string, string>) =>
    call(`${service.controlPlaneUrl}/codec/${direction}`, 'POST', headers, body);
  const operator = { authorization: `Bearer ${TEST_SECRETS.OPERATOR_TOKEN}`, 'x-namespace': 'default' };
  const caller = { customerId: 'internal', actor: 'me@example.com' };
  const cookieOf = (role: 'owner' | 'member', workspaceId = INTERNAL_WORKSPACE) => ({
    cookie: `service_session=${sessionFor({ ...caller, workspaceId }, role)}`,
  });

  // Guards: the operator's token opens sealed payloads, and what an operator sends is sealed.
  test('both ways', async () => {
    const { status, body } = await ask('decode', await sealedInput(), operator);
    expect(status).toBe(200);
    expect(JSON.parse(Buffer.from(body.payloads[0].data, 'base64').toString())).toMatchObject({ agent: 'assistant' });
    const back = await ask('encode', body, operator);
    expect([...readableIn(back.body)]).toEqual([]);
    expect((await ask('decode', back.body, operator)).body).toEqual(body);
  });

  // Guards: only the Web UI's page may ask, with the session of an owner or admin of the operating workspace.
  test('from the Web UI', async () => {
    const sealed = await sealedInput();
    const answer = await ask('decode', sealed, { ...cookieOf('owner'), origin: UI });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI);
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    const before = await call(`${service.controlPlaneUrl}/codec/decode`, 'OPTIONS', { origin: UI });
    expect(before.headers.get('access-control-allow-headers')).toContain('x-namespace');
    const elsewhere = await ask('decode', sealed, { ...cookieOf('owner'), origin: 'https://evil.example' });
    expect(elsewhere.status).toBe(401);
    expect(elsewhere.headers.get('access-control-allow-origin')).toBeNull();
  });

  // Guards: a caller who may not read everything can read nothing.
  test.each([
    ['nothing', {}, 401],
    ['another token', { authorization: 'Bearer of-somebody-else' }, 401],
    ['a tenant', cookieOf('owner', 'acc_acme'), 403],
    ['a member', cookieOf('member'), 403],
  ] as const)('%s is refused', async (_who, headers, expected) => {
    const { status, body } = await ask('decode', { payloads: [] }, headers);
    expect([status, JSON.stringify(body)]).toEqual([expected, expect.not.stringContaining('payloads')]);
  });

  // Guards: a body that is no list of payloads is a 400, and an unknown method or address a 404.
  test('nonsense', async () => {
    for (const body of [{}, { payloads: 'x' }, { payloads: [{ data: 'not base64!' }] }, null]) {
      expect((await ask('decode', body, operator)).status).toBe(400);
    }
    expect((await ask('open', { payloads: [] }, operator)).status).toBe(404);
  });
});

describe('rotation', () => {
  /** A worker of another process with these keys, in the place of ours. */
  async function workerWith(keys: string): Promise<RunningWorker> {
    const temporal = await connectTestTemporal(undefined, keys);
    const runtime = { ...service.runtime, temporal, config: { ...service.runtime.config, TEMPORAL_CODEC_KEYS: keys } };
    const services = createServices(runtime);
    const started = await startWorker(runtime, services);
    return {
      async close() {
        await started.close();
        await services.close();
        await temporal.close();
      },
    };
  }

  // Guards: executions and schedules from before a rotation go on after the new key has come first.
  test('in the middle of a project', async () => {
    const id = await startProject(acme, 'gated');
    const { subtaskId } = await untilGate(acme, id, 'text', 'gate');
    await worker.close();
    const { client } = service.runtime.temporal;
    await client.workflow
      .getHandle(`project-${id}`)
      .signal('resolveGate', { subtask_id: subtaskId, decision: 'approved', decided_by: 'me' });

    const rotated = await workerWith(`${TWO},${ONE}`);
    await untilProject(acme, id, 'completed');
    await rotated.close();
  });
});
