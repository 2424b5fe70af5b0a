/** Servers of embeddings as they are: what each takes, and the words with which it refuses the rest. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import {
  embeddings,
  refuse,
  startOpenAiServer,
  type OpenAiServer,
  type Reply,
} from '../../support/fakes/openai-server.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server?.close());
afterEach(() => server.reset());

const embedderOf = (env: Record<string, string>) =>
  createEmbedder(
    loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://none', EMBEDDING_BASE_URL: server.baseUrl, ...env }),
    {},
  );
const OTHER = { EMBEDDING_PROVIDER: 'openai-compatible', EMBEDDING_MODEL: 'm', EMBEDDING_DIMENSIONS: '2' };
const inputs = () => server.requests.map(({ body }) => [body.input].flat().map(String));
const vectors = embeddings((text) => [text.includes('END') ? 1 : 0, 1]);

/** Refuses what a server with 512 tokens refuses, in its words. */
const limited =
  (refusal: Reply, { characters = 1_000, texts = Infinity } = {}): Reply =>
  (response, request) => {
    const input = [request.body.input].flat().map(String);
    const isTaken = input.length <= texts && input.every((text) => text.length <= characters);
    (isTaken ? vectors : refusal)(response, request);
  };

const SERVERS: readonly [name: string, refusal: Reply][] = [
  ['Ollama', refuse(400, { message: 'the input length exceeds the context length', type: 'api_error' })],
  [
    'vLLM',
    refuse(400, {
      message:
        "This model's maximum context length is 512 tokens. However, you requested 1038 tokens in the input for embedding generation.",
      type: 'BadRequestError',
    }),
  ],
  [
    'Text Embeddings Inference',
    refuse(413, {
      message: 'Input validation error: `inputs` must have less than 512 tokens. Given: 1038',
      type: 'Validation',
    }),
  ],
];

// Guards against: a memory that could not be kept, because the server refuses a text longer than its model reads.
test.each(SERVERS)('a text that %s refuses as too long is split', async (_, refusal) => {
  server.otherwise(limited(refusal));
  const [vector, short] = await embedderOf(OTHER).embed([`${'word '.repeat(700)}END`, 'short']);
  expect(vector?.[0]).toBeGreaterThan(0);
  expect(short).toEqual([0, 1]);
  expect(
    Math.max(
      ...inputs()
        .flat()
        .map((text) => text.length),
    ),
  ).toBeGreaterThan(3_000);
  expect(
    inputs()
      .at(-1)
      ?.every((text) => text.length <= 1_000),
  ).toBe(true);
});

// Guards: a refusal that does not concern the length ends at once, and a short text is not cut for ever.
test('what is refused for another reason is refused', async () => {
  server.otherwise(refuse(400, { message: 'model not loaded' }));
  await expect(embedderOf(OTHER).embed(['word '.repeat(700)])).rejects.toMatchObject({ code: 'model_refused_request' });
  expect(server.requests).toHaveLength(1);
  server.reset();
  server.otherwise(refuse(400, { message: 'the input length exceeds the context length' }));
  await expect(embedderOf(OTHER).embed(['word '.repeat(700)])).rejects.toMatchObject({
    code: 'model_context_overflow',
  });
});

// Guards against: more texts in one request than Text Embeddings Inference takes (32), which it answers with 413.
test('asks for few texts at once', async () => {
  const refusal = refuse(413, { message: 'batch size 70 > maximum allowed batch size 32', type: 'Validation' });
  server.otherwise(limited(refusal, { texts: 32 }));
  expect(await embedderOf(OTHER).embed(Array.from({ length: 70 }, (_, i) => `text ${i}`))).toHaveLength(70);
  expect(inputs().map(({ length }) => length)).toEqual([32, 32, 6]);
});

// Guards: EMBEDDING_MAX_CHARACTERS splits before a server refuses or cuts; all of the text counts.
test('splits by the setting', async () => {
  server.otherwise(vectors);
  const [vector] = await embedderOf({ ...OTHER, EMBEDDING_MAX_CHARACTERS: '500' }).embed([`${'word '.repeat(300)}END`]);
  expect(vector?.[0]).toBeGreaterThan(0);
  expect(
    Math.max(
      ...inputs()
        .flat()
        .map((text) => text.length),
    ),
  ).toBeLessThanOrEqual(500);
});

// Guards: models that were trained with prefixes get them, also when the space behind one got lost, and their vectors
// count as those of another model than without; sizes and formats that vLLM and LM Studio refuse are not asked for.
test('prefixes tell questions from memories', async () => {
  server.otherwise(vectors);
  const embedder = embedderOf({ ...OTHER, EMBEDDING_QUERY_PREFIX: 'query:', EMBEDDING_PASSAGE_PREFIX: 'passage: ' });
  await embedder.embed(['Who?'], { isQuestion: true });
  await embedder.embed(['Alice.']);
  expect(inputs()).toEqual([['query: Who?'], ['passage: Alice.']]);
  expect(embedder.model).toBe('openai-compatible:m (passage:)');
  expect(embedderOf(OTHER).model).toBe('openai-compatible:m');
  for (const { body } of server.requests) expect(body).toMatchObject({ encoding_format: 'float' });
  for (const { body } of server.requests) expect(body).not.toHaveProperty('dimensions');
});

// Guards: the multilingual model elsewhere is asked as the one beside the service is, and its vectors are the same.
test('the multilingual model elsewhere', async () => {
  server.otherwise(embeddings(() => Array.from({ length: 384 }, () => 1)));
  const embedder = embedderOf({ EMBEDDING_PROVIDER: 'multilingual' });
  await embedder.embed(['Who?'], { isQuestion: true });
  await embedder.embed(['Alice.']);
  expect(server.requests.map(({ body }) => [body.model, body.input])).toEqual([
    ['e5-query', ['Who?']],
    ['e5-passage', ['Alice.']],
  ]);
  expect(embedder).toMatchObject({ model: 'multilingual-e5-small-q4', dimensions: 384 });
});

// Guards: a key goes to the address that it was set for, and to no other.
test('a key stays with its address', async () => {
  server.otherwise(vectors);
  const CHAT = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_COMPATIBLE_API_KEY: 'key-of-the-chat' };
  await embedderOf({ ...OTHER, ...CHAT }).embed(['a']);
  await embedderOf({ ...OTHER, ...CHAT, EMBEDDING_API_KEY: 'key-of-the-embedder' }).embed(['a']);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    'Bearer key-of-the-embedder',
  ]);
});

// Guards: settings that do not go together are named at the start.
test.each([
  [{ EMBEDDING_PROVIDER: 'packaged' }, 'EMBEDDING_BASE_URL: EMBEDDING_PROVIDER=packaged'],
  [{ EMBEDDING_PROVIDER: 'multilingual', EMBEDDING_DIMENSIONS: '512' }, 'EMBEDDING_DIMENSIONS: is 512'],
  [{ EMBEDDING_PROVIDER: 'multilingual', EMBEDDING_MODEL: 'nomic' }, 'EMBEDDING_MODEL: is nomic'],
  [{ ...OTHER, EMBEDDING_BASE_URL: '' }, 'EMBEDDING_BASE_URL: is not set'],
])('refuses %j', (env, message) => {
  expect(() => embedderOf(env)).toThrow(message);
});
