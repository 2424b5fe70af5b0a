import { beforeEach, expect, test } from '@jest/globals';
import { jsonSchema, streamText, tool, type ModelMessage } from 'ai';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { itemAt } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { PLACEHOLDER_NOTE } from '../../../src/platform/models/offline/notice.ts';
import { createOfflineModel } from '../../../src/platform/models/offline.ts';
import { countTokens } from '../../../src/platform/models/tokens.ts';
import type { ModelCall, ModelReply, Models } from '../../../src/platform/models/types.ts';

const secret = 'only-for-this-test-only';
const config = loadConfig({
  DATABASE_URL: 'postgres://localhost/x',
  SESSION_SECRET: secret,
  ADMIN_SECRET: secret,
  SECRETS_KEY: secret,
});
let models: Models;
beforeEach(() => {
  models = createModels(config, { log: createLog({ level: 'silent', pretty: false }) });
});

const user = (content: string): ModelMessage => ({ role: 'user', content });
const declare = (name: string) => ({ name, description: name, parameters: { type: 'object' } });
const tools = ['calculator', 'memory_search', 'mcp.files.search'].map(declare);

const call = (messages: ModelMessage[], given: Partial<ModelCall> = {}): Promise<ModelReply> =>
  models.call({
    resolved: models.resolve({ model: 'auto', prompt: '' }, {}),
    credentials: {},
    messages,
    system: 'You are helpful.',
    tools,
    maxOutputTokens: 4_000,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...given,
  });

/** The messages with what a run adds after its tools have answered. Keys in another order, as a database gives them back. */
const withResults = (messages: ModelMessage[], { toolCalls }: ModelReply, value: string): ModelMessage[] => [
  ...messages,
  {
    role: 'assistant',
    content: toolCalls.map(({ callId, tool: toolName, arguments: input }) => ({
      type: 'tool-call',
      toolCallId: callId,
      toolName,
      input: Object.fromEntries(Object.entries(input as object).reverse()),
    })),
  },
  {
    role: 'tool',
    content: toolCalls.map(({ callId, tool: toolName }) => ({
      type: 'tool-result',
      toolCallId: callId,
      toolName,
      output: { type: 'text', value },
    })),
  },
];

// Guards: nobody can take the offline model's text for that of a real one, it quotes no instructions and no headings of
// memory, and it is the same every time.
test('says what it is and answers from the request and its context', async () => {
  const messages = [
    user('We sell tea.'),
    { role: 'assistant', content: 'Noted.' } as const,
    user('Write a slogan for our shop.'),
  ];
  const system = [
    'You are a writer.\n\n## Skills\n\nAlways begin with a question.',
    '# What is remembered\n\nNotes that people keep.',
    '<memory id="7" type="note" name="Shop">\nThe shop is called Daun.\n</memory>',
  ].join('\n\n');
  const reply = await call(messages, { system });
  expect(reply.text).toMatch(/^\[offline model\] /);
  expect(reply.text.split('\n', 1)[0]).toContain(PLACEHOLDER_NOTE);
  expect(reply.text).toContain('Write a slogan for our shop.');
  expect(reply.text).toContain('The shop is called Daun.');
  expect(reply.text).toContain('We sell tea.');
  for (const unquoted of ['begin with a question', 'remembered', 'Notes that people keep', 'type="note"'])
    expect(reply.text).not.toContain(unquoted);
  expect(reply.finishReason).toBe('stop');
  await expect(call(messages, { system })).resolves.toEqual(reply);
});

// Guards: usage is counted by a tokenizer, so that costs and budgets work offline too.
test('reports tokens', async () => {
  const { text, usage } = await call([user('hello world')], { tools: [], system: '' });
  expect(usage.outputTokens).toBe(countTokens(text));
  expect(usage.inputTokens).toBeGreaterThanOrEqual(countTokens('hello world'));
  const longer = await call([user('hello world '.repeat(100))], { tools: [], system: '' });
  expect(longer.usage.inputTokens).toBeGreaterThan(usage.inputTokens + 150);
});

// Guards: a reply never exceeds what was reserved for it.
test('stops at the limit of output tokens', async () => {
  const reply = await call([user('word '.repeat(300))], { maxOutputTokens: 40 });
  expect(reply.finishReason).toBe('length');
  expect(reply.usage.outputTokens).toBeLessThanOrEqual(40);
});

// Guards: directives before a [[then]] are one turn and those after it the next; none is called twice, and the results
// are reported.
test('calls tools as told', async () => {
  const brief = [
    'Work it out. [[tool:calculator {"expression":"[[1]]","precision":2}]] [[tool:memory_search {"query":"a ] b }"}]]',
    '[[then]]',
    '[[tool:mcp.files.search]]',
  ].join('\n');
  const first = await call([user(brief)]);
  expect(first.toolCalls.map(({ tool: name, arguments: args }) => [name, args])).toEqual([
    ['calculator', { expression: '[[1]]', precision: 2 }],
    ['memory_search', { query: 'a ] b }' }],
  ]);
  expect(first.finishReason).toBe('tool-calls');
  const afterFirst = withResults([user(brief)], first, 'the answer is 42');
  const second = await call(afterFirst);
  expect(second.toolCalls.map(({ tool: name }) => name)).toEqual(['mcp.files.search']);
  const ids = [...first.toolCalls, ...second.toolCalls].map(({ callId }) => callId);
  expect(new Set(ids).size).toBe(3);
  const last = await call(withResults(afterFirst, second, 'three files'));
  expect(last.toolCalls).toEqual([]);
  expect(last.text).toContain('the answer is 42');
  expect(last.text).toContain('three files');
  expect(last.text).toContain('Work it out.');
  expect(last.text).not.toContain('calculator');
});

