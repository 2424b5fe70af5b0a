/** Stopping, going on, single steps, giving up: what a person decides holds at once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  actionStep,
  agentStep,
  artifactsOf,
  attemptsAt,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { untilStatus } from '../../support/fixtures/runs.ts';
import { answer, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme, 'two-ways', [
    phaseSpec('left', [agentStep('first'), agentStep('second')]),
    phaseSpec('right', [agentStep('first'), agentStep('second')]),
    phaseSpec('end', [agentStep('last')], { depends_on: ['left', 'right'] }),
  ]);
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

/** Lets every model call wait until it is told to answer. */
function holdReplies() {
  provider.reset();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  provider.otherwise((response, request) => void released.then(() => answer('Done.')(response, request)));
  return release;
}
const answerAtOnce = () => {
  provider.reset();
  provider.otherwise(answer('Done.'));
};
const startedAfter = async (id: string, topic: string): Promise<number> => {
  const topics = await topicsOf(acme, id);
  return topics.slice(topics.indexOf(topic)).filter((each) => each === 'subtask_attempt_started').length;
};

describe('pause', () => {
  // Guards: once a pause is answered no step begins; steps under way end and are kept, and resuming continues there.
  test('holds until resume', async () => {
    const release = holdReplies();
    const id = await startProject(acme, 'two-ways');
    await provider.received(2);
    expect(await command(acme, id, 'pause')).toMatchObject({ status: 200, body: { status: 'paused' } });
    release();
    for (const phase of ['left', 'right']) await untilStep(acme, id, phase, 'first', 'succeeded');
    expect(await command(acme, id, 'pause')).toMatchObject({ status: 200 });
    expect(await startedAfter(id, 'project_paused')).toBe(0);
    expect(await phaseStatuses(acme, id)).toEqual({ left: 'running', right: 'running', end: 'pending' });

    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    await untilProject(acme, id, 'completed');
    expect(provider.requests).toHaveLength(5);
    for (const phase of ['left', 'right']) {
      expect(await triesOf(acme, id, phase, 'first')).toEqual(['initial succeeded']);
    }
  });

  // Guards: a gate that is answered during a pause keeps its answer, and nothing follows until the project is resumed.
  test('outlives the answer of a gate', async () => {
    answerAtOnce();
    await makeTemplate(acme, 'gated', [phaseSpec('text', [agentStep('write'), gateStep('gate'), agentStep('polish')])]);
    const id = await startProject(acme, 'gated');
    const gate = await untilGate(acme, id, 'text', 'gate');
    await command(acme, id, 'pause');
    expect(await gate.approve()).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused', pause_reason: 'requested' });
    await command(acme, id, 'resume');
    await untilProject(acme, id, 'completed');
    expect(await startedAfter(id, 'project_paused')).toBe(1);
  });

  // Guards: a failure in one phase stops the others too. A resume during other work counts, even where the failed phase
  // ends only afterwards.
  test('by a failure is undone by a resume, whatever is still under way', async () => {
    provider.reset();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    provider.otherwise((response, request) => {
      const text = JSON.stringify(request.body.messages);
      if (text.includes('STEP-fail')) response.writeHead(400).end('{}');
      else if (text.includes('STEP-slow')) void released.then(() => answer('Done.')(response, request));
      else answer('Done.')(response, request);
    });
    const step = (slug: string, more = {}) => agentStep(slug, { instructions: `Do STEP-${slug}.`, ...more });
    await makeTemplate(acme, 'failing-beside', [
      phaseSpec('broken', [step('slow', { depends_on: [] }), step('fail', { depends_on: [], max_attempts: 1 })]),
      phaseSpec('fine', [step('quick')]),
      phaseSpec('later', [gateStep('wait', 'schedule', { delay_s: 0 }), step('quick')], { depends_on: ['fine'] }),
    ]);
    const id = await startProject(acme, 'failing-beside');
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await command(acme, id, 'resume')).toMatchObject({ status: 200 });
    release();
    await eventually(async () =>
      expect(await phaseStatuses(acme, id)).toEqual({ broken: 'failed', fine: 'succeeded', later: 'succeeded' }),
    );
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'nothing_dispatchable' });
    const { id: failed } = await stepOf(acme, id, 'broken', 'fail');
    answerAtOnce();
    await command(acme, id, `subtasks/${failed}/retry`);
    await command(acme, id, 'resume');
    await untilProject(acme, id, 'completed');
    expect(await triesOf(acme, id, 'broken', 'slow')).toEqual(['initial succeeded']);
  });
});

