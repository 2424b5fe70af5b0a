/** Amazon Bedrock. */
import { expect } from '@jest/globals';
import { event as awsEvent, eventStream, exception } from '../fakes/event-stream.ts';
import { addSchema, answered, KEY, type Fixture } from './fixture.ts';

// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
const awsError = (status: number, type: string, message: string) =>
  answered(status, { message }, { 'x-amzn-errortype': type });
const metadata = awsEvent('metadata', {
  usage: { inputTokens: 14, outputTokens: 8, totalTokens: 28, cacheReadInputTokens: 4, cacheWriteInputTokens: 2 },
  metrics: { latencyMs: 551 },
});
const delta = (contentBlockIndex: number, part: object) =>
  awsEvent('contentBlockDelta', { contentBlockIndex, delta: part });
const MARK = { cachePoint: { type: 'default' } };
const BEDROCK_SENT = {
  system: [{ text: 'Add.' }, MARK],
  messages: [
    { role: 'user', content: [{ text: 'What is 2 + 2?' }, MARK] },
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'I add.', signature: 'sig-bedrock' } } },
        { toolUse: { toolUseId: 'call_1_0', name: 'add', input: { a: 2 } } },
      ],
    },
    { role: 'user', content: [{ toolResult: { toolUseId: 'call_1_0', content: [{ text: '4' }] } }, MARK] },
  ],
  inferenceConfig: { maxTokens: 2_000 },
  toolConfig: { tools: [{ toolSpec: { name: 'add', description: 'adds', inputSchema: { json: addSchema } } }] },
};
const BEDROCK: Omit<Fixture, 'env' | 'headers'> = {
  model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  turn: eventStream(
    awsEvent('messageStart', { role: 'assistant' }),
    delta(0, { reasoningContent: { text: 'I add.' } }),
    delta(0, { reasoningContent: { signature: 'sig-bedrock' } }),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('contentBlockStart', {
      contentBlockIndex: 1,
      start: { toolUse: { toolUseId: 'tooluse_1', name: 'add' } },
    }),
    delta(1, { toolUse: { input: '{"a":' } }),
    delta(1, { toolUse: { input: '2}' } }),
    awsEvent('contentBlockStop', { contentBlockIndex: 1 }),
    awsEvent('messageStop', { stopReason: 'tool_use' }),
    metadata,
  ),
  end: eventStream(
    awsEvent('messageStart', { role: 'assistant' }),
    delta(0, { text: 'Four.' }),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    metadata,
  ),
  usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, cacheWriteTokens: 2 },
  path: '/v1/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
  sent: BEDROCK_SENT,
  failures: [
    [
      'a token that it does not know',
      awsError(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'),
      'model_auth_failed',
    ],
    [
      'a model that is not open to the account',
      awsError(403, 'AccessDeniedException', "You don't have access to the model with the specified model ID."),
      'model_auth_failed',
      { message: expect.stringContaining("You don't have access to the model") },
    ],
    [
      'a model that needs a profile',
      awsError(400, 'ValidationException', 'Invocation of model ID x with on-demand throughput is not supported.'),
      'model_refused_request',
    ],
    [
      'too long a prompt',
      awsError(400, 'ValidationException', 'Input is too long for requested model.'),
      'model_context_overflow',
    ],
    [
      'too many',
      awsError(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'),
      'model_rate_limited',
    ],
    [
      'too many, within the stream',
      eventStream(
        awsEvent('messageStart', { role: 'assistant' }),
        delta(0, { text: 'Once' }),
        exception('throttlingException', 'Too many tokens, please wait before trying again.'),
      ),
      'model_rate_limited',
    ],
    [
      'a reply that it filters',
      eventStream(
        awsEvent('messageStart', { role: 'assistant' }),
        delta(0, { text: 'Once' }),
        awsEvent('messageStop', { stopReason: 'content_filtered' }),
        metadata,
      ),
      'model_refused',
    ],
    [
      'no end',
      eventStream(awsEvent('messageStart', { role: 'assistant' }), delta(0, { text: 'Once' })),
      'model_malformed_reply',
    ],
  ],
};

export const AMAZON: Record<string, Fixture> = {
  'Amazon Bedrock, with an access key': {
    ...BEDROCK,
    env: { BEDROCK_REGION: 'eu-central-1', BEDROCK_ACCESS_KEY_ID: 'AKIDEXAMPLE', BEDROCK_SECRET_ACCESS_KEY: KEY },
    headers: {
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /,
      ),
    },
  },
};
