/** A conversation some of whose turns had no answer: what the user said in them is told to the model all the same. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  answer,
  answerIn,
  hang,
  refuse,
  startOpenAiServer,
  type OpenAiServer,
} from '../../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let model: OpenAiServer;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  model = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, OPENAI_COMPATIBLE_MODEL: 'local-1' },
  });
  tenant = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await model?.close();
});

/** Text that is long enough to be the reason that a prompt does not fit. */
const LONG = 'word '.repeat(3_000);
const TOO_LONG = { message: 'This model has a maximum context length of 10', code: 'context_length_exceeded' };

// Guards against: a model that knows nothing of what the user said before a failure or a cancellation, and a server that
// refuses two messages of one role in a row. Guards: words that were refused do not fail every later turn.
test('what the user said in turns without an answer stays', async () => {
  const thread = (await tenant.cp('POST', '/v1/chat/threads', { agent: 'assistant' })).body.id;
  const say = async (content: string): Promise<string> =>
    (await tenant.cp('POST', `/v1/chat/threads/${thread}/messages`, { content })).body.run_id;
  const end = async (content: string) => (await tenant.waitForRun(await say(content))).status;

  model.script(answer('Nice to meet you.'), refuse(400, { message: 'bad luck' }));
  expect(await end('I am Ada.')).toBe('succeeded');
  expect(await end('I live in London.')).toBe('failed');

  model.script(hang());
  const cancelled = await say('I have a cat.');
  await model.received(3);
  await tenant.cp('POST', `/v1/runs/${cancelled}/cancel`);
  expect((await tenant.waitForRun(cancelled)).status).toBe('cancelled');

  model.script(answerIn(['No.'], null, 'content_filter'), refuse(400, TOO_LONG), refuse(400, TOO_LONG));
  expect(await end('Something that is refused.')).toBe('failed');
  expect(await end(LONG)).toBe('failed');
  expect(await end('And a dog.')).toBe('failed');

  model.script(answer('Ada.'));
  expect(await end('Who am I?')).toBe('succeeded');
  const told = model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system');
  expect(told).toEqual([
    { role: 'user', content: 'I am Ada.' },
    { role: 'assistant', content: 'Nice to meet you.' },
    { role: 'user', content: 'I live in London.\n\nI have a cat.\n\nAnd a dog.\n\nWho am I?' },
  ]);
});