// Guards: a failed step can be retried while other steps of its phase are at work, and they are left alone.
test('a step is retried beside one that goes on', async () => {
  provider.reset();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let failures = 0;
  provider.otherwise((response, request) => {
    const text = JSON.stringify(request.body.messages);
    if (text.includes('STEP-fail') && ++failures === 1) response.writeHead(400).end('{}');
    else if (text.includes('STEP-slow')) void released.then(() => answer('Done.')(response, request));
    else answer('Done.')(response, request);
  });
  const step = (slug: string, more = {}) => agentStep(slug, { instructions: `Do STEP-${slug}.`, ...more });
  await makeTemplate(acme, 'retried-beside', [
    phaseSpec('both', [
      step('slow', { depends_on: [] }),
      step('fail', { depends_on: [], max_attempts: 1 }),
      step('after', { depends_on: ['fail'] }),
      step('join', { depends_on: ['slow', 'after'] }),
    ]),
  ]);
  const id = await startProject(acme, 'retried-beside');
  await untilProject(acme, id, 'paused');
  const { id: failed } = await stepOf(acme, id, 'both', 'fail');
  const retry = () => command(acme, id, `subtasks/${failed}/retry`);
  const answers = await Promise.all([retry(), retry()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await triesOf(acme, id, 'both', 'fail')).toEqual(['initial failed', 'manual_retry pending']);
  // Of the paused project this one step may run.
  expect((await command(acme, id, 'run-step')).body).toMatchObject({ subtask_id: failed, status: 'succeeded' });
  expect(await triesOf(acme, id, 'both', 'after')).toEqual([]);
  await command(acme, id, 'resume');
  await untilStep(acme, id, 'both', 'after', 'succeeded');
  release();
  await untilProject(acme, id, 'completed');
  for (const slug of ['slow', 'after', 'join'])
    expect(await triesOf(acme, id, 'both', slug)).toEqual(['initial succeeded']);
});

// Guards: abandoning stops what is under way, keeps what was made, and is the last command possible.
test('abandon is the end', async () => {
  provider.reset();
  provider.script(answer('An outline'));
  provider.otherwise(() => {});
  await makeTemplate(acme, 'given-up', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec('left', [agentStep('write')], { depends_on: ['outline'] }),
    phaseSpec('right', [gateStep('gate'), agentStep('write')], { depends_on: ['outline'] }),
  ]);
  const id = await startProject(acme, 'given-up');
  const gate = await untilGate(acme, id, 'right', 'gate');
  await provider.received(2);
  const [{ child_run_id: run }] = (await attemptsAt(acme, id, 'left', 'write')) as [{ child_run_id: string }];
  expect(await command(acme, id, 'abandon')).toMatchObject({ status: 200, body: { status: 'abandoned' } });
  await untilStatus(acme, run, 'cancelled');
  expect(await phaseStatuses(acme, id)).toEqual({ outline: 'succeeded', left: 'skipped', right: 'skipped' });
  expect(await triesOf(acme, id, 'left', 'write')).toEqual(['initial failed']);
  expect(await artifactsOf(acme, id)).toMatchObject([{ phase_slug: 'outline', content: 'An outline' }]);
  for (const path of ['pause', 'resume', 'abandon', 'run-step', 'phases/outline/retrigger']) {
    expect([path, (await command(acme, id, path)).status]).toEqual([path, 409]);
  }
  expect(await gate.approve()).toMatchObject({ status: 409 });
  await service.runtime.temporal.client.workflow.getHandle(`project-${id}`).result();
  expect(await projectOf(acme, id)).toMatchObject({ status: 'abandoned' });
});

