/** What may stand in the address of a server, and proxies on the way to it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/platform/core/config.ts';
import { answerLimits } from '../../../src/platform/egress/limits.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { answer, refuse } from '../../support/fakes/openai-server.ts';
import { portOf } from '../../support/processes/listening.ts';
import { call, configFor, failureOf, log, server, useProvider } from './calls.ts';

useProvider();

const modelsAt = (address: string) =>
  createModels(configFor({ OPENAI_COMPATIBLE_BASE_URL: address, OPENAI_COMPATIBLE_MODEL: 'm' }), { log });

// Guards against: an address that no call can be made with, and a password in a message.
test('a user, a password and a query', async () => {
  const address = new URL(server.baseUrl);
  Object.assign(address, { username: 'ann', password: 'canary pass', search: '?api-version=2024-10-21' });
  server.script(answer('Hi'), refuse(400, { message: 'of ann:canary%20pass I take nothing' }));
  expect(await call({}, modelsAt(address.href))).toMatchObject({ text: 'Hi' });
  const basic = Buffer.from('ann:canary pass').toString('base64');
  expect(server.requests[0]).toMatchObject({
    path: '/v1/chat/completions?api-version=2024-10-21',
    headers: { authorization: `Basic ${basic}` },
  });
  expect((await failureOf({}, modelsAt(address.href))).message).not.toContain('canary');
});

test.each(['ANTHROPIC', 'OPENAI', 'GOOGLE', 'VERTEX', 'BEDROCK', 'AZURE_OPENAI', 'MISTRAL'])(
  'refuses either for %s',
  (name) => {
    for (const address of [
      `https://${['ann', 'pass'].join(':')}@example.com/v1`,
      'https://example.com/v1?api-version=1',
    ]) {
      const config = () => configFor({ [`${name}_BASE_URL`]: address });
      expect(config).toThrow(ConfigError);
      expect(config).toThrow(/_BASE_URL: expects an address without a user/);
    }
  },
);

test.each(['socks5://localhost:1080', 'localhost:3128'])('refuses the proxy %s', (HTTPS_PROXY) => {
  expect(() => configFor({ HTTPS_PROXY })).toThrow(/HTTPS_PROXY: expects the address of an HTTP proxy/);
});

// Guards: what settings name is called through the proxy, and what a workspace names is not.
test('a proxy', async () => {
  const asked: string[] = [];
  const proxy = createServer((_, response) => void response.writeHead(500).end()).listen(0, '127.0.0.1');
  proxy.on('connect', ({ url = '' }, socket: Duplex) => {
    asked.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await once(proxy, 'listening');
  const before = process.env.HTTPS_PROXY;
  process.env.HTTPS_PROXY = `http://127.0.0.1:${portOf(proxy)}`;
  try {
    const { plainFetch } = await import(`../../../src/platform/egress/limits.ts?${Date.now()}`);
    const { createEgress } = await import('../../../src/platform/egress/egress.ts');
    const settings = configFor({});
    await expect(plainFetch(settings)('https://models.example.com/v1')).rejects.toThrow();
    expect(asked).toEqual(['models.example.com:443']);
    const { fetch: guarded } = createEgress({ allowlist: [], allowHttp: true, limits: answerLimits(settings) });
    await expect(guarded('https://127.0.0.1:1/v1')).rejects.toThrow();
    expect(asked).toHaveLength(1);
  } finally {
    if (before === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = before;
    proxy.close();
  }
});
