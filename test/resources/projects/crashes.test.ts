/** What is terminated by an operator, or dies: it is told apart, taken up again, or left to a person. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { first, last } from '../../../src/platform/core/present.ts';
import type { RunningWorker } from '../../../src/worker.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import {
  actionStep,
  agentStep,
  artifactsOf,
  attemptsAt,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { untilStatus } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type Reaction, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let provider: OpenAiServer;
let receiver: WebhookReceiver;
let reaction: Reaction = 200;
let service: TestService;
let worker: RunningWorker;
let acme: Tenant;

beforeAll(async () => {
  provider = await startOpenAiServer();
  receiver = await startWebhookReceiver(() => reaction);
  service = await startTestService({
    worker: false,
    env: {
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
    },
  });
  worker = await service.startWorker();
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme, 'two', [
    phaseSpec('outline', [agentStep('write'), agentStep('polish')]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['outline'] }),
  ]);
});
afterEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await receiver?.close();
});

const terminate = (workflowId: string) =>
  service.runtime.temporal.client.workflow.getHandle(workflowId).terminate('by an operator');
/** The next replies are never given; those after them at once. */
const hang = (times: number) => {
  provider.script(...Array.from({ length: times }, () => () => {}));
  provider.otherwise(answer('Done.'));
};
const resume = async (id: string) => (await command(acme, id, 'resume')).body;
const crashTopics = async (id: string) =>
  (await projectEventsOf(acme, id)).filter(({ category }) => category === 'crash').map(({ topic }) => topic);
const NOTHING = { crashed_attempts_recovered: 0, repeat_crash_failures: 0, nonidempotent_pauses: 0 };

describe('a project whose workflow is gone', () => {
  // Guards: any command restarts a lost project from the record; its phases are recovered, and nothing is made twice.
  test('is taken up by resume', async () => {
    hang(1);
    const id = await startProject(acme, 'two');
    await provider.received(1);
    await terminate(`project-${id}`);
    expect(await command(acme, id, 'pause')).toMatchObject({ status: 200 });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'outline', 'write')).toEqual(['initial failed', 'crash_recovery succeeded']);
    expect(await triesOf(acme, id, 'outline', 'polish')).toEqual(['initial succeeded']);
    expect((await artifactsOf(acme, id, false)).map(({ version }) => version)).toEqual([1, 1]);
    expect(await crashTopics(id)).toEqual(['crash_recovered']);
    // The run that nobody waits for any more does not go on spending.
    const dead = first(await attemptsAt(acme, id, 'outline', 'write'));
    await untilStatus(acme, dead.child_run_id, 'cancelled');
  });

  // Guards: the same holds for a paused project and an open gate.
  test('opens its gates again', async () => {
    provider.otherwise(answer('Done.'));
    await makeTemplate(acme, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate'), agentStep('polish')])]);
    const id = await startProject(acme, 'gated');
    await untilGate(acme, id, 'text', 'gate');
    await command(acme, id, 'pause');
    await terminate(`project-${id}`);
    expect(await resume(id)).toEqual(NOTHING);
    await (await untilGate(acme, id, 'text', 'gate')).approve();
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'text', 'write')).toEqual(['initial succeeded']);
  });
});

describe('a phase whose workflow is gone', () => {
  // Guards: a project whose phase workflow is terminated notices it and starts the phase again where it was.
  test('is taken up by its project', async () => {
    provider.script(answer('Done.'), () => {});
    provider.otherwise(answer('Done.'));
    const id = await startProject(acme, 'two');
    await provider.received(2);
    await terminate(`project-${id}/outline/1`);
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'outline', 'write')).toEqual(['initial succeeded']);
    expect(await triesOf(acme, id, 'outline', 'polish')).toEqual(['initial failed', 'crash_recovery succeeded']);
    expect(await crashTopics(id)).toEqual(['crash_recovered']);
  });
});

describe('a run whose workflow is gone', () => {
  const terminateRun = async (id: string, number: number) => {
    await provider.received(number);
    const tries = await attemptsAt(acme, id, 'outline', 'write');
    const run = last(tries).child_run_id;
    await terminate(`run-${run}`);
    return run;
  };

  // Guards: a step that died is tried again once by itself; if it dies again a person decides, who may have it retried.
  test('is repeated once', async () => {
    hang(2);
    const id = await startProject(acme, 'two');
    const dead = await terminateRun(id, 1);
    await terminateRun(id, 2);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'repeat_crash' });
    expect(await triesOf(acme, id, 'outline', 'write')).toEqual(['initial failed', 'crash_recovery failed']);
    expect(await crashTopics(id)).toEqual(['crash_recovered', 'repeat_crash_pause']);
    // It does not look as if it were still at work.
    await untilStatus(acme, dead, 'failed');
    const { id: step } = await stepOf(acme, id, 'outline', 'write');
    expect(await command(acme, id, `subtasks/${step}/retry`)).toMatchObject({ status: 200 });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect((await triesOf(acme, id, 'outline', 'write')).at(-1)).toBe('manual_retry succeeded');
  });

  // Guards: attempts that died while the project's workflow was gone are counted by the resume.
  test('is counted by resume', async () => {
    hang(1);
    const id = await startProject(acme, 'two');
    await provider.received(1);
    await command(acme, id, 'pause');
    await terminate(`project-${id}/outline/1`);
    await terminate(`project-${id}`);
    const summary = await resume(id);
    await untilProject(acme, id, 'completed');
    expect(await crashTopics(id)).toEqual(['crash_recovered']);
    // The workflow that the command started may have been faster.
    expect([NOTHING, { ...NOTHING, crashed_attempts_recovered: 1 }]).toContainEqual(summary);
  });
});

