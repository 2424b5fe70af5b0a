/**
 * What servers say of an error, in the shape in which each says it: the run tells the words, and whether another attempt may
 * help. The bodies are those of the providers' documentation and of public reports.
 */
import { describe, expect, test } from '@jest/globals';
import { sse, type Reply } from '../../support/fakes/openai-server.ts';
import { failureOf, server, useProvider } from './calls.ts';

useProvider();

interface Shape {
  status: number;
  body: unknown;
  /** What the run quotes. */
  words: string;
  code: string;
  isRetried?: true;
  /** Its body alone does not say of what class it is. */
  isSilent?: true;
}

const SHAPES: Record<string, Shape> = {
  OpenAI: {
    status: 400,
    body: {
      error: {
        message: "Unknown parameter: 'foo'.",
        type: 'invalid_request_error',
        param: 'foo',
        code: 'unknown_parameter',
      },
    },
    words: "Unknown parameter: 'foo'.",
    code: 'model_refused_request',
  },
  'OpenAI, without credit': {
    status: 429,
    body: {
      error: {
        message: 'You exceeded your current quota.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
    words: 'You exceeded your current quota.',
    code: 'model_refused_request',
  },
  'Gemini at its compatible address: a list': {
    status: 400,
    body: [{ error: { code: 400, message: 'Please use a valid role: user, model.', status: 'INVALID_ARGUMENT' } }],
    words: 'Please use a valid role: user, model.',
    code: 'model_refused_request',
  },
  'Gemini, exhausted': {
    status: 429,
    body: [
      {
        error: { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' },
      },
    ],
    words: 'Resource has been exhausted',
    code: 'model_rate_limited',
    isRetried: true,
  },
  'LM Studio: a text': {
    status: 400,
    body: { error: "'response_format.type' must be 'json_schema' or 'text'" },
    words: "'response_format.type' must be 'json_schema' or 'text'",
    code: 'model_refused_request',
    isSilent: true,
  },
  'Ollama: a text': {
    status: 404,
    body: { error: 'model "llama9" not found, try pulling it first' },
    words: 'try pulling it first',
    code: 'model_refused_request',
    isSilent: true,
  },
  'llama.cpp': {
    status: 400,
    body: { error: { code: 400, message: 'Failed to parse messages: Missing role', type: 'invalid_request_error' } },
    words: 'Missing role',
    code: 'model_refused_request',
  },
  'llama.cpp, loading': {
    status: 503,
    body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    words: 'Loading model',
    code: 'model_unavailable',
    isRetried: true,
  },
  'vLLM: its fields beside each other': {
    status: 400,
    body: {
      object: 'error',
      message: 'top_p must be in (0, 1], got 2.0.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    words: 'top_p must be in (0, 1]',
    code: 'model_refused_request',
  },
  'FastAPI: detail, a text': {
    status: 422,
    body: { detail: 'Model is not loaded' },
    words: 'Model is not loaded',
    code: 'model_refused_request',
    isSilent: true,
  },
  'FastAPI: detail, a list of places': {
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body', 'messages', 0, 'role'], msg: 'Field required', input: {} }] },
    words: 'body.messages.0.role: Field required',
    code: 'model_refused_request',
    isSilent: true,
  },
  'Mistral: detail within the message': {
    status: 422,
    body: {
      object: 'error',
      message: {
        detail: [{ type: 'greater_than', loc: ['body', 'max_tokens'], msg: 'Input should be greater than 0' }],
      },
      type: 'invalid_request_error',
    },
    words: 'body.max_tokens: Input should be greater than 0',
    code: 'model_refused_request',
  },
  'OpenRouter: the words of whoever it asked': {
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"error":{"message":"tools: unsupported"}}', provider_name: 'Nebius' },
      },
      user_id: 'u',
    },
    words: 'Provider returned error: tools: unsupported',
    code: 'model_refused_request',
  },
  'OpenRouter, without credit': {
    status: 402,
    body: { error: { message: 'This request requires more credits.', code: 402 } },
    words: 'This request requires more credits.',
    code: 'model_refused_request',
  },
  'OpenRouter, moderated': {
    status: 403,
    body: { error: { code: 403, message: 'Your input was flagged', metadata: { reasons: ['violence'] } } },
    words: 'Your input was flagged',
    code: 'model_auth_failed',
  },
  'DeepSeek, without credit': {
    status: 402,
    body: {
      error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' },
    },
    words: 'Insufficient Balance',
    code: 'model_refused_request',
  },
  'Azure OpenAI, filtered': {
    status: 400,
    body: {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
      },
    },
    words: 'The response was filtered',
    code: 'model_refused',
  },
  'TGI: beside its type': {
    status: 422,
    body: { error: 'Template error: unknown filter', error_type: 'template_error' },
    words: 'unknown filter',
    code: 'model_refused_request',
    isSilent: true,
  },
  'a gateway: the answer of another as a text': {
    status: 500,
    body: {
      error: {
        message: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        type: 'None',
        code: '500',
      },
    },
    words: 'Overloaded',
    code: 'model_unavailable',
    isRetried: true,
  },
};

