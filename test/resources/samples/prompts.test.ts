/** Sample prompts as single runs: their tools are called for real, and people answer for real. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { openSamples, type PromptSample } from '../../../src/resources/samples/library.ts';
import { startOpenAiServer, answer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { eventsOf } from '../../support/fixtures/runs.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { setOwnServer } from './own-server.ts';

const { prompts } = await openSamples();
const offered = prompts.filter(({ is_part }) => !is_part);
const sampleOf = (slug: string): PromptSample => present(prompts.find((sample) => sample.slug === slug));

let models: OpenAiServer;
let service: TestService;
let tenant: Tenant;
let count = 0;

beforeAll(async () => {
  models = await startOpenAiServer();
  models.otherwise(answer('From a model.'));
  service = await startTestService({ env: { EGRESS_ALLOWLIST: new URL(models.baseUrl).host } });
});
beforeEach(async () => {
  tenant = await service.tenant(`acc_prompts_${++count}`);
});
afterAll(async () => {
  await service?.close();
  await models?.close();
});

const request = ({ agent, prompt }: PromptSample) => ({ agent, prompt });

async function dispatch(sample: PromptSample): Promise<string> {
  const { status, body } = await tenant.api('POST', '/v1/runs', request(sample));
  expect(status).toBe(201);
  return body.run_id;
}

/** Answers the question of a run in the inbox, as soon as it is asked. */
async function answerQuestion(runId: string, said: string): Promise<void> {
  const wait = await eventually(async () => {
    const { body } = await tenant.cp('GET', '/v1/inbox');
    return present(body.data.find(({ run_id }: { run_id: string }) => run_id === runId));
  });
  const { body: shown } = await tenant.cp('GET', `/v1/inbox/${wait.id}`);
  const answered = await tenant.cp('POST', `/v1/inbox/${wait.id}/answer`, {
    answer: 'submit',
    data: { answer: said },
    ...(shown.revision !== undefined && { revision: shown.revision }),
  });
  expect(answered).toMatchObject({ status: 200 });
}

// Guards: every sample that people are offered ends well, says that it was recorded, and leaves no gap in its text.
test.each(offered.map((sample) => [sample.slug, sample] as const))('%s', async (_, sample) => {
  const runId = await dispatch(sample);
  const question = sample.turns.flatMap(({ calls }) => calls).find(({ tool }) => tool === 'ask_human');
  if (question) await answerQuestion(runId, 'Tuesday at 8:00');
  const run = await tenant.waitForRun(runId);
  expect(run).toMatchObject({ status: 'succeeded', error: null, sample: true });
  expect(run.output).not.toMatch(/\{\{|undefined|null/);
  if (question) expect(run.output).toContain('Tuesday at 8:00');

  const events = await eventsOf(tenant, runId);
  // A call that waits for a person is told of again, with the address of its page.
  const calls = events.filter(({ event_type, payload }) => event_type === 'tool_call' && !payload.url);
  const called = calls.map(({ payload }) => payload.tool);
  expect(called).toEqual(sample.turns.flatMap(({ calls }) => calls.map(({ tool }) => tool)));
  const failed = events.filter(({ event_type, status }) => event_type === 'tool_result' && status === 'failed');
  expect(failed).toEqual([]);
});

// Guards: the sums of the sample are those of the calculator.
test('the calculator is asked for real', async () => {
  const runId = await dispatch(sampleOf('pays-for-itself'));
  await tenant.waitForRun(runId);
  const results = (await eventsOf(tenant, runId)).filter(({ event_type }) => event_type === 'tool_result');
  expect(JSON.stringify(results)).toContain('39.24');
});

// Guards: the spawned run is a run of its own, and is marked too.
test('the specialist is a run of its own', async () => {
  const runId = await dispatch(sampleOf('hand-over'));
  await tenant.waitForRun(runId);
  const { body } = await tenant.cp('GET', `/v1/runs/${runId}/summary`);
  expect(body.children).toMatchObject([{ agent: 'writer', status: 'succeeded' }]);
  expect((await tenant.cp('GET', `/v1/runs/${body.children[0].run_id}/summary`)).body).toMatchObject({ sample: true });
});

// Guards: a prompt of somebody's own is not taken for the sample.
test('another prompt is answered by the offline model', async () => {
  const { agent, prompt } = sampleOf('a-longer-text');
  const run = await tenant.run({ agent, prompt: `${prompt} Shorter.` });
  expect(run).toMatchObject({ sample: false, output: expect.stringMatching(/^\[offline model\]/) });
});

// Guards: a run that began on its recording does not go on with it once a provider is configured.
test('ends when a provider is configured meanwhile', async () => {
  const runId = await dispatch(sampleOf('ask-a-person'));
  await eventually(async () => {
    const { body } = await tenant.cp('GET', '/v1/inbox');
    expect(body.data).toMatchObject([{ run_id: runId }]);
  });
  await setOwnServer(tenant, models.baseUrl);
  await answerQuestion(runId, 'Tuesday at 8:00');
  expect(await tenant.waitForRun(runId)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('a model provider has been configured since'),
  });
  expect(await tenant.run(request(sampleOf('ask-a-person')))).toMatchObject({ output: 'From a model.', sample: false });
});

// Guards: people are told what they can try; a part of another sample is not offered.
test('are listed', async () => {
  const { status, body } = await tenant.cp('GET', '/v1/samples');
  expect(status).toBe(200);
  expect(body.prompts.map(({ slug }: { slug: string }) => slug)).toEqual(offered.map(({ slug }) => slug));
  expect(body.workflows).toHaveLength(10);
});