// Guards: a later step that gets this reply as its input does not carry the directives out again.
test('never repeats a directive', async () => {
  const brief =
    'Do it. [[tool:unknown {"a":"[[fail]]"}]] [[reject: too long]] [[sleep:1]] [[tool:calculator {broken}]] [[then]]';
  const { text } = await call([user(brief)]);
  expect(text).toContain('Do it.');
  expect(text).not.toContain('[[');
});

// Guards: only declared tools are called; a directive for another one is mentioned in the reply.
test('does not call what is not offered', async () => {
  const reply = await call([user('[[tool:delete_everything {}]] [[tool:calculator {"a":1}]]')], {
    tools: [declare('calculator')],
  });
  expect(reply.toolCalls.map(({ tool: name }) => name)).toEqual(['calculator']);
  const other = await call([user('[[tool:delete_everything {}]]')], { tools: [] });
  expect(other.toolCalls).toEqual([]);
  expect(other.text).toContain('delete_everything');
});

// Guards: a directive that was carried out in an earlier turn of the conversation runs again when asked anew, and one
// in the system text does not run twice.
test('minds the current request only', async () => {
  const asked = user('Again. [[tool:calculator {"a":1}]]');
  const earlier = withResults([asked], await call([asked]), 'old result');
  const reply = await call([...earlier, { role: 'assistant', content: 'Done.' }, asked], {
    system: 'Tools: [[tool:calculator {"a":1}]]',
  });
  expect(reply.toolCalls).toHaveLength(1);
  expect(itemAt(reply.toolCalls, 0).callId).toBe('offline-2');
});

// Guards: two equal directives are two calls.
test('calls twice what stands twice', async () => {
  const reply = await call([user('[[tool:calculator {}]] [[tool:calculator {}]]')]);
  expect(reply.toolCalls).toHaveLength(2);
  const done = await call(withResults([user('[[tool:calculator {}]] [[tool:calculator {}]]')], reply, 'x'));
  expect(done.toolCalls).toEqual([]);
});

// Guards: provider failures can be rehearsed: for ever, for a number of attempts, and by status.
test('fails as told', async () => {
  const unavailable = { code: 'model_unavailable', retryable: true };
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(call([user('[[fail]]')])).rejects.toMatchObject(unavailable);
  await expect(call([user('[[fail-status:429]]')])).rejects.toMatchObject({ code: 'model_rate_limited' });
  await expect(call([user('[[fail-status:401]]')])).rejects.toMatchObject({
    code: 'model_auth_failed',
    retryable: false,
  });
  await expect(call([user('twice [[fail:2]]')])).rejects.toMatchObject(unavailable);
  await expect(call([user('other [[fail:1]]')])).rejects.toMatchObject(unavailable);
  await expect(call([user('twice [[fail:2]]')])).rejects.toMatchObject(unavailable);
  await expect(call([user('twice [[fail:2]]')])).resolves.toMatchObject({ finishReason: 'stop' });
  await expect(call([user('twice [[fail:2]]')])).resolves.toMatchObject({ finishReason: 'stop' });
});

const verdictSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    decision: { enum: ['reject', 'approve'] },
    feedback: { type: 'string' },
  },
  required: ['approved', 'decision', 'feedback'],
};

// Guards: a reviewer approves unless the text says otherwise, and then gives the reason.
test('reviews', async () => {
  const verdict = async (brief: string) =>
    JSON.parse((await call([user(brief)], { outputSchema: verdictSchema })).text);
  await expect(verdict('Review this text.')).resolves.toMatchObject({ approved: true, decision: 'approve' });
  const rejected = { approved: false, decision: 'reject', feedback: 'no sources' };
  await expect(verdict('Review this. [[reject: no sources]]')).resolves.toMatchObject(rejected);
  const { text } = await call([user('Review this. [[reject: no sources]]')], { system: 'You are a reviewer.' });
  expect(text).toContain('Decision: reject. no sources');
});

// Guards: a reply in a required shape comes after the tools, as bare JSON.
test('gives JSON where it is demanded', async () => {
  const asked = user('Plan the launch. [[tool:calculator {}]]');
  const first = await call([asked], { outputSchema: verdictSchema });
  expect(first.toolCalls).toHaveLength(1);
  const last = await call(withResults([asked], first, '4'), { outputSchema: verdictSchema });
  expect(JSON.parse(last.text)).toMatchObject({ approved: true });
});

// Guards: a wait ends with the run that it belongs to, and with the time-out of the call.
test('waits, but not past an abort or a deadline', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const pending = call([user('[[sleep:600000]]')], { signal: controller.signal });
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(call([user('[[sleep:600000]]')], { timeoutMs: 50 })).rejects.toMatchObject({
    code: 'model_timeout',
    retryable: true,
  });
  await expect(call([user('[[sleep:1]] hello')])).resolves.toMatchObject({ finishReason: 'stop' });
});

// Guards: it is a language model of the AI SDK: through the SDK's own stream it gives the same.
test('streams through the AI SDK', async () => {
  const model = createOfflineModel(countTokens);
  const prompt = { model, system: 'You are helpful.', messages: [user('Say hello.')], maxRetries: 0 };
  await expect(streamText(prompt).text).resolves.toBe((await call([user('Say hello.')])).text);
  const calculator = tool({ description: 'calculator', inputSchema: jsonSchema({ type: 'object' }) });
  const called = streamText({ ...prompt, messages: [user('[[tool:calculator {"a":1}]]')], tools: { calculator } });
  await expect(called.toolCalls).resolves.toMatchObject([{ toolName: 'calculator', input: { a: 1 } }]);
});
