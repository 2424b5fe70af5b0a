/**
 * What a tenant names is reached through the guarded way out and no other: the whole service, asked for addresses
 * inside, with a server there that must see no connection. How addresses are told apart: test/platform/egress.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestService, type Tenant, type TestService } from '../support/service.ts';

let inside: Server;
let partner: Server;
let port: number;
let touched = 0;
let service: TestService;
let tenant: Tenant;

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  inside = createServer((_, response) => response.end('what is inside'));
  inside.on('connection', () => (touched += 1));
  port = await listening(inside);
  partner = createServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    else response.end('the partner answers');
  });
  service = await startTestService({ env: { EGRESS_ALLOWLIST: `127.0.0.1:${await listening(partner)}` } });
  tenant = await service.tenant('acc_acme');
});
beforeEach(() => {
  touched = 0;
});
afterAll(async () => {
  await service.close();
  for (const server of [inside, partner]) server.closeAllConnections();
  for (const server of [inside, partner]) await new Promise((closed) => server.close(closed));
});

const addressOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const fetchedBy = async (args: object): Promise<string> => {
  const { output } = await tenant.run({
    agent: 'researcher',
    prompt: `Read it. [[tool:http_request ${JSON.stringify(args)}]]`,
  });
  return output!;
};

const INSIDE = [
  '127.0.0.1',
  'localhost',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '0.0.0.0',
];

// Guards: an agent reads nothing inside, by any method or spelling, and is told why.
test.each(INSIDE)('an agent does not reach %s', async (host) => {
  expect(await fetchedBy({ url: `http://${host}:${port}/` })).toContain('this address is not allowed');
  expect(touched).toBe(0);
});
test('an agent does not reach what a redirect leads to', async () => {
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/moved` })).toContain('this address is not allowed');
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/moved`, method: 'POST' })).not.toContain('inside');
  expect(touched).toBe(0);
});

// Guards: no webhook is sent inside; an address that can be told is refused when it is registered.
test.each(INSIDE)('a webhook does not go to %s', async (host) => {
  for (const scheme of ['https', 'http']) {
    const answer = await tenant.api('POST', '/v1/webhooks', { url: `${scheme}://${host}:${port}/` });
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^url: /) } });
  }
  expect((await tenant.api('GET', '/v1/webhooks')).body.data).toEqual([]);
  expect(touched).toBe(0);
});

// Guards: the tests above could fail: the way out is open, and the server inside counts who comes.
test('what is allowed is reached', async () => {
  expect(await fetchedBy({ url: `http://${addressOf(partner)}/` })).toContain('the partner answers');
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(touched).toBe(1);
});
