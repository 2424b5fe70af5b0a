/** Pictures, audio and resources in the results of MCP tools. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { startScriptedServer, tool, type ScriptedServer } from '../platform/mcp/scripted-server.ts';
import { wireName } from '../../src/platform/models/wire-name.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let model: OpenAiServer;
let server: ScriptedServer;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  const pngOf = async (background: string) =>
    (
      await sharp({ create: { width: 8, height: 4, channels: 3, background } })
        .png()
        .toBuffer()
    ).toString('base64');
  const png = await pngOf('red');
  const album = await Promise.all(['red', 'green', 'blue', 'white', 'black'].map(pngOf));
  const asBlock = (data: string) => ({ type: 'image', mimeType: 'image/png', data });
  const blocks = {
    screenshot: [
      { type: 'text', text: 'done' },
      { type: 'image', mimeType: 'image/png', data: png },
    ],
    embedded: [{ type: 'resource', resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: png } }],
    pair: album.slice(0, 2).map(asBlock),
    album: album.map(asBlock),
    others: [
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words of a file' } },
      { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/zip', blob: 'AAAA' } },
      { type: 'resource_link', name: 'report', uri: 'file:///r', description: 'of May' },
    ],
  };
  server = await startScriptedServer(
    Object.keys(blocks).map((name) => tool(name)),
    Object.fromEntries(Object.entries(blocks).map(([name, content]) => [name, () => ({ content })])),
  );
  model = await startOpenAiServer();
  service = await startTestService({
    env: {
      MCP_SERVERS: JSON.stringify({ eyes: { url: server.url } }),
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'local-1',
      OPENAI_COMPATIBLE_SEES: 'true',
    },
  });
  tenant = await service.tenant('acc_acme');
  await tenant.cp('POST', '/v1/agents', {
    slug: 'looker',
    model: 'local-1',
    prompt: 'You look.',
    allowed_tool_slugs: Object.keys(blocks).map((name) => `mcp.eyes.${name}`),
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([model?.close(), server?.close()]);
});

/** What the model is told after it called the tool. */
async function toldAfter(name: string): Promise<string> {
  model.script(callTools({ id: 'c', name: wireName(`mcp.eyes.${name}`), arguments: {} }), answer('Seen.'));
  expect((await tenant.run({ agent: 'looker', prompt: 'Look.' })).status).toBe('succeeded');
  return JSON.stringify(model.requests.at(-1)?.body.messages);
}

// Guards against: a model that is told of a picture and never sees it.
test.each(['screenshot', 'embedded'])('a picture of a result is shown (%s)', async (name) => {
  const told = await toldAfter(name);
  expect(told).toMatch(/"url":"data:image\/(png|jpeg);base64,/);
  expect(told).toContain('the picture is shown with this');
});

const shownIn = (told: string) => new Set(told.match(/data:image\/\w+;base64,[^"\\]+/g)).size;

// Guards against: a model that sees the first of several pictures, and is told of the others alone.
test.each([
  ['pair', 2, undefined],
  ['album', 4, 'pictures_left_out\\":1'],
])('the pictures of a result are shown, as many as there may be (%s)', async (name, count, left) => {
  const told = await toldAfter(name);
  expect(shownIn(told)).toBe(count);
  expect(told.match(/pictures_left_out\\":\d/)?.[0]).toBe(left);
});

// Guards: the limit on pictures is one of the run: the latest are shown, and what became of the others is said.
test('of several results the latest pictures are shown', async () => {
  const calls = ['pair', 'pair', 'screenshot'].map((name, i) => ({
    id: `c${i}`,
    name: wireName(`mcp.eyes.${name}`),
    arguments: {},
  }));
  model.script(callTools(...calls), answer('Seen.'));
  expect((await tenant.run({ agent: 'looker', prompt: 'Look.' })).status).toBe('succeeded');
  const told = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(told.match(/data:image/g)).toHaveLength(4);
  expect(told).toContain('only the latest 4 pictures of the run are shown, of these some');
  expect(told.match(/the picture is shown with this/g)).toHaveLength(2);
});

// Guards against: bytes as text, and content that is gone in silence.
test('what is no picture is told in words', async () => {
  const told = await toldAfter('others');
  for (const words of ['audio cannot be read here', 'words of a file', 'bytes that are no text', 'file:///r: of May'])
    expect(told).toContain(words);
  expect(told).not.toContain('data:image');
});
