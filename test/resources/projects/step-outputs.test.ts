/** How steps of models that answer badly are judged: a scripted model that speaks the OpenAI protocol. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { first, itemAt, present } from '../../../src/platform/core/present.ts';
import type { StepSpec } from '../../../src/resources/templates/model.ts';
import { answer, startOpenAiServer, type ChatRequest, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import {
  agentStep,
  artifactsOf,
  attemptsAt,
  contextOf,
  makeTemplate,
  phaseSpec,
  projectEventsOf,
  reviewStep,
  startProject,
  stepOf,
  topicsOf,
  triesOf,
  untilProject,
} from '../../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  tenant = await service.tenant('acc_acme');
});
afterEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const said = ({ body }: ChatRequest): string => JSON.stringify(body.messages);

/** What each step answers, in order, by a word of its instructions; the last one also to every later call. */
function script(replies: Record<string, (string | Promise<string>)[]>): void {
  provider.otherwise(async (response, request) => {
    const step = first(Object.keys(replies).filter((name) => said(request).includes(name)));
    const left = present(replies[step]);
    answer(await (left.length > 1 ? present(left.shift()) : first(left)))(response, request);
  });
}
const step = (slug: string, more: Partial<StepSpec> = {}) =>
  agentStep(slug, { instructions: `Do STEP-${slug}.`, ...more });
const judge = (slug: string, more: Partial<StepSpec> = {}) =>
  reviewStep(slug, { instructions: `Do STEP-${slug}.`, ...more });

const approve = JSON.stringify({ decision: 'approved', feedback: 'Good.' });
const reject = (feedback: string) => JSON.stringify({ decision: 'rejected', feedback });

const HEADLINE = {
  type: 'object',
  required: ['headline'],
  properties: { headline: { type: 'string' } },
};

describe('the output of a step with a schema', () => {
  // Guards: an output of the wrong shape is sent back with the fault, and never becomes an artifact.
  test('is repaired', async () => {
    script({ 'STEP-write': ['No JSON at all', '{"headline": 7}', '```json\n{"headline": "Bread"}\n```'] });
    await makeTemplate(tenant, 'shaped', [phaseSpec('text', [step('write', { output_schema: HEADLINE })])]);
    const id = await startProject(tenant, 'shaped');
    await untilProject(tenant, id, 'completed');
    const attempts = await attemptsAt(tenant, id, 'text', 'write');
    expect(attempts).toMatchObject([
      { attempt_reason: 'initial', status: 'failed', output_validated: false, output: 'No JSON at all' },
      { attempt_reason: 'schema_repair', status: 'failed', output_validated: false, output: { headline: 7 } },
      { attempt_reason: 'schema_repair', status: 'succeeded', output_validated: true, output: { headline: 'Bread' } },
    ]);
    const [second, third] = [
      await contextOf(tenant, itemAt(attempts, 1)),
      await contextOf(tenant, itemAt(attempts, 2)),
    ];
    for (const text of ['the output is not JSON', 'No JSON at all']) expect(second).toContain(text);
    for (const text of [itemAt(attempts, 1).error, '"headline": 7']) expect(third).toContain(text);
    expect(await artifactsOf(tenant, id)).toMatchObject([
      { version: 1, content: { headline: 'Bread' }, produced_via: 'schema_repair' },
    ]);
    expect(await topicsOf(tenant, id)).toEqual([
      ...['project_started', 'task_started'],
      ...['subtask_attempt_started', 'subtask_retry_queued', 'subtask_attempt_started', 'subtask_retry_queued'],
      ...['subtask_attempt_started', 'subtask_succeeded', 'artifact_promoted', 'task_succeeded', 'project_completed'],
    ]);
  });

  // Guards: repairs count against max_attempts.
  test('fails the step when no attempt is left', async () => {
    script({ 'STEP-write': ['{"headline": 7}'] });
    await makeTemplate(tenant, 'misshapen', [
      phaseSpec('text', [step('write', { output_schema: HEADLINE, max_attempts: 2 })]),
    ]);
    const id = await startProject(tenant, 'misshapen');
    expect(await untilProject(tenant, id, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await triesOf(tenant, id, 'text', 'write')).toEqual(['initial failed', 'schema_repair failed']);
    expect(await stepOf(tenant, id, 'text', 'write')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('headline'),
    });
    expect(await artifactsOf(tenant, id)).toEqual([]);
  });

  // Guards: no text of a model can stop a project: characters that Postgres cannot store are replaced.
  test.each([
    ['text with NUL', 'a\u0000b', undefined],
    ['JSON with NUL', '{"headline": "a\\u0000b", "k\\u0000": 1}', HEADLINE],
    ['half a character', '{"headline": "a\\ud800b"}', HEADLINE],
  ])('may be %s', async (name, reply, output_schema) => {
    script({ 'STEP-write': [reply] });
    const slug = `odd-${name.toLowerCase().replaceAll(' ', '-')}`;
    await makeTemplate(tenant, slug, [phaseSpec('text', [step('write', { output_schema })])]);
    const id = await startProject(tenant, slug);
    await untilProject(tenant, id, 'completed');
    expect(await artifactsOf(tenant, id)).toMatchObject([{ version: 1 }]);
  });
});

