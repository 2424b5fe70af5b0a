/** Servers of the OpenAI protocol that take less: ways to be asked for JSON, and reasoning that they leave in the text. */
import { describe, expect, test } from '@jest/globals';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { answerIn, refuse, type Reply } from '../../support/fakes/openai-server.ts';
import { call, configFor, failureOf, log, server, useProvider } from './calls.ts';

useProvider();

const SCHEMA = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };
const JSON_TEXT = '{"title":"A"}';

interface Server {
  refuses: readonly string[];
  /** In its own words. */
  words: string;
}
/** What each takes, by its documentation and by reports. */
const SERVERS: Record<string, Server> = {
  // https://lmstudio.ai/docs/app/api/structured-output, https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189
  'LM Studio': { refuses: ['json_object'], words: "'response_format.type' must be 'json_schema' or 'text'" },
  // https://api-docs.deepseek.com/guides/json_mode
  DeepSeek: { refuses: ['json_schema'], words: 'This response_format type is unavailable now' },
  // https://console.groq.com/docs/structured-outputs
  'Groq, an older model': {
    refuses: ['json_schema'],
    words: 'This model does not support response format `json_schema`. See supported models',
  },
  'OpenRouter, a model without it': {
    refuses: ['json_schema', 'json_object'],
    words: 'No endpoints found that can handle the requested parameters.',
  },
  // https://docs.vllm.ai/en/latest/features/structured_outputs.html
  vLLM: { refuses: [], words: '' },
  // https://docs.ollama.com/capabilities/structured-outputs
  Ollama: { refuses: [], words: '' },
  // https://github.com/ggml-org/llama.cpp/tree/master/tools/server
  'llama.cpp': { refuses: [], words: '' },
  // https://ai.google.dev/gemini-api/docs/openai
  'Gemini at its compatible address': { refuses: [], words: '' },
  'one that takes neither': { refuses: ['json_schema', 'json_object'], words: 'Unknown field: response_format' },
};

const typeIn = (body: unknown): string => String(fieldsOf(fieldsOf(body).response_format).type ?? 'text');
const answering =
  ({ refuses, words }: Server): Reply =>
  (response, request) =>
    (refuses.includes(typeIn(request.body)) ? refuse(400, { message: words }) : answerIn([JSON_TEXT]))(
      response,
      request,
    );

describe.each(Object.entries(SERVERS))('%s', (name, answers) => {
  // Guards against: a step with a schema that fails at every try because of how it is asked for.
  test('is asked in the first way that it takes, and the next time at once', async () => {
    server.otherwise(answering(answers));
    const models = createModels(
      configFor({ OPENAI_COMPATIBLE_BASE_URL: server.baseUrl, OPENAI_COMPATIBLE_MODEL: `model of ${name}` }),
      { log },
    );
    const credentials = models.credentials();
    const resolved = models.resolve({ model: 'auto', prompt: '' }, credentials);
    const ask = () => models.call({ ...BASE, resolved, credentials, outputSchema: SCHEMA });
    expect((await ask()).text).toBe(JSON_TEXT);
    const ways = ['json_schema', 'json_object', 'text'];
    const taken = ways.findIndex((way) => !answers.refuses.includes(way));
    expect(server.requests.map(({ body }) => typeIn(body))).toEqual(ways.slice(0, taken + 1));
    await ask();
    expect(typeIn(server.requests.at(-1)?.body)).toBe(ways[taken]);
    expect(server.requests).toHaveLength(taken + 2);
  });
});

const BASE = {
  messages: [{ role: 'user' as const, content: 'Hello' }],
  system: '',
  tools: [],
  maxOutputTokens: 100,
  timeoutMs: 20_000,
  signal: new AbortController().signal,
};

// Guards: what is refused for another reason is asked once.
test('another refusal', async () => {
  server.otherwise(refuse(400, { message: "Unknown parameter: 'foo'." }));
  expect(await failureOf({ outputSchema: SCHEMA })).toMatchObject({ code: 'model_refused_request' });
  expect(server.requests).toHaveLength(1);
});

const ANSWER = '{"title":"A <think> b"}';
const TEXTS: [what: string, sent: string, answer: string][] = [
  ['reasoning before', `<think>They want {"title": ...}, I think.</think>\n\n${ANSWER}`, ANSWER],
  ['empty reasoning', `\n<think>\n\n</think>\n${ANSWER}`, ANSWER],
  ['reasoning whose beginning the template has', `Hmm, a title.\n</think>\n\n{"title":"A"}`, '{"title":"A"}'],
  ['a word like it later', ANSWER, ANSWER],
  ['the beginning of a tag', '<th', '<th'],
  ['another tag', '<thanks>you</thanks>', '<thanks>you</thanks>'],
  ['a fence', `\`\`\`json\n${ANSWER}\n\`\`\``, ANSWER],
];
// Guards against: reasoning in outputs, wherever the pieces of the stream end; https://github.com/langchain-ai/langchain/pull/35530
test.each(TEXTS)('%s', async (what, sent, answer) => {
  for (const size of [1, 3, 8, sent.length]) {
    server.script(answerIn(sent.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []));
    let shown = '';
    const outputSchema = what === 'a fence' ? { outputSchema: SCHEMA } : {};
    const reply = await call({ ...outputSchema, onText: (piece) => (shown += piece) });
    expect({ size, text: reply.text }).toEqual({ size, text: answer });
    if (!/template|fence/.test(what)) expect({ size, shown }).toEqual({ size, shown: answer });
  }
});
