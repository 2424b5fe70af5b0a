/**
 * Every number of a reply by which something is counted, of each provider, as it should not send it. Each value is put into the
 * reply as the text that is on the wire, since some of them are no JSON.
 */
import { expect, test } from '@jest/globals';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import { payloadOf, withPayload } from '../../support/fakes/event-stream.ts';
import { embeddings } from '../../support/fakes/openai-server.ts';
import { WIRES } from '../../support/model-wires/capabilities/all.ts';
import { events, replied, type Chunks, type Wire } from '../../support/model-wires/capabilities/wire.ts';
import { configFor, server, useProvider, wired } from './calls.ts';

useProvider();

const NUMBERS = ['-1', '-999999', '0', '2.5', '1e25', '9007199254740993'];
const NONSENSE = [...NUMBERS, '1e400', 'null', 'NaN', '-Infinity', '"12"'];
/** What the counts below say, and what the service counts itself for so short a prompt and reply, is below this. */
const MOST_TOKENS = 100;

const COUNTED = /"(\w*(?:tokens|TokenCount|created|created_at|cost))":(\d[\d.]*)/gi;
const textIn = (chunk: string | Buffer): string => (typeof chunk === 'string' ? chunk : payloadOf(chunk));

/** Each number in the reply of a provider: its name, and the reply with another value in its place. */
const numbersOf = ({ cases }: Wire) =>
  cases.usage.turn.flatMap((chunk, at) =>
    [...textIn(chunk).matchAll(COUNTED)].map(({ index, 0: found, 1: name = '' }) => {
      const changed = (value: string) => (text: string) =>
        `${text.slice(0, index)}"${name}":${value}${text.slice(index + found.length)}`;
      const turn = (value: string): Chunks =>
        cases.usage.turn.with(
          at,
          typeof chunk === 'string' ? changed(value)(chunk) : withPayload(chunk, changed(value)(textIn(chunk))),
        );
      return { name, turn };
    }),
  );

function ask(wire: Wire, turn: Chunks) {
  server.script(replied(turn, wire.contentType));
  return wired(wire).ask({ tools: [] });
}

// Guards: DeepSeek tells what it read from its cache under a name of its own.
// https://api-docs.deepseek.com/guides/kv_cache
test('prompt_cache_hit_tokens', async () => {
  const turn = events(
    '{"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}',
    '{"id":"c","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":3,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}',
    '[DONE]',
  );
  const { usage } = await ask(WIRES['openai-compatible'], turn);
  expect(usage).toEqual({ inputTokens: 100, outputTokens: 3, cacheReadTokens: 64 });
});

// Guards against: a budget that was paid into by negative counts, and paid calls that no column could hold. Whatever a
// number is, the reply is there and its tokens are counted.
test.each(
  Object.values(WIRES).flatMap((wire) =>
    numbersOf(wire).map(({ name, turn }, at) => [`${wire.label}: ${name}, ${at}`, wire, turn] as const),
  ),
)('%s', async (_, wire, turn) => {
  // A message of AWS has a checksum, so that nothing is mended before the SDK reads it, which takes numbers alone.
  for (const value of wire.contentType === undefined ? NONSENSE : NUMBERS) {
    const { text, usage } = await ask(wire, turn(value));
    expect({ value, text }).toEqual({ value, text: 'Four.' });
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
  const turn = events({ created: -5, choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }] });
  expect(await ask(WIRES['openai-compatible'], turn)).toMatchObject({ text });
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