describe('an action that must not happen twice', () => {
  const publish = async () =>
    makeTemplate(acme, 'publish', [
      phaseSpec('text', [agentStep('write')]),
      phaseSpec('out', [actionStep('post', 'http_post'), agentStep('tell')], { depends_on: ['text'] }),
    ]);
  beforeAll(publish);
  const start = () => startProject(acme, 'publish', { params: { publish_url: receiver.url } });

  // Guards: where the outcome of an irreversible effect is unknown a person decides, and until then no resume repeats
  // it.
  test('is left to a person when its outcome is unknown', async () => {
    provider.otherwise(answer('Done.'));
    reaction = 'reset';
    const before = receiver.received.length;
    const id = await start();
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(await crashTopics(id)).toEqual(['nonidempotent_crash_paused']);
    expect(await resume(id)).toEqual({ ...NOTHING, nonidempotent_pauses: 1 });
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nothing_dispatchable' });
    expect(receiver.received).toHaveLength(before + 1);

    reaction = 200;
    const { id: step } = await stepOf(acme, id, 'out', 'post');
    expect(await command(acme, id, `subtasks/${step}/retry`)).toMatchObject({ status: 200 });
    expect(await resume(id)).toEqual(NOTHING);
    await untilProject(acme, id, 'completed');
    expect(await crashTopics(id)).toEqual(['nonidempotent_crash_paused', 'nonidempotent_crash_resolved']);
    expect(receiver.received).toHaveLength(before + 2);
  });

  // Guards: the same holds where the phase's workflow is terminated during the effect.
  test('is not repeated when its phase is gone', async () => {
    provider.otherwise(answer('Done.'));
    reaction = 'timeout';
    const before = receiver.received.length;
    const id = await start();
    await eventually(() => expect(receiver.received).toHaveLength(before + 1));
    await terminate(`project-${id}/out/1`);
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(await triesOf(acme, id, 'out', 'post')).toEqual(['initial failed']);
    reaction = 200;
    expect(await command(acme, id, 'phases/out/retrigger')).toMatchObject({ status: 200 });
    expect(await crashTopics(id)).toEqual(['nonidempotent_crash_paused', 'nonidempotent_crash_resolved']);
    await resume(id);
    await untilProject(acme, id, 'completed');
    expect(receiver.received).toHaveLength(before + 2);
  });

  // Guards: the same holds where the worker is shut down: its work is not given to the next one.
  test('is not repeated when its worker stops', async () => {
    provider.otherwise(answer('Done.'));
    reaction = 'timeout';
    const before = receiver.received.length;
    const id = await start();
    await eventually(() => expect(receiver.received).toHaveLength(before + 1));
    await worker.close();
    worker = await service.startWorker();
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(await resume(id)).toEqual({ ...NOTHING, nonidempotent_pauses: 1 });
    expect(receiver.received).toHaveLength(before + 1);
    await command(acme, id, 'abandon');
  });

  // Guards: the same holds for an agent's tool call, which in a run outside a project would only be told to the model.
  test('is not repeated when an agent did it', async () => {
    const post = { id: 'call', name: 'http_request', arguments: { method: 'POST', url: receiver.url, body: '{}' } };
    provider.script(callTools(post));
    provider.otherwise(answer('Done.'));
    reaction = 'reset';
    const before = receiver.received.length;
    await makeTemplate(acme, 'posting', [phaseSpec('out', [agentStep('post', { tools: ['http_request'] })])]);
    const id = await startProject(acme, 'posting');
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nonidempotent_crash' });
    expect(await crashTopics(id)).toEqual(['nonidempotent_crash_paused']);
    expect(await triesOf(acme, id, 'out', 'post')).toEqual(['initial failed']);
    expect(receiver.received).toHaveLength(before + 1);
    const dead = first(await attemptsAt(acme, id, 'out', 'post'));
    expect((await acme.waitForRun(dead.child_run_id)).error).toContain('tool_outcome_unknown');
  });

  // Guards: a failing answer is an outcome, and so an ordinary failure with its reason.
  test('fails in the ordinary way when it is refused', async () => {
    provider.otherwise(answer('Done.'));
    reaction = 500;
    const before = receiver.received.length;
    const id = await start();
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await stepOf(acme, id, 'out', 'post')).toMatchObject({ error: expect.stringContaining('status 500') });
    expect(await crashTopics(id)).toEqual([]);
    expect(await topicsOf(acme, id)).toContain('subtask_failed');
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused' });
    // Whoever received it may have acted on it all the same.
    expect(await triesOf(acme, id, 'out', 'post')).toEqual(['initial failed']);
    expect(receiver.received).toHaveLength(before + 1);
  });

  // Guards: the same holds for a result of the wrong shape.
  test('is not repeated for the shape of its output', async () => {
    provider.otherwise(answer('Done.'));
    reaction = 200;
    const before = receiver.received.length;
    const json_schema = { type: 'object', required: ['receipt'], properties: { receipt: { type: 'string' } } };
    await makeTemplate(acme, 'receipt', [
      phaseSpec('text', [agentStep('write'), actionStep('post', 'http_post', { role: 'assembler' })], {
        artifact: { schema_slug: 'receipt', json_schema },
      }),
    ]);
    const id = await startProject(acme, 'receipt', { params: { publish_url: receiver.url } });
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await triesOf(acme, id, 'text', 'post')).toEqual(['initial failed']);
    expect(receiver.received).toHaveLength(before + 1);
  });
});
