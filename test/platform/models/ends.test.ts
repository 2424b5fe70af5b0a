/** Replies that come to no good end, and calls of tools whose arguments are a little off, as servers have been seen to send them. */
import { expect, test } from '@jest/globals';
import type { ModelFailure } from '../../../src/platform/models/types.ts';
import { wireName } from '../../../src/platform/models/wire-name.ts';
import { sse } from '../../support/fakes/openai-server.ts';
import { call, failureOf, searchTool, server, useProvider } from './calls.ts';

useProvider();

const line = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const piece = (delta: object, finish_reason: string | null = null) =>
  line({
    id: 'chatcmpl-9f0c',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
const END = line('[DONE]');
const calling = (given: unknown) =>
  piece({
    tool_calls: [
      { index: 0, id: 'c', type: 'function', function: { name: wireName(searchTool.name), arguments: given } },
    ],
  });

const torn = calling('{"query":"sa');
// Guards against: paying five times for what ends the same each time, and a reply that was cut off told as a lost connection.
test.each<[string, string[], string, ModelFailure['code'], string]>([
  [
    'reasoning alone',
    [piece({ reasoning_content: 'hmm' })],
    'length',
    'model_output_truncated',
    'MODEL_MAX_OUTPUT_TOKENS',
  ],
  ['nothing', [], 'length', 'model_output_truncated', 'MODEL_MAX_OUTPUT_TOKENS'],
  ['a torn call', [torn], 'length', 'model_output_truncated', 'MODEL_MAX_OUTPUT_TOKENS'],
  ['words', [piece({ content: 'I cannot.' })], 'content_filter', 'model_refused', 'I cannot.'],
  ['nothing', [], 'content_filter', 'model_refused', 'rules on content'],
])('a reply of %s', async (_, pieces, sent, code, told) => {
  server.script(sse(...pieces, piece({}, sent), END));
  const failure = await failureOf({ tools: [searchTool] });
  expect(failure).toMatchObject({ code, retryable: false, message: expect.stringContaining(told) });
});

// Guards: JSON that was cut off is not taken for an answer of the shape that was asked for.
test('torn JSON', async () => {
  server.script(sse(piece({ content: '{"a": "b' }), piece({}, 'length'), END));
  expect(await failureOf({ outputSchema: { type: 'object' } })).toMatchObject({ code: 'model_output_truncated' });
});

const OBJECT = '{"query":"salt } and {\\"pepper\\""}';
// Guards: arguments that can mean one thing only are taken as that; of others the model is told, and nothing of them is sent
// to a server again. llama.cpp, gateways: https://github.com/ggml-org/llama.cpp/issues/20198
test.each<[string, unknown, boolean]>([
  ['an object', JSON.parse(OBJECT), true],
  ['in a fence', ['```json', OBJECT, '```'].join('\n'), true],
  ['sent twice', OBJECT + OBJECT, true],
  ['with a tag behind', `${OBJECT}\n</tool_call>`, true],
  ['with tags behind', `${OBJECT}<|tool_call_end|><|im_end|>`, true],
  ['coded twice', JSON.stringify(OBJECT), true],
  ['with spaces around', `  ${OBJECT}\n`, true],
  ['two that differ', `${OBJECT}{"query":"other"}`, false],
  ['with words behind', `${OBJECT} and so on`, false],
  ['a list', '["salt"]', false],
  ['a number', '4', false],
  ['cut off', '{"query":"sa', false],
  ['words', 'salt and pepper', false],
  ['that name a prototype', '{"query":"salt","__proto__":{"a":1}}', false],
  ['that name one within', '{"query":[{"constructor":{"prototype":{"a":1}}}]}', false],
])('arguments %s', async (_, given, isTaken) => {
  server.script(sse(calling(given), piece({}, 'tool_calls'), END));
  const { toolCalls } = await call({ tools: [searchTool] });
  const args = isTaken ? { arguments: JSON.parse(OBJECT) } : { arguments: {}, fault: expect.stringMatching(/no JSON/) };
  expect(toolCalls).toEqual([{ callId: 'c', tool: searchTool.name, ...args }]);
});
