/** Streams of OpenAI and Anthropic that break: with an error before or among their words, or without their end. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createModels } from '../../../src/platform/models/models.ts';
import type { Models } from '../../../src/platform/models/types.ts';
import { sse } from '../../support/fakes/openai-server.ts';
import { configFor, failureOf, KEY, log, server, useProvider } from './calls.ts';

useProvider();

const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

interface Protocol {
  model: string;
  begin: object[];
  words: object[];
  error(error: { type: string; code?: string; message: string }): object;
  filtered: string;
}

const PROTOCOLS: Record<string, Protocol> = {
  // https://platform.openai.com/docs/api-reference/responses-streaming/error
  OpenAI: {
    model: 'gpt-6-sol',
    begin: [{ type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } }],
    words: [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
      { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hello there' },
    ],
    error: (error) => ({ type: 'error', sequence_number: 1, error: { code: null, param: null, ...error } }),
    filtered: 'content_filter',
  },
  // https://docs.anthropic.com/en/docs/build-with-claude/streaming#error-events
  Anthropic: {
    model: 'claude-sonnet-5',
    begin: [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      },
    ],
    words: [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there' } },
    ],
    error: ({ type, message }) => ({ type: 'error', error: { type, message } }),
    filtered: 'content_policy',
  },
};

describe.each(Object.entries(PROTOCOLS))('%s', (_, { model, begin, words, error, filtered }) => {
  let models: Models;
  beforeAll(() => {
    models = createModels(configFor({ ANTHROPIC_BASE_URL: server.baseUrl, OPENAI_BASE_URL: server.baseUrl }), { log });
  });

  const failed = (events: object[]) => {
    server.script(sse(...events.map(line)));
    const credentials = models.credentials({ anthropic: KEY, openai: KEY });
    return failureOf({ credentials, resolved: models.resolve({ model, prompt: '' }, credentials) }, models);
  };

  // Guards: half an answer is not taken for a whole one.
  test('without an end', async () => {
    expect(await failed([...begin, ...words])).toMatchObject({ code: 'model_malformed_reply', retryable: true });
  });

  // Guards: an error is known by its name, wherever in the stream it comes; the status that goes with it is not told.
  const when: [string, object[]][] = [
    ['as the first word', []],
    ['before a word', begin],
    ['after words', [...begin, ...words]],
  ];
  describe.each(when)('an error %s', (__, before) => {
    test.each<[string, string, boolean]>([
      ['rate_limit_error', 'model_rate_limited', true],
      ['overloaded_error', 'model_unavailable', true],
      ['invalid_request_error', 'model_refused_request', false],
      ['authentication_error', 'model_auth_failed', false],
      [filtered, 'model_refused', false],
    ])('%s', async (type, code, retryable) => {
      const failure = await failed([...before, error({ type, code: type, message: 'It is so.' })]);
      expect(failure).toMatchObject({ code, retryable });
    });
  });
});
