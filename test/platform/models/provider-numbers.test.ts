/**
 * Every number of a reply, in each protocol, as a provider should not send it. Each value is put into the reply as the
 * text that is on the wire, since some of them are no JSON.
 */
import { expect, test } from '@jest/globals';
import { createModels } from '../../../src/platform/models/models.ts';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import type { ProviderName } from '../../../src/platform/models/types.ts';
import { embeddings, sse } from '../../support/fakes/openai-server.ts';
import { configFor, KEY, log, server, useProvider, user } from './calls.ts';
import { present } from '../../../src/platform/core/present.ts';

useProvider();

const NONSENSE = ['-1', '-999999', '0', '2.5', '1e25', '9007199254740993', '1e400', 'NaN', '-Infinity', '"12"', 'null'];
/** What the counts below say, and what the service counts itself for so short a prompt and reply, is below this. */
const MOST_TOKENS = 100;

type Numbers = Record<string, string>;
interface Protocol {
  model: string;
  /** What an honest provider sends, by the name of the number. */
  honest: Numbers;
  events: (numbers: Numbers) => string[];
}

const PROTOCOLS: Record<ProviderName, Protocol> = {
  'openai-compatible': {
    model: 'local-1',
    honest: {
      created: '1760000000',
      prompt: '26',
      completion: '3',
      total: '29',
      cached: '4',
      reasoning: '1',
      cost: '1',
    },
    events: ({ created, prompt, completion, total, cached, reasoning, cost }) => [
      `{"id":"c","created":${created},"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello there"}}]}`,
      `{"id":"c","created":${created},"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
      `{"id":"c","created":${created},"model":"m","choices":[],"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${total},"cost":${cost},"prompt_tokens_details":{"cached_tokens":${cached}},"completion_tokens_details":{"reasoning_tokens":${reasoning}}}}`,
      '[DONE]',
    ],
  },
  openai: {
    model: 'gpt-6-sol',
    honest: { created: '1760000000', input: '26', output: '3', total: '29', cached: '4', reasoning: '1' },
    events: ({ created, input, output, total, cached, reasoning }) => [
      `{"type":"response.created","response":{"id":"r","created_at":${created},"model":"m"}}`,
      '{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"i"}}',
      '{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":"Hello there"}',
      '{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"i"}}',
      `{"type":"response.completed","response":{"id":"r","created_at":${created},"usage":{"input_tokens":${input},"input_tokens_details":{"cached_tokens":${cached}},"output_tokens":${output},"output_tokens_details":{"reasoning_tokens":${reasoning}},"total_tokens":${total}}}}`,
    ],
  },
  anthropic: {
    model: 'claude-sonnet-5',
    honest: { input: '20', read: '4', made: '2', first: '1', output: '3' },
    events: ({ input, read, made, first, output }) => [
      `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":${input},"cache_read_input_tokens":${read},"cache_creation_input_tokens":${made},"output_tokens":${first}}}}`,
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there"}}',
      '{"type":"content_block_stop","index":0}',
      `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":${output}}}`,
      '{"type":"message_stop"}',
    ],
  },
};

function ask({ model, events }: Protocol, numbers: Numbers) {
  const env = { ANTHROPIC_BASE_URL: server.baseUrl, OPENAI_BASE_URL: server.baseUrl };
  const models = createModels(
    configFor({ ...env, OPENAI_COMPATIBLE_BASE_URL: server.baseUrl, OPENAI_COMPATIBLE_MODEL: 'local-1' }),
    { log },
  );
  const credentials = models.credentials({ anthropic: KEY, openai: KEY });
  server.script(sse(...events(numbers).map((event) => `data: ${event}\n\n`)));
  return models.call({
    resolved: models.resolve({ model, prompt: '' }, credentials),
    credentials,
    messages: [user('hello')],
    system: '',
    tools: [],
    maxOutputTokens: 100,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
  });
}

// Guards: the counts of an honest provider are taken as they are, and so are the parts of them, whose price is another.
test.each(Object.entries(PROTOCOLS))('%s', async (name, protocol) => {
  const { text, usage } = await ask(protocol, protocol.honest);
  const parts = name === 'anthropic' ? { cacheWriteTokens: 2 } : { reasoningTokens: 1 };
  expect({ text, usage }).toEqual({
    text: 'Hello there',
    usage: { inputTokens: 26, outputTokens: 3, cacheReadTokens: 4, ...parts },
  });
});

// Guards: DeepSeek tells what it read from its cache under a name of its own.
// https://api-docs.deepseek.com/guides/kv_cache
test('prompt_cache_hit_tokens', async () => {
  const { honest, model } = PROTOCOLS['openai-compatible'];
  const events = () => [
    '{"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}',
    '{"id":"c","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":3,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}',
    '[DONE]',
  ];
  const { usage } = await ask({ model, honest, events }, honest);
  expect(usage).toEqual({ inputTokens: 100, outputTokens: 3, cacheReadTokens: 64 });
});

// Guards against: a budget that was paid into by negative counts, and paid calls that no column could hold. Whatever a
// number is, the reply is there and its tokens are counted.
test.each(
  Object.entries(PROTOCOLS).flatMap(([name, protocol]) =>
    Object.keys(protocol.honest).map((number) => [name, number, protocol] as const),
  ),
)('%s: %s', async (_, number, protocol) => {
  for (const value of NONSENSE) {
    const { text, usage } = await ask(protocol, { ...protocol.honest, [present(number)]: value });
    expect({ value, text }).toEqual({ value, text: 'Hello there' });
    const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
    expect({ value, isWithin: cacheReadTokens + cacheWriteTokens <= usage.inputTokens }).toEqual({
      value,
      isWithin: true,
    });
    expect({ value, isWithin: reasoningTokens <= usage.outputTokens }).toEqual({ value, isWithin: true });
    for (const count of [usage.inputTokens, usage.outputTokens]) {
      expect({ value, count, isCount: Number.isSafeInteger(count) && count > 0 && count < MOST_TOKENS }).toEqual({
        value,
        count,
        isCount: true,
      });
    }
  }
});

// Guards: what a model writes is nobody's number, and comes as it was sent.
test('leaves the words of a reply alone', async () => {
  const text = '{"usage":{"prompt_tokens":-1},"created":NaN}';
  const { honest, model } = PROTOCOLS['openai-compatible'];
  const events = (numbers: Numbers) =>
    PROTOCOLS['openai-compatible'].events(numbers).map((event) => event.replace('"Hello there"', JSON.stringify(text)));
  expect(await ask({ model, honest, events }, { ...honest, created: '-5' })).toMatchObject({ text });
});

// Guards: a vector that points nowhere is refused, and not compared with others.
test.each([['1e400'], ['1.5e308'], ['-1.5e308']])('a vector of %s', async (value) => {
  const config = configFor({
    EMBEDDING_PROVIDER: 'openai-compatible',
    EMBEDDING_MODEL: 'e',
    EMBEDDING_DIMENSIONS: '2',
    OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
  });
  const embedder = createEmbedder(config, {});
  server.script((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"data":[{"index":0,"embedding":[${value},${value}]}],"usage":{"prompt_tokens":1}}`);
  });
  await expect(embedder.embed(['x'])).rejects.toMatchObject({ code: 'model_malformed_reply' });
  server.script(embeddings(() => [3, 4]));
  expect(await embedder.embed(['x'])).toEqual([[0.6, 0.8]]);
});