describe('a judge', () => {
  const reviewed = () =>
    phaseSpec('text', [
      step('write', { depends_on: [] }),
      judge('style', { depends_on: ['write'] }),
      judge('facts', { depends_on: ['write'] }),
      step('polish', { role: 'utility', depends_on: ['style', 'facts'] }),
    ]);

  // Guards: where one of two reviewers objects, its reasons reach the producer with the old work, both look at the new
  // work, and later steps wait for both.
  test('that objects is heard', async () => {
    script({
      'STEP-write': ['Draft one', 'Draft two'],
      'STEP-style': [reject('Too dry'), approve],
      'STEP-facts': [approve],
      'STEP-polish': ['Shine'],
    });
    await makeTemplate(tenant, 'reviewed', [reviewed()]);
    const id = await startProject(tenant, 'reviewed');
    await untilProject(tenant, id, 'completed');
    const [, second] = await attemptsAt(tenant, id, 'text', 'write');
    expect(second).toMatchObject({ attempt_reason: 'review_failure', output: 'Draft two' });
    const told = await contextOf(tenant, present(second));
    for (const text of ['Too dry', 'Draft one']) expect(told).toContain(text);
    expect(await triesOf(tenant, id, 'text', 'style')).toEqual(['initial succeeded', 'review_failure succeeded']);
    const [, , ...facts] = (await triesOf(tenant, id, 'text', 'facts')).toReversed();
    expect(facts).toEqual([]);
    expect((await attemptsAt(tenant, id, 'text', 'polish')).map(({ output }) => output)).toEqual(['Shine']);
    const polished = present(provider.requests.find((request) => said(request).includes('STEP-polish')));
    expect(said(polished)).toContain('Draft two');
    expect(said(polished)).not.toContain('Draft one');
    expect(await artifactsOf(tenant, id)).toMatchObject([{ content: 'Draft two', produced_via: 'review_failure' }]);
    const feedback = (await projectEventsOf(tenant, id)).filter(({ topic }) => topic === 'review_feedback_recorded');
    expect(feedback).toMatchObject([
      { actor_kind: 'agent', payload_jsonb: { step_slug: 'style', feedback: 'Too dry' } },
    ]);
  });

  // Guards: a reviewer that still reads the old work when another objects is asked again about the new work, and its
  // old verdict does not count.
  test('that comes too late is asked again', async () => {
    const rewritten = new Promise<string>((resolve) => {
      script({
        'STEP-write': ['Draft one', new Promise((written) => setImmediate(() => written('Draft two')))],
        'STEP-style': [reject('Too dry'), approve],
        'STEP-facts': [
          // Until the second draft is asked for.
          (async () => {
            await provider.received(4);
            resolve('asked');
            return approve;
          })(),
          approve,
        ],
        'STEP-polish': ['Shine'],
      });
    });
    await makeTemplate(tenant, 'late-judge', [reviewed()]);
    const id = await startProject(tenant, 'late-judge');
    await rewritten;
    await untilProject(tenant, id, 'completed');
    expect(await triesOf(tenant, id, 'text', 'facts')).toEqual(['initial succeeded', 'review_failure succeeded']);
    const questions = provider.requests.filter((request) => said(request).includes('STEP-facts')).map(said);
    expect(questions.map((text) => text.includes('Draft two'))).toEqual([false, true]);
    expect(await artifactsOf(tenant, id)).toMatchObject([{ content: 'Draft two' }]);
  });

  // Guards: a tester that fails the work sends it back, whatever its schema calls the verdict; a final rejection stops
  // the project.
  test('may have a schema of its own', async () => {
    const verdict = {
      type: 'object',
      required: ['passed'],
      properties: { passed: { type: 'boolean' }, findings: { type: 'array', items: { type: 'string' } } },
    };
    const tested = [
      step('write', { max_attempts: 2 }),
      judge('test', { role: 'tester', assignee: 'tester', output_schema: verdict }),
    ];
    await makeTemplate(tenant, 'tested', [phaseSpec('text', tested)]);
    const broken = JSON.stringify({ passed: false, findings: ['A link is broken'] });
    script({ 'STEP-write': ['Draft'], 'STEP-test': [broken, JSON.stringify({ passed: true })] });
    const id = await startProject(tenant, 'tested');
    await untilProject(tenant, id, 'completed');
    const [, second] = await attemptsAt(tenant, id, 'text', 'write');
    expect(second).toMatchObject({ attempt_reason: 'review_failure' });
    expect(await contextOf(tenant, present(second))).toContain('A link is broken');

    script({ 'STEP-write': ['Draft'], 'STEP-test': [broken] });
    const hopeless = await startProject(tenant, 'tested');
    expect(await untilProject(tenant, hopeless, 'paused')).toMatchObject({ pause_reason: 'subtask_failed' });
    expect(await stepOf(tenant, hopeless, 'text', 'write')).toMatchObject({
      status: 'failed',
      attempt_count: 2,
      error: expect.stringContaining('A link is broken'),
    });
  });
});

// Guards: steps that do not depend on each other run at the same time: no request is answered before all have come.
test('independent phases and steps run at once', async () => {
  const all = provider.received(5).then(() => 'Done.');
  const both = provider.received(7).then(() => 'Joined.');
  script({ 'STEP-one': [all], 'STEP-two': [all], 'STEP-three': [all], 'STEP-left': [both], 'STEP-right': [both] });
  await makeTemplate(tenant, 'parallel', [
    phaseSpec('single', [step('one')]),
    phaseSpec('other', [step('one')]),
    phaseSpec('trio', [
      step('one', { depends_on: [] }),
      step('two', { depends_on: [] }),
      step('three', { depends_on: [] }),
    ]),
    phaseSpec('left', [step('left')], { depends_on: ['single', 'trio'] }),
    phaseSpec('right', [step('right')], { depends_on: ['single', 'trio'] }),
  ]);
  const id = await startProject(tenant, 'parallel');
  await untilProject(tenant, id, 'completed');
  expect(provider.requests).toHaveLength(7);
  const topics = await topicsOf(tenant, id);
  const firstEnd = topics.indexOf('subtask_succeeded');
  expect(topics.slice(0, firstEnd).filter((topic) => topic === 'subtask_attempt_started')).toHaveLength(5);
});
