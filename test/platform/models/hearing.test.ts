/** Whoever reads along hears each word of a reply when the provider writes it, once, and nothing that is no part of the answer. */
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../../src/platform/models/models.ts';
import { namedEvent } from '../../support/fakes/openai-server.ts';
import { eventually } from '../../support/service/service.ts';
import { call, configFor, failureOf, KEY, log, server, useProvider } from './calls.ts';

useProvider();

const data = (event: unknown): string => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
const chat = (delta: object, finish: string | null = null): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const gemini = (text: string, more: object = {}): string =>
  data({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
  });

interface Protocol {
  model: string;
  begin: string[];
  word(text: string, at: number): string;
  end: string[];
}
const PROTOCOLS: Record<string, Protocol> = {
  'chat completions': {
    model: 'local-1',
    begin: [chat({ role: 'assistant', content: '' })],
    word: (content) => chat({ content }),
    end: [chat({ content: '!' }, 'stop'), data('[DONE]')],
  },
  Anthropic: {
    model: 'claude-sonnet-4-5',
    begin: [
      namedEvent({
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'c',
          content: [],
          usage: { input_tokens: 2, output_tokens: 1 },
        },
      }),
      namedEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      namedEvent({ type: 'ping' }),
    ],
    word: (text) => namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end: [
      namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '!' } }),
      namedEvent({ type: 'content_block_stop', index: 0 }),
      namedEvent({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 4 },
      }),
      namedEvent({ type: 'message_stop' }),
    ],
  },
  Responses: {
    model: 'gpt-5',
    begin: [
      namedEvent({
        type: 'response.created',
        response: { id: 'r', created_at: 1, model: 'gpt-5', service_tier: null },
      }),
      namedEvent({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } }),
    ],
    word: (delta, at) =>
      namedEvent({
        type: 'response.output_text.delta',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta,
        logprobs: [],
        sequence_number: at,
        obfuscation: 'x'.repeat(at % 7),
      }),
    end: [
      namedEvent({
        type: 'response.output_text.delta',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta: '!',
        logprobs: [],
      }),
      namedEvent({ type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } }),
      namedEvent({
        type: 'response.completed',
        response: { incomplete_details: null, service_tier: null, usage: { input_tokens: 2, output_tokens: 4 } },
      }),
    ],
  },
  Gemini: {
    model: 'gemini-2.5-flash',
    begin: [],
    word: (text) => gemini(text),
    end: [gemini('!', { finishReason: 'STOP' })],
  },
};

const all = () => {
  const names = ['ANTHROPIC', 'OPENAI', 'GOOGLE', 'OPENAI_COMPATIBLE'];
  const bases = Object.fromEntries(names.map((name) => [`${name}_BASE_URL`, server.baseUrl]));
  const asked = createModels(configFor({ ...bases, OPENAI_COMPATIBLE_MODEL: 'local-1', GOOGLE_API_KEY: KEY }), { log });
  return { asked, credentials: asked.credentials({ anthropic: KEY, openai: KEY }) };
};
const asking = (model: string) => {
  const { asked, credentials } = all();
  return { asked, given: { credentials, resolved: asked.resolve({ model, prompt: '', enforce: true }, credentials) } };
};

const WORDS = ['One', ' two', ' thr\u00e9e', ' \u{1f642}', ' "five"', '\n\n', ' two', ' two'];

describe.each(Object.entries(PROTOCOLS))('%s', (_, { model, begin, word, end }) => {
  // Guards: a word is told before the next is written. The provider waits for that.
  test('each word is told when it is written, and once', async () => {
    const heard: string[] = [];
    const write = async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      begin.forEach((event) => response.write(event));
      for (const [at, text] of WORDS.entries()) {
        response.write(word(text, at));
        await eventually(() => expect(heard).toEqual(WORDS.slice(0, at + 1)));
      }
      response.end(end.join(''));
    };
    server.script((response) => void write(response));
    const { asked, given } = asking(model);
    const reply = await call({ ...given, onText: (text) => void heard.push(text) }, asked);
    expect(reply).toMatchObject({ text: `${WORDS.join('')}!`, finishReason: 'stop' });
    expect(heard).toEqual([...WORDS, '!']);
  });

  // Guards: who ends a call while it writes is billed for what was written; a cut one too.
  test.each(['cancelled', 'cut'])('%s: what was written is billed', async (how) => {
    const stop = new AbortController();
    let billed: number | undefined;
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin.join('') + word('a word '.repeat(50), 0), () => {
        if (how === 'cut') setTimeout(() => response.destroy(), 50);
      });
    });
    const { asked, given } = asking(model);
    const ended = call(
      {
        ...given,
        signal: stop.signal,
        onText: () => how === 'cancelled' && setTimeout(() => stop.abort(new Error('cancelled')), 50),
        onAborted: ({ outputTokens }) => void (billed = outputTokens),
      },
      asked,
    );
    await expect(ended).rejects.toThrow();
    expect(billed).toBeGreaterThan(50);
    const [request] = server.requests;
    await request?.closed;
  });
});

// Guards: what a server leaves of its thinking in the text is not told, and the answer after it is, in however many parts.
test.each(['<think>hm</think>\n\nFour.', '  <think>hm, hm</think>Four.', 'Four.', '<thi', '<b>Four</b>.'])(
  'of %j the answer is told',
  async (text) => {
    for (const size of [1, 3, 100]) {
      const heard: string[] = [];
      const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      server.script((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end([...parts.map((content) => chat({ content })), chat({}, 'stop'), data('[DONE]')].join(''));
      });
      const reply = await call({ onText: (piece) => void heard.push(piece) });
      expect(heard.join('')).toBe(reply.text);
      expect(reply.text).toBe(text.replace(/^\s*<think>[^]*<\/think>\s*/, ''));
    }
  },
);

/** Writes one word after another, until the connection is closed. */
async function writeOn(response: ServerResponse, { begin, word }: Protocol): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(begin.join(''));
  for (let at = 0; !response.destroyed; at += 1) {
    response.write(word('word '.repeat(100), at));
    await new Promise(setImmediate);
  }
}

// Guards: too long a reply is cut off while it is written, in any protocol and whatever it is made of.
test.each(Object.entries(PROTOCOLS))('%s: a reply without end is cut off', async (_, protocol) => {
  server.script((response) => void writeOn(response, protocol));
  const { asked, given } = asking(protocol.model);
  expect((await failureOf(given, asked)).code).toBe('model_reply_too_long');
});
