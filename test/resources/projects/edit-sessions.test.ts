/** Edit sessions: a planner proposes, a person decides, and what was approved is carried out. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { itemAt, last, present } from '../../../src/platform/core/present.ts';
import { answer, hang, refuse, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import {
  agentStep,
  artifactsOf,
  attemptsAt,
  command,
  contextOf,
  gateStep,
  makeTemplate,
  phaseSpec,
  phaseStatuses,
  projectEventsOf,
  projectOf,
  startProject,
  stepOf,
  tasksOf,
  topicsOf,
  triesOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { untilStatus } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  provider = await startOpenAiServer();
  provider.otherwise(answer('As asked.'));
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  acme = await service.tenant('acc_acme');
  await makeTemplate(acme, 'two', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['outline'] }),
  ]);
});
afterEach(() => {
  provider.reset();
  provider.otherwise(answer('As asked.'));
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

async function completed(): Promise<string> {
  const id = await startProject(acme, 'two');
  await untilProject(acme, id, 'completed');
  return id;
}
const planOf = (...actions: Record<string, unknown>[]) => ({
  summary: 'What was asked for',
  actions: actions.map((action) => ({ rationale: 'It serves the request', risk: 'low', ...action })),
});
const proposes = (...actions: Record<string, unknown>[]) => answer(JSON.stringify(planOf(...actions)));

async function session(id: string, instruction = 'Make it shorter.', more = {}) {
  const { status, body } = await command(acme, id, 'edit-sessions', { instruction, ...more });
  expect(status).toBe(201);
  const task = itemAt(
    (await tasksOf(acme, id)).filter((each) => each.id === body.task_id),
    0,
  );
  await untilGate(acme, id, task.phase_slug, 'approve_plan');
  const decide = (decision: string, rest = {}) =>
    command(acme, id, `edit-sessions/${body.task_id}/approve`, { decision, ...rest });
  return { ids: body, slug: task.phase_slug, decide };
}
const sessionStatus = async (id: string, slug: string) => (await phaseStatuses(acme, id))[slug];

// Guards: the planner sees the request and the project. Its plan is carried out once it is approved, and not before:
// new content becomes the next version, instructions reach the phase that runs again, and downstream follows.
test('an approved plan is carried out', async () => {
  const id = await completed();
  provider.script(
    proposes(
      { kind: 'edit_artifact', phase_slug: 'outline', content: 'A shorter outline' },
      { kind: 'instruct', phase_slug: 'article', instructions: 'Use SHORT-SENTENCES' },
    ),
    answer('A shorter article'),
  );
  const { ids, slug, decide } = await session(id, 'Make it SNAPPY.', { cascade_mode: 'lazy' });
  expect(await projectOf(acme, id)).toMatchObject({ status: 'active' });
  const planner = itemAt(await attemptsAt(acme, id, slug, 'planner'), 0);
  const told = await contextOf(acme, planner);
  for (const text of ['Make it SNAPPY.', 'outline', 'artifact version 1']) expect(told).toContain(text);
  expect(await artifactsOf(acme, id)).toMatchObject([{ version: 1 }, { version: 1 }]);

  expect(await decide('approved')).toMatchObject({ status: 200, body: { id: ids.task_id } });
  await untilProject(acme, id, 'completed');
  expect(await sessionStatus(id, slug)).toBe('succeeded');
  expect(await artifactsOf(acme, id)).toMatchObject([
    ...[{ phase_slug: 'outline', version: 2, content: 'A shorter outline', produced_via: 'edit_session' }],
    ...[{ phase_slug: 'article', version: 2, content: 'A shorter article', produced_via: 'edit_session' }],
  ]);
  const [, again] = await attemptsAt(acme, id, 'article', 'write');
  expect(again).toMatchObject({ attempt_reason: 'edit_session' });
  const prompt = await contextOf(acme, present(again));
  for (const text of ['SHORT-SENTENCES', 'A shorter outline']) expect(prompt).toContain(text);
  const enacted = itemAt(await attemptsAt(acme, id, slug, 'enact'), 0);
  expect(enacted.output).toMatchObject({
    applied: [
      { kind: 'edit_artifact', phase_slug: 'outline', version: 2 },
      { kind: 'instruct', phase_slug: 'article' },
    ],
    not_applied: [],
  });
  const topics = await topicsOf(acme, id);
  for (const topic of ['edit_session_started', 'artifact_set_manually', 'phase_retriggered']) {
    expect(topics).toContain(topic);
  }
  expect(await decide('approved')).toMatchObject({ status: 409 });
  expect(await decide('rejected')).toMatchObject({ status: 409 });
});

// Guards: a rejected plan changes nothing, and the session is skipped.
test('a rejected plan is not', async () => {
  const id = await completed();
  provider.script(proposes({ kind: 'retrigger', phase_slug: 'outline' }));
  const { slug, decide } = await session(id);
  expect(await decide('rejected')).toMatchObject({ status: 200 });
  await untilProject(acme, id, 'completed');
  expect(await sessionStatus(id, slug)).toBe('skipped');
  expect(await stepOf(acme, id, slug, 'enact')).toMatchObject({ status: 'skipped', attempt_count: 0 });
  expect(await artifactsOf(acme, id)).toMatchObject([{ version: 1 }, { version: 1 }]);
  expect(await topicsOf(acme, id)).toEqual(expect.arrayContaining(['subtask_skipped', 'task_skipped']));
});

// Guards: a session that failed, or is not wanted any more, can be discarded, and the project completes again.
test.each(['failed', 'running'] as const)('a session whose planner is %s is rejected', async (state) => {
  const id = await completed();
  const refused = refuse(400, { message: 'not today' });
  provider.script(...(state === 'failed' ? [refused, refused, refused] : [hang()]));
  const { body: ids } = await command(acme, id, 'edit-sessions', { instruction: 'Make it shorter.' });
  await untilStep(acme, id, 'edit-session-1', 'planner', state);
  if (state === 'failed')
    expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
  const reject = () => command(acme, id, `edit-sessions/${ids.task_id}/approve`, { decision: 'rejected' });
  expect(await reject()).toMatchObject({ status: 200, body: { status: 'skipped' } });
  await untilProject(acme, id, 'completed');
  expect(await phaseStatuses(acme, id)).toMatchObject({ 'edit-session-1': 'skipped', article: 'succeeded' });
  const attempt = itemAt(await attemptsAt(acme, id, 'edit-session-1', 'planner'), 0);
  if (state === 'running') await untilStatus(acme, attempt.child_run_id, 'cancelled');
  expect(await reject()).toMatchObject({ status: 409 });
});

// Guards: a person can write the artifact of a phase that failed; the phase is then done, and the project goes on.
test('a failed phase is completed by hand', async () => {
  await makeTemplate(acme, 'failing', [
    phaseSpec('outline', [agentStep('write', { max_attempts: 1, instructions: 'FAIL-HERE' })]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['outline'] }),
  ]);
  provider.script(refuse(400, { message: 'not today' }), answer('Unused.'));
  const id = await startProject(acme, 'failing');
  expect(await untilProject(acme, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
  provider.reset();
  provider.otherwise(answer('As asked.'));
  provider.script(proposes({ kind: 'edit_artifact', phase_slug: 'outline', content: 'By hand' }));
  const { body: ids } = await command(acme, id, 'edit-sessions', { instruction: 'Write it for me.' });
  await command(acme, id, 'resume');
  await untilGate(acme, id, 'edit-session-1', 'approve_plan');
  await command(acme, id, `edit-sessions/${ids.task_id}/approve`, { decision: 'approved' });
  await untilProject(acme, id, 'completed');
  expect(await phaseStatuses(acme, id)).toMatchObject({ outline: 'succeeded', article: 'succeeded' });
  expect(await stepOf(acme, id, 'outline', 'write')).toMatchObject({ status: 'skipped' });
  const article = itemAt(await attemptsAt(acme, id, 'article', 'write'), 0);
  expect(await contextOf(acme, article)).toContain('By hand');
});

// Guards: the planner can be asked again with a comment and its own plan, any number of times; a plan of the wrong
// shape never reaches a person.
test('a plan is changed on request', async () => {
  const id = await completed();
  provider.script(
    proposes({ kind: 'burn', phase_slug: 'outline' }),
    proposes({ kind: 'retrigger', phase_slug: 'outline' }),
    proposes({ kind: 'retrigger', phase_slug: 'article' }),
    proposes({ kind: 'edit_artifact', phase_slug: 'article', content: 'Third time' }),
  );
  const { slug, decide } = await session(id);
  expect(await triesOf(acme, id, slug, 'planner')).toEqual(
    ['initial failed', 'schema_repair succeeded'].map((tried) => tried.replace('initial', 'edit_session')),
  );
  for (const comment of ['Not the OUTLINE-PLEASE', 'Change the text BY-HAND']) {
    expect(await decide('request_changes', { comment })).toMatchObject({ status: 200 });
    await untilGate(acme, id, slug, 'approve_plan');
    const tries = await attemptsAt(acme, id, slug, 'planner');
    expect(tries.at(-1)).toMatchObject({ attempt_reason: 'manual_rework', status: 'succeeded' });
    const told = await contextOf(acme, last(tries));
    for (const text of [comment, 'Your earlier output']) expect(told).toContain(text);
  }
  await decide('approved');
  await untilProject(acme, id, 'completed');
  expect(await artifactsOf(acme, id)).toMatchObject([
    { phase_slug: 'outline', version: 1 },
    { phase_slug: 'article', version: 2, content: 'Third time' },
  ]);
});

// Guards: a person's revised plan is carried out instead of the proposal, with the session's cascade; impossible
// actions are reported and stop nothing.
test('a plan is written by hand', async () => {
  const id = await completed();
  provider.script(proposes({ kind: 'retrigger', phase_slug: 'article' }));
  const { slug, decide } = await session(id, 'Anything.', { cascade_mode: 'strict' });
  const revised_plan = planOf(
    { kind: 'edit_artifact', phase_slug: 'outline', content: 'An outline by hand' },
    { kind: 'edit_artifact', phase_slug: 'article', content: 'Too late: it is to run again' },
  );
  expect(await decide('edit_plan', { revised_plan })).toMatchObject({ status: 200 });
  await untilProject(acme, id, 'completed');
  const enacted = itemAt(await attemptsAt(acme, id, slug, 'enact'), 0);
  expect(enacted.output).toMatchObject({
    applied: [{ phase_slug: 'outline', auto_retriggered: ['article'] }],
    not_applied: [{ action: { phase_slug: 'article' }, reason: expect.any(String) }],
  });
  expect(await artifactsOf(acme, id)).toMatchObject([
    { phase_slug: 'outline', version: 2, content: 'An outline by hand' },
    { phase_slug: 'article', version: 2, content: 'As asked.', produced_via: 'cascade_retrigger' },
  ]);
  const set = (await projectEventsOf(acme, id)).find(({ topic }) => topic === 'artifact_set_manually');
  expect(set).toMatchObject({ category: 'artifact', payload_jsonb: { phase_slug: 'outline', version: 2 } });
});

// Guards: a session beside work under way changes what it can and leaves the rest; two sessions do not interfere.
test('a session beside a running phase', async () => {
  await makeTemplate(acme, 'busy', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec('article', [agentStep('write'), gateStep('gate')], { depends_on: ['outline'] }),
  ]);
  const id = await startProject(acme, 'busy');
  const gate = await untilGate(acme, id, 'article', 'gate');
  provider.script(
    proposes(
      { kind: 'retrigger', phase_slug: 'article' },
      { kind: 'edit_artifact', phase_slug: 'outline', content: 'By hand' },
    ),
    proposes({ kind: 'edit_artifact', phase_slug: 'outline', content: 'By another hand' }),
  );
  const first = await session(id);
  const second = await session(id);
  expect([first.slug, second.slug]).toEqual(['edit-session-1', 'edit-session-2']);
  await first.decide('approved');
  await second.decide('approved');
  for (const { slug } of [first, second]) await untilStep(acme, id, slug, 'enact', 'succeeded');
  await gate.approve();
  expect(await untilProject(acme, id, 'completed')).toMatchObject({ has_stale_phases: true });
  const enacted = itemAt(await attemptsAt(acme, id, first.slug, 'enact'), 0);
  expect(enacted.output).toMatchObject({ not_applied: [{ reason: 'the phase is blocked' }] });
  expect((await artifactsOf(acme, id, false)).filter(({ phase_slug }) => phase_slug === 'outline')).toHaveLength(3);
  for (const nothing of [newUuid(), itemAt(await tasksOf(acme, id), 0).id, 'nonsense']) {
    expect((await command(acme, id, `edit-sessions/${nothing}/approve`, { decision: 'approved' })).status).toBe(404);
  }
});

// Guards: the session of a paused project waits like everything else, and can be run step by step; instructions reach a
// phase that has yet to begin.
test('a session of a paused project', async () => {
  await makeTemplate(acme, 'held', [
    phaseSpec('outline', [agentStep('write'), gateStep('gate')]),
    phaseSpec('article', [agentStep('write')], { depends_on: ['outline'] }),
  ]);
  const id = await startProject(acme, 'held');
  const gate = await untilGate(acme, id, 'outline', 'gate');
  await command(acme, id, 'pause');
  provider.script(proposes({ kind: 'instruct', phase_slug: 'article', instructions: 'Use RYE-FLOUR' }));
  const { body: ids } = await command(acme, id, 'edit-sessions', { instruction: 'Rye, please.' });
  const runStep = async () => (await command(acme, id, 'run-step')).body;
  expect(await runStep()).toMatchObject({ subtask_id: ids.planner_subtask_id, status: 'succeeded' });
  expect(await runStep()).toMatchObject({ subtask_id: ids.gate_subtask_id, status: 'blocked' });
  const approve = { decision: 'approved' };
  expect(await command(acme, id, `edit-sessions/${ids.task_id}/approve`, approve)).toMatchObject({ status: 200 });
  expect(await runStep()).toMatchObject({ subtask_id: ids.enact_subtask_id, status: 'succeeded' });
  expect(await projectOf(acme, id)).toMatchObject({ status: 'paused' });
  await gate.approve();
  await command(acme, id, 'resume');
  await untilProject(acme, id, 'completed');
  const article = itemAt(await attemptsAt(acme, id, 'article', 'write'), 0);
  expect(await contextOf(acme, article)).toContain('RYE-FLOUR');
});
