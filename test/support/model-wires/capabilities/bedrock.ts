/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
import { present } from '../../../../src/platform/core/present.ts';
import { event } from '../../fakes/event-stream.ts';
import { AMAZON as FIXTURES } from '../bedrock.ts';
import { addSchema, KEY } from '../fixture.ts';
import { PIXELS, type Chunks, type Wire } from './wire.ts';

const start = event('messageStart', { role: 'assistant', p: 'abcdefghijk' });
const USAGE = { inputTokens: 14, outputTokens: 8, totalTokens: 28, cacheReadInputTokens: 4, cacheWriteInputTokens: 2 };
const end = (stopReason: string, usage: object = USAGE): Chunks => [
  event('messageStop', { stopReason }),
  event('metadata', { usage, metrics: { latencyMs: 551 } }),
];
const delta = (contentBlockIndex: number, part: object) =>
  event('contentBlockDelta', { contentBlockIndex, delta: part, p: 'abcd' });
const stop = (contentBlockIndex: number) => event('contentBlockStop', { contentBlockIndex });
const calling = (contentBlockIndex: number, toolUseId: string, ...pieces: string[]): Chunks => [
  event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name: 'add' } } }),
  ...pieces.map((input) => delta(contentBlockIndex, { toolUse: { input } })),
  stop(contentBlockIndex),
];
const answer = (text: string, usage?: object): Chunks => [
  start,
  delta(0, { text }),
  stop(0),
  ...end('end_turn', usage),
];
const asked = { role: 'user', content: [{ text: 'What is 2 + 2?' }, { cachePoint: { type: 'default' } }] };
const use = (toolUseId: string, a: number) => ({ toolUse: { toolUseId, name: 'add', input: { a } } });
const result = (toolUseId: string, text: string) => ({ toolResult: { toolUseId, content: [{ text }] } });
const MARK = { cachePoint: { type: 'default' } };
const { model, path, failures } = present(FIXTURES['Amazon Bedrock, with an access key']);

export const BEDROCK: Wire = {
  label: 'Amazon Bedrock',
  model,
  env: { BEDROCK_REGION: 'eu-central-1', AWS_BEARER_TOKEN_BEDROCK: KEY },
  path,
  headers: { authorization: `Bearer ${KEY}` },
  contentType: 'application/vnd.amazon.eventstream',
  cases: {
    stream: {
      cell: 'yes',
      turn: [
        [start, delta(0, { text: 'One ' })],
        [delta(0, { text: 'two.' }), stop(0), ...end('end_turn')],
      ],
      sent: { inferenceConfig: { maxTokens: 2_000 } },
    },
    tools: {
      cell: 'yes',
      turn: [start, ...calling(0, 'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q', '{"a":', '2}'), ...end('tool_use')],
      sent: {
        toolConfig: { tools: [{ toolSpec: { name: 'add', description: 'adds', inputSchema: { json: addSchema } } }] },
      },
      back: {
        messages: [
          asked,
          { role: 'assistant', content: [use('call_1_0', 2)] },
          { role: 'user', content: [result('call_1_0', '4'), MARK] },
        ],
      },
    },
    'parallel tools': {
      cell: 'yes',
      turn: [
        start,
        delta(0, { text: 'Both.' }),
        stop(0),
        ...calling(1, 'tooluse_1', '{"a":2}'),
        ...calling(2, 'tooluse_2', '{"a"', ':3}'),
        ...end('tool_use'),
      ],
      sent: {},
      back: {
        messages: [
          asked,
          { role: 'assistant', content: [{ text: 'Both.' }, use('call_1_0', 2), use('call_1_1', 3)] },
          { role: 'user', content: [result('call_1_0', '4'), result('call_1_1', '5'), MARK] },
        ],
      },
    },
    schema: { cell: 'in words', turn: answer('{"sum":4}'), sent: {}, isInWords: 'always' },
    reasoning: {
      cell: 'yes, with signatures',
      turn: [
        start,
        delta(0, { reasoningContent: { text: 'I ' } }),
        delta(0, { reasoningContent: { text: 'add.' } }),
        delta(0, { reasoningContent: { signature: 'ErcBCkgIBRABGAIiQ' } }),
        stop(0),
        ...calling(1, 'tooluse_1', '{"a":2}'),
        ...end('tool_use'),
      ],
      sent: { additionalModelRequestFields: { thinking: { type: 'enabled' } } },
      back: {
        messages: [
          asked,
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'I add.', signature: 'ErcBCkgIBRABGAIiQ' } } },
              use('call_1_0', 2),
            ],
          },
          { role: 'user' },
        ],
      },
    },
    'prompt cache': {
      cell: 'marked (Claude, Nova)',
      turn: answer('Four.', { ...USAGE, inputTokens: 20, cacheReadInputTokens: 100, cacheWriteInputTokens: 30 }),
      sent: {
        system: [{ text: 'Add.' }, MARK],
        // A mark behind the system text is one behind the tools.
        toolConfig: { tools: [{ toolSpec: { name: 'add' } }] },
        messages: [
          { role: 'user', content: [{ text: 'What is 2 + 2?' }, MARK] },
          { role: 'assistant' },
          { role: 'user', content: [{ toolResult: {} }, MARK] },
        ],
      },
      usage: { inputTokens: 150, cacheReadTokens: 100, cacheWriteTokens: 30 },
    },
    pictures: {
      cell: 'in the result',
      sent: {
        messages: [
          asked,
          { role: 'assistant' },
          {
            role: 'user',
            content: [
              {
                toolResult: {
                  content: [{ text: '{"filename":"a.png"}' }, { image: { format: 'png', source: { bytes: PIXELS } } }],
                },
              },
              MARK,
            ],
          },
        ],
      },
    },
    usage: {
      cell: 'cache read and written',
      turn: answer('Four.'),
      usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, cacheWriteTokens: 2 },
    },
    errors: { cell: 'yes', failures },
  },
};
