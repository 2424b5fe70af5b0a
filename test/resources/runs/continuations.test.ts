/** Answers that the limit of output tokens cuts off: they go on in further turns, and a run never ends well with a part of one. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { GO_ON } from '../../../src/platform/models/recorded-parts.ts';
import { answer, callTools, cutOff, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { eventsOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      MODEL_MAX_CONTINUATIONS: '2',
    },
  });
  acme = await service.tenant('acc_acme');
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const run = () => acme.run({ agent: 'assistant', prompt: 'Tell it.', override: { model_override: 'scripted' } });
const told = (at: number) => (provider.requests.at(at)?.body.messages ?? []).slice(1);

// Guards against: half an article that counts as a whole one.
test('an answer in three pieces is one', async () => {
  provider.script(cutOff('Once upon'), cutOff(' a time'), answer(' it ended.'));
  const ended = await run();
  expect(ended).toMatchObject({ status: 'succeeded', output: 'Once upon a time it ended.' });
  expect(told(2)).toEqual([
    expect.objectContaining({ role: 'user' }),
    { role: 'assistant', content: 'Once upon' },
    { role: 'user', content: GO_ON },
    { role: 'assistant', content: ' a time' },
    { role: 'user', content: GO_ON },
  ]);
  const iterations = (await eventsOf(acme, ended.run_id)).filter((each) => each.event_type === 'claude_iteration');
  expect(iterations.map(({ payload }) => payload.finish_reason)).toEqual(['length', 'length', 'stop']);
});

// Guards: what comes before a call of a tool is no part of the answer after it.
test('a call of a tool begins an answer anew', async () => {
  provider.script(
    cutOff('I will'),
    callTools({ id: 'c', name: 'calculator', arguments: { expression: '1+1' } }),
    cutOff('It is'),
    answer(' two.'),
  );
  expect(await run()).toMatchObject({ status: 'succeeded', output: 'It is two.' });
});

// Guards against: an answer without end that is paid for without end; what there is of it stays readable.
test('fails when no turn is left for it', async () => {
  provider.otherwise(cutOff('more and '));
  const ended = await run();
  expect(ended).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^model_output_truncated: .*in each of 3 turns.*MODEL_MAX_OUTPUT_TOKENS/),
  });
  expect(provider.requests).toHaveLength(3);
  const { body } = await acme.cp('GET', `/v1/runs/${ended.run_id}/transcript`);
  expect(JSON.stringify(body)).toContain('more and ');
});