const answered =
  ({ status, body }: Pick<Shape, 'status' | 'body'>, type = 'application/json'): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
describe.each(Object.entries(SHAPES))('%s', (_, shape) => {
  // Guards against: "Bad Request" for all that a person is told.
  test('as the answer', async () => {
    server.script(answered(shape));
    const { code, isRetried = false } = shape;
    const message = expect.stringContaining(shape.words);
    expect(await failureOf()).toMatchObject({ code, retryable: isRetried, message });
  });

  // Guards: the same with the status of a success, and within a stream: the error is read by what it says of itself.
  test.each([
    ['with status 200', answered({ ...shape, status: 200 })],
    [
      'in a stream',
      sse(
        'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Once"}}]}\n\n',
        `data: ${JSON.stringify(shape.body)}\n\n`,
      ),
    ],
  ])('%s', async (__, reply) => {
    server.script(reply);
    const { message, retryable, code } = await failureOf();
    expect(message).toContain(shape.words);
    const { isSilent, isRetried = false } = shape;
    if (!isSilent) expect({ code, retryable }).toEqual({ code: shape.code, retryable: isRetried });
  });
});

// Guards: a page is not quoted, a plain text is.
test.each([
  ['<html><body>502 Bad Gateway</body></html>', 'text/html', 502, /answered 502: Bad Gateway\.$/],
  ['upstream connect error', 'text/plain', 503, /answered 503: upstream connect error\.$/],
  ['', 'text/plain', 400, /refused the request \(400\): Bad Request/],
])('%s', async (body, type, status, told) => {
  server.script((response) => void response.writeHead(status, { 'content-type': type }).end(body));
  expect((await failureOf()).message).toMatch(told);
});

// Guards against: a class of error found by a word of somebody's text.
test.each(['Your process was terminated; fetch failed says the log', 'the context window of the shop'])(
  'words of a person: %s',
  async (message) => {
    server.script(answered({ status: 422, body: { error: { message, type: 'invalid_request_error' } } }));
    expect(await failureOf()).toMatchObject({ code: 'model_refused_request', retryable: false });
  },
);

// Guards: whoever asks to wait for longer than a run may wait is not asked again, and is held to what it said otherwise.
test.each([
  [429, '600', true],
  [429, '601', false],
  [429, '86400', false],
  [503, '600', true],
  [503, '601', false],
  [529, '86400', false],
])('%s, Retry-After: %s', async (status, seconds, retryable) => {
  server.script((response) => void response.writeHead(status, { 'retry-after': seconds }).end('{}'));
  const failure = await failureOf({ maxRetryAfterMs: 600_000 });
  const code = status === 429 ? 'model_rate_limited' : 'model_unavailable';
  expect(failure).toMatchObject({ code, retryable, retryAfterMs: Number(seconds) * 1_000 });
  if (!retryable) expect(failure.message).toContain('MODEL_MAX_RETRY_AFTER');
});