describe('run-step', () => {
  // Guards: run-step runs exactly one step of a paused project, of any kind, in pipeline order.
  test('runs one step of each kind', async () => {
    answerAtOnce();
    await makeTemplate(acme, 'stepwise', [
      phaseSpec('first', [
        gateStep('begin'),
        agentStep('write'),
        actionStep('join', 'assemble_markdown', { role: 'assembler' }),
        gateStep('check'),
      ]),
      phaseSpec('second', [agentStep('write', { depends_on: [] }), agentStep('other', { depends_on: [] })], {
        depends_on: ['first'],
      }),
    ]);
    const id = await startProject(acme, 'stepwise');
    const begin = await untilGate(acme, id, 'first', 'begin');
    await command(acme, id, 'pause');
    await begin.approve();
    const ran = async () => {
      const { status, body } = await command(acme, id, 'run-step');
      expect(status).toBe(200);
      return body;
    };
    const idOf = async (phase: string, step: string) => (await stepOf(acme, id, phase, step)).id;
    const attempt = { status: 'succeeded', attempt_number: 1, attempt_reason: 'initial', error: null };
    // The answer of the gate is on its way to the phase.
    expect(await ran()).toMatchObject({ subtask_id: await idOf('first', 'write'), ...attempt });
    expect(await ran()).toMatchObject({ subtask_id: await idOf('first', 'join'), ...attempt });
    const check = await idOf('first', 'check');
    expect(await ran()).toMatchObject({ subtask_id: check, status: 'blocked', attempt_number: null });
    expect(await ran()).toEqual({ ran_step: false, message: expect.any(String) });
    await (await untilGate(acme, id, 'first', 'check')).approve();
    await eventually(async () => expect((await phaseStatuses(acme, id)).first).toBe('succeeded'));
    expect(await ran()).toMatchObject({ subtask_id: await idOf('second', 'write'), ...attempt });
    expect(await triesOf(acme, id, 'second', 'other')).toEqual([]);
    expect(await ran()).toMatchObject({ subtask_id: await idOf('second', 'other'), ...attempt });
    await eventually(async () => expect((await phaseStatuses(acme, id)).second).toBe('succeeded'));
    expect(await ran()).toEqual({ ran_step: false, message: expect.any(String) });
    expect(await projectOf(acme, id)).toMatchObject({ status: 'paused' });
    await command(acme, id, 'resume');
    await untilProject(acme, id, 'completed');
    expect(provider.requests).toHaveLength(3);
  });

  // Guards: a failing step is not repeated by the same command, and two simultaneous commands run no step twice.
  test('runs no step twice', async () => {
    answerAtOnce();
    const id = await startProject(acme, 'two-ways');
    await command(acme, id, 'pause');
    const before = (await projectEventsOf(acme, id)).filter(({ topic }) => topic === 'subtask_attempt_started').length;
    await eventually(async () => {
      const open = await phaseStatuses(acme, id);
      expect(Object.values(open).filter((status) => status === 'review')).toEqual([]);
    });
    const answers = await Promise.all([command(acme, id, 'run-step'), command(acme, id, 'run-step')]);
    const ids = answers.map(({ body }) => body.subtask_id).filter(Boolean);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await startedAfter(id, 'project_paused')).toBe(ids.length);
    expect(before).toBeLessThanOrEqual(2);
    await command(acme, id, 'resume');
    await untilProject(acme, id, 'completed');
    for (const phase of ['left', 'right']) {
      for (const step of ['first', 'second']) {
        expect(await triesOf(acme, id, phase, step)).toEqual(['initial succeeded']);
      }
    }
  });
});
