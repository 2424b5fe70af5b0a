/**
 * https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thought-signatures,
 * https://ai.google.dev/gemini-api/docs/caching
 */
import { addSchema, answered, KEY, stream, type Fixture } from '../fixture.ts';
import { CACHE_KEY, events, PIXELS, SCHEMA, type Chunks, type Wire } from './wire.ts';

const USAGE = {
  promptTokenCount: 20,
  candidatesTokenCount: 3,
  thoughtsTokenCount: 5,
  totalTokenCount: 28,
  cachedContentTokenCount: 4,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
};
const candidate = (parts: object[], finishReason?: string, usageMetadata: object = USAGE) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata,
  modelVersion: 'gemini-3.1-pro-preview',
  responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
});
const call = (a: number) => ({ functionCall: { name: 'add', args: { a } } });
const SIGNED = { thoughtSignature: 'EjQKMgFyc2lnbmF0dXJl' };
const THOUGHT = { text: 'I add.', thought: true };
const result = (content: unknown) => ({ functionResponse: { name: 'add', response: { name: 'add', content } } });
const answer = (text: string, usage?: object): Chunks =>
  events(candidate([{ text }], undefined, usage), candidate([{ text: '' }], 'STOP', usage));
const asked = { role: 'user', parts: [{ text: 'What is 2 + 2?' }] };

const CASES: Omit<Wire['cases'], 'errors'> = {
  stream: {
    cell: 'yes',
    turn: [events(candidate([{ text: 'One ' }])), events(candidate([{ text: 'two.' }], 'STOP'))],
    sent: { generationConfig: { maxOutputTokens: 2_000 } },
  },
  tools: {
    cell: 'yes',
    turn: events(candidate([{ ...call(2), ...SIGNED }], 'STOP')),
    sent: {
      tools: [
        {
          functionDeclarations: [
            {
              name: 'add',
              description: 'adds',
              parametersJsonSchema: addSchema,
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
    back: { contents: [asked, { role: 'model', parts: [call(2)] }, { role: 'user', parts: [result(4)] }] },
  },
  'parallel tools': {
    cell: 'yes',
    // Only the first of them has a signature.
    turn: events(candidate([{ ...call(2), ...SIGNED }]), candidate([call(3)], 'STOP')),
    sent: { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
    back: {
      contents: [
        asked,
        { role: 'model', parts: [{ ...call(2), ...SIGNED }, call(3)] },
        { role: 'user', parts: [result(4), result(5)] },
      ],
    },
  },
  schema: {
    cell: 'yes; with tools in words',
    isInWords: 'with tools',
    turn: answer('{"sum":4}'),
    sent: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } },
  },
  reasoning: {
    cell: 'yes, with signatures',
    turn: events(candidate([THOUGHT]), candidate([{ ...call(2), ...SIGNED }], 'STOP')),
    sent: { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
    back: {
      contents: [
        asked,
        { role: 'model', parts: [THOUGHT, { ...call(2), ...SIGNED }] },
        { role: 'user', parts: [result(4)] },
      ],
    },
  },
  'prompt cache': {
    cell: 'by itself',
    turn: answer('Four.', { ...USAGE, promptTokenCount: 150, cachedContentTokenCount: 100 }),
    sent: {},
    usage: { inputTokens: 150, cacheReadTokens: 100 },
    never: new RegExp(`${CACHE_KEY}|cachedContent`),
  },
  pictures: {
    cell: 'in the result',
    sent: {
      contents: [
        asked,
        { role: 'model' },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'add',
                response: { content: '{"filename":"a.png"}' },
                parts: [{ inlineData: { mimeType: 'image/png', data: PIXELS } }],
              },
            },
          ],
        },
      ],
    },
  },
  usage: {
    cell: 'cache read, reasoning',
    turn: answer('Four.'),
    usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, reasoningTokens: 5 },
  },
};

const googleError = (code: number, status: string, message: string, details?: object[]) =>
  answered(code, { error: { code, message, status, ...(details && { details }) } });
const failures: Fixture['failures'] = [
  [
    'a key that it does not know',
    googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]),
    'model_auth_failed',
  ],
  [
    'a used up quota',
    googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37.5s' },
    ]),
    'model_rate_limited',
    { retryAfterMs: 37_500 },
  ],
  ['too many', googleError(503, 'UNAVAILABLE', 'The model is overloaded.'), 'model_unavailable'],
  [
    'too long a prompt',
    googleError(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    'model_context_overflow',
  ],
  ['a reply that it filters', stream(candidate([{ text: 'Once' }], 'SAFETY')), 'model_refused'],
  ['no end', stream(candidate([{ text: 'Once' }])), 'model_malformed_reply'],
];

const wire = (label: string, model: string, key: string): Wire => ({
  label,
  model,
  env: { [key]: KEY },
  path: '/v1/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse',
  headers: { 'x-goog-api-key': KEY },
  cases: { ...CASES, errors: { cell: 'yes', failures } },
});

export const GOOGLE = wire('Google Gemini', 'gemini-3.1-pro-preview', 'GOOGLE_API_KEY');
export const VERTEX = wire('Google Vertex', 'vertex/gemini-3.1-pro-preview', 'VERTEX_API_KEY');
