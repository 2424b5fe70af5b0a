/** What goes out waits as long as its own limits say, and not as long as `fetch` would. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, getGlobalDispatcher, setGlobalDispatcher, type Dispatcher } from 'undici';
import { createEgress } from '../../../src/platform/egress/egress.ts';
import { plainFetch } from '../../../src/platform/egress/limits.ts';
import { portOf } from '../../support/processes/listening.ts';

const SETTINGS = { RESPONSE_MAX_MB: 1, RESPONSE_TIMEOUT: 20_000 };
let server: Server;
let before: Dispatcher;
beforeAll(async () => {
  before = getGlobalDispatcher();
  // In place of the five minutes that `fetch` has.
  setGlobalDispatcher(new Agent({ headersTimeout: 500, bodyTimeout: 500 }));
  server = createServer((_, response) => {
    setTimeout(() => {
      response.writeHead(200).flushHeaders();
      setTimeout(() => response.end('late'), 2_500);
    }, 2_500);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  setGlobalDispatcher(before);
  server?.close();
});

// Guards against: a model that thinks for six minutes, cut off after five whatever MODEL_TIMEOUT says.
test.each([
  ['to an address of the operator', plainFetch(SETTINGS)],
  [
    'to an address that somebody gave',
    (url: string) =>
      createEgress({
        allowlist: [`127.0.0.1:${portOf(server)}`],
        allowHttp: true,
        limits: { maxBytes: 1_000, totalMs: 20_000, raisedBy: {} },
      }).fetch(url),
  ],
])('%s', async (_, fetchIt) => {
  const answer = await fetchIt(`http://127.0.0.1:${portOf(server)}/`);
  expect(await answer.text()).toBe('late');
});
