/**
 * Work that stays open holds a slot of the worker: here it has eight, and one workspace gets four of them. Calls of models
 * have twelve of their own.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startBarrier, type Barrier } from '../support/fakes/barrier.ts';
import { answer, hang, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { actionStep, agentStep, command, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { dispatch, tool } from '../support/fixtures/runs.ts';
import { present } from '../../src/platform/core/present.ts';
import { QUEUES } from '../../src/platform/temporal/task-queues.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import type { RunningWorker } from '../../src/worker.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const SHARE = 4;
const CALLS = 6;

let provider: OpenAiServer;
let barrier: Barrier;
let service: TestService;
let acme: Tenant;
let beta: Tenant;
let worker: RunningWorker;

const scripted = { agent: 'assistant', prompt: 'Go on.', override: { model_override: 'scripted' } };
const offline = (prompt: string) => ({ agent: 'assistant', prompt, override: { model_override: 'offline' } });

describe.each([
  ['one queue', {}],
  ['a queue for each kind of work', { WORKER_QUEUES: QUEUES.join(',') }],
])('%s', (_name, env) => {
  beforeAll(async () => {
    [provider, barrier] = [await startOpenAiServer(), await startBarrier()];
    service = await startTestService({
      worker: false,
      env: {
        ...env,
        WORKER_MAX_MODEL_CALLS: String(2 * CALLS),
        WORKER_MAX_CONCURRENT: String(2 * SHARE),
        HOUSEKEEPING_INTERVAL: '10m',
        EGRESS_ALLOWLIST: barrier.hostAndPort,
        // The limit of a host is above the share of the worker, and no delivery of the test is over before its end.
        WEBHOOK_ALLOW_HTTP: 'true',
        WEBHOOK_TIMEOUT: '10m',
        DELIVERIES_PER_HOST: '100',
        OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
        OPENAI_COMPATIBLE_MODEL: 'scripted',
      },
    });
    worker = await service.startWorker();
    [acme, beta] = [await service.tenant('acc_acme'), await service.tenant('acc_beta')];
  });
  afterAll(async () => {
    await service?.close();
    await provider?.close();
    await barrier?.close();
  });

  // Guards: calls of one workspace that stay open leave a slot of the worker to the others, however many there are.
  test.each([
    ['model', () => scripted, () => provider.received(CALLS)],
    ['tool', () => offline(tool('http_request', { url: barrier.url('slow') })), () => barrier.waiting('slow', SHARE)],
  ])('slow %s calls of one workspace hold up no run of another', async (what, body, begun) => {
    provider.reset();
    provider.otherwise(hang());
    const many = await Promise.all(Array.from({ length: 5 * SHARE }, () => dispatch(acme, body())));
    await begun();
    expect(await beta.run(offline(tool('calculator', { expression: '1 + 1' })))).toMatchObject({ status: 'succeeded' });
    if (what === 'model') expect(provider.requests).toHaveLength(CALLS);
    for (const id of many) expect(await acme.cp('POST', `/v1/runs/${id}/cancel`)).toMatchObject({ status: 200 });
    for (const id of many) expect(await acme.waitForRun(id)).toMatchObject({ status: 'cancelled' });
  });

  /** Whichever comes first: more open requests than the share of their workspace, or the end of another one's run. */
  const outcomeOf = (name: string) =>
    Promise.race([
      barrier.waiting(name, SHARE + 1).then(() => 'more than its share'),
      beta.run(offline(tool('calculator', { expression: '1 + 1' }))).then(({ status }) => status),
    ]);

  // Guards: slots for model calls are apart: work of a workspace that stays open holds up none of its own model calls.
  test('a workspace whose tools have all of its share asks its models', async () => {
    const many = await Promise.all(
      Array.from({ length: 2 * SHARE }, () =>
        dispatch(acme, offline(tool('http_request', { url: barrier.url('own') }))),
      ),
    );
    await barrier.waiting('own', SHARE);
    expect(await acme.run(offline('Hello'))).toMatchObject({ status: 'succeeded' });
    for (const id of many) expect(await acme.cp('POST', `/v1/runs/${id}/cancel`)).toMatchObject({ status: 200 });
  });

  // Guards: the same for actions of projects, which have no run.
  test('slow actions of one workspace leave slots to others', async () => {
    provider.reset();
    provider.otherwise(answer('The text.'));
    await makeTemplate(acme, 'posting', [
      phaseSpec('text', [
        agentStep('write'),
        actionStep('send', 'http_post', { depends_on: ['write'], max_attempts: 1 }),
      ]),
    ]);
    const params = { publish_url: barrier.url('publish') };
    const ids = await Promise.all(Array.from({ length: 3 * SHARE }, () => startProject(acme, 'posting', { params })));
    await barrier.waiting('publish', SHARE);
    expect(await outcomeOf('publish')).toBe('succeeded');
    for (const id of ids) expect((await command(acme, id, 'abandon')).status).toBe(200);
    barrier.open('publish');
  });

  // Guards: runs that gave their slots back are all done, each when another one of their workspace has ended.
  test('runs beyond the share of a workspace follow', async () => {
    provider.reset();
    provider.otherwise(answer('Done.'));
    const ids = await Promise.all(Array.from({ length: 5 * SHARE }, () => dispatch(acme, scripted)));
    for (const id of ids) expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    expect(provider.requests).toHaveLength(5 * SHARE);
  });

  // Guards: deliveries to a receiver that is slow to answer leave slots to others, and those that gave theirs back follow.
  test('slow deliveries of one workspace leave slots to others', async () => {
    // Each endpoint is sent the end of one run.
    const url = barrier.url('hook');
    for (let made = 0; made < 3 * SHARE; made++) await acme.cp('POST', '/v1/webhook-deliveries/endpoints', { url });
    await acme.run(offline('Hello'));
    await barrier.waiting('hook', SHARE);
    expect(await outcomeOf('hook')).toBe('succeeded');
    // As many as wait for a slot follow, and are answered too.
    for (let open = 0; open < 3; open++) {
      barrier.open('hook');
      if (open < 2) await barrier.waiting('hook', SHARE);
    }
  });

  /** @returns how many calls have a slot, and how many wait for one */
  async function slotsForCalls(): Promise<Record<string, number>> {
    const gauge = present(service.services.meters.registry.getSingleMetric('aos_worker_slots'));
    const { values } = await gauge.get();
    const ofCalls = values.filter(({ labels, value }) => labels.kind === 'model_calls' && value > 0);
    return Object.fromEntries(ofCalls.map(({ labels, value }) => [labels.state, value]));
  }

  // Guards: runs that wait for a slot of a worker which ends ask another one at once, and not when their own time comes.
  test('a worker that ends sends those who wait for its slots elsewhere', async () => {
    provider.reset();
    provider.otherwise(hang());
    const ids = await Promise.all(Array.from({ length: 3 * CALLS }, () => dispatch(acme, scripted)));
    /** @returns how many of the runs have such an event */
    const having = async (event: 'timerStartedEventAttributes' | 'workflowExecutionSignaledEventAttributes') => {
      const { workflow } = service.runtime.temporal.client;
      const all = await Promise.all(ids.map((id) => workflow.getHandle(runWorkflowId(id)).fetchHistory()));
      return all.filter(({ events }) => present(events).some((each) => each[event])).length;
    };
    await eventually(async () => expect(await having('timerStartedEventAttributes')).toBe(2 * CALLS));
    expect(await slotsForCalls()).toEqual({ taken: CALLS, free: CALLS, waiting: 2 * CALLS });
    provider.otherwise(answer('Done.'));
    await worker.close();
    expect(await having('workflowExecutionSignaledEventAttributes')).toBe(2 * CALLS);
    worker = await service.startWorker();
    for (const id of ids) expect(await acme.waitForRun(id)).toMatchObject({ status: 'succeeded' });
  });

  // Guards: whoever looks at a run that waits for its workspace's share is told so, and not any more once it has it.
  test('a run says that it waits for the share of its workspace', async () => {
    provider.reset();
    provider.otherwise(hang());
    const calling = await Promise.all(Array.from({ length: CALLS }, () => dispatch(acme, scripted)));
    await provider.received(CALLS);
    const late = await dispatch(acme, scripted);
    const waitOf = async (id: string) => (await acme.api('GET', `/v1/runs/${id}`)).body.waits_for;
    await eventually(async () => expect(await waitOf(late)).toMatchObject({ what: 'share_of_model_calls' }));
    const { body: shown } = await acme.cp('GET', `/v1/runs/${late}/summary`);
    expect([await waitOf(present(calling[0])), shown.waits_for]).toEqual([null, await waitOf(late)]);
    await acme.cp('POST', `/v1/runs/${calling[0]}/cancel`);
    await provider.received(CALLS + 1);
    expect(await waitOf(late)).toBeNull();
    const { body: timeline } = await acme.cp('GET', `/v1/runs/${late}/events`);
    const waits = timeline.data.filter(({ payload }: { payload: object }) => 'waits_for' in payload);
    expect(waits).toMatchObject([
      { event_type: 'claude_request', status: 'waiting', payload: { turn: 1, since: shown.waits_for.since } },
      { event_type: 'claude_request', status: 'waited', duration_ms: expect.any(Number) },
    ]);
    for (const id of [...calling, late]) await acme.cp('POST', `/v1/runs/${id}/cancel`);
    for (const id of [...calling, late]) expect(await acme.waitForRun(id)).toMatchObject({ status: 'cancelled' });
  });
});
