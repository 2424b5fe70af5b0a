/** Pictures that a model is shown: on the wire of the providers whose models see, and nowhere else. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { createModels } from '../../../src/platform/models/models.ts';
import { readCatalogue } from '../../../src/platform/models/known-models.ts';
import { pictureTokens, seesPictures } from '../../../src/platform/models/pictures.ts';
import type { ModelCredentials, ShownPicture } from '../../../src/platform/models/types.ts';
import { countInput } from '../../../src/platform/models/usage-without-reply.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { configFor, KEY, log } from './calls.ts';

let wire: ProviderServer;
beforeAll(async () => {
  wire = await startProviderServer();
  wire.answer(() => ({ status: 400, body: { error: { message: 'not today' } } }));
});
afterAll(() => wire.close());

const picture: ShownPicture = { mediaType: 'image/png', bytes: Buffer.from('pixels'), width: 750, height: 100 };
const second = { ...picture, bytes: Buffer.from('others') };
const pictures = new Map([['call_1_0', [picture, second]]]);
const messages: ModelMessage[] = [
  { role: 'user', content: 'What is on it?' },
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'call_1_0', toolName: 'read_attachment', input: {} }],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'call_1_0',
        toolName: 'read_attachment',
        output: { type: 'json', value: { filename: 'a.png' } },
      },
    ],
  },
];

async function sent(model: string, credentials: ModelCredentials): Promise<string> {
  const models = createModels(configFor({ ANTHROPIC_BASE_URL: wire.url, OPENAI_BASE_URL: wire.url }), { log });
  const resolved = models.resolve({ model, prompt: 'hello' }, credentials);
  expect(seesPictures(resolved, credentials, models.catalogue())).toBe(true);
  wire.requests.length = 0;
  await models
    .call({
      credentials,
      resolved,
      messages,
      pictures,
      system: '',
      tools: [],
      maxOutputTokens: 100,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    })
    .catch(() => {});
  return wire.requests.map(({ body }) => body).join('\n');
}

// Guards: the picture goes with the result of the tool, as the provider's own protocol has it.
test.each([
  ['claude-sonnet-5', { anthropic: KEY }, (data: string) => ({ type: 'base64', media_type: 'image/png', data })],
  ['gpt-6-sol', { openai: KEY }, (data: string) => `data:image/png;base64,${data}`],
] as const)('%s is shown it', async (model, credentials, form) => {
  const body = await sent(model, credentials);
  for (const { bytes } of [picture, second]) expect(body).toContain(JSON.stringify(form(bytes.toString('base64'))));
  expect(body).toContain(String.raw`{\"filename\":\"a.png\"}`);
});

const AFTER_THE_RESULTS = [
  { role: 'tool', tool_call_id: 'call_1_0', content: '{"filename":"a.png"}' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'The pictures that were read, in their order:' },
      ...[picture, second].map(({ bytes }) => ({
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
      })),
    ],
  },
];

// Guards: a server that whoever named it says to see gets the picture in the one place where its protocol has pictures.
test('a server of one’s own is shown it after the results', async () => {
  const credentials = {
    'openai-compatible': { baseUrl: wire.url, model: 'llava', isOperators: true, sees: true },
  } as const;
  const body = await sent('auto', credentials);
  expect(JSON.parse(body).messages.slice(-2)).toEqual(AFTER_THE_RESULTS);
});

// Guards against: "Unexpected role 'user' after role 'tool'", of Mistral's models at any server.
// https://github.com/LibreChat-AI/agents/issues/344
test.each(['mistralai/mistral-small-2506', 'Pixtral-12B', 'mistral-small3.2:24b'])(
  '%s speaks before it',
  async (model) => {
    const own = { baseUrl: wire.url, model, isOperators: true, sees: true } as const;
    const body = await sent('auto', { 'openai-compatible': own });
    expect(JSON.parse(body).messages.slice(-3)).toMatchObject([
      { role: 'tool' },
      { role: 'assistant', content: 'I look at the pictures.' },
      { role: 'user' },
    ]);
  },
);

// Guards against: a picture that a protocol without a place for it in results sends as text, in the letters of its bytes.
test('a deployment of Azure in a dated version is shown it after the results', async () => {
  const azure = {
    apiKey: KEY,
    baseUrl: wire.url,
    model: 'gpt-5.5',
    apiVersion: '2024-10-21',
    isOperators: true,
  } as const;
  const body = await sent('azure/gpt-5.5', { 'azure-openai': azure });
  expect(JSON.parse(body).messages.slice(-2)).toEqual(AFTER_THE_RESULTS);
});

// Guards: a model of which nobody knows whether it sees is not sent a picture, which it would count as text.
test.each([
  ['openai-compatible', 'llava', false],
  ['offline', 'offline', false],
  ['openai', 'o3-mini', false],
  ['openai', 'o3', true],
  ['openai', 'gpt-5.5-2026-04-01', true],
  ['anthropic', 'claude-of-tomorrow', true],
] as const)('%s: %s', (provider, model, sees) => {
  const credentials = { 'openai-compatible': { baseUrl: 'http://localhost', model } };
  expect(seesPictures({ provider, model }, credentials, readCatalogue({}))).toBe(sees);
});

// Guards: what is held and booked counts a picture by its pixels, and not by the letters that it is sent in.
test('a picture has its tokens', async () => {
  expect(pictureTokens(pictures)).toBe(200);
  const told = { system: '', messages, tools: [] };
  expect(await countInput({ ...told, pictures })).toBe((await countInput(told)) + 200);
});
