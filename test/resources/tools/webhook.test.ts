/** The webhook kind by itself: what it sends, where it may send it, and what comes back of what it was shown. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { first, present } from '../../../src/platform/core/present.ts';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { checkUrlTemplate, fillUrl } from '../../../src/resources/tools/custom/url-template.ts';
import { webhook } from '../../../src/resources/tools/custom/webhook.ts';
import { ToolError, type CustomTool, type ToolContext } from '../../../src/resources/tools/model.ts';
import { INSIDE } from '../../support/security/inside-addresses.ts';
import { tried } from '../../support/runner/sizes.ts';
import { createToolContext } from './tool-context.ts';
import { portOf } from '../../support/processes/listening.ts';

interface Received {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let server: Server;
let inside: Server;
let touched = 0;
let host: string;
let insidePort: number;
let context: ToolContext;
let egress: Egress;
let answer: (response: ServerResponse, request: Received) => unknown;
const seen: Received[] = [];

const listen = async (of: Server) => {
  await once(of.listen(0, '127.0.0.1'), 'listening');
  return portOf(of);
};

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const received = {
      method: request.method,
      url: present(request.url),
      headers: request.headers,
      body: await text(request),
    };
    seen.push(received);
    answer(response, received);
  });
  inside = createServer((_, response) => response.end('inside'));
  inside.on('connection', () => (touched += 1));
  host = `127.0.0.1:${await listen(server)}`;
  insidePort = await listen(inside);
  ({ context, egress } = createToolContext({ allowlist: [host] }));
});
beforeEach(() => {
  seen.splice(0);
  touched = 0;
  answer = (response) => response.setHeader('content-type', 'application/json').end('{"ok":true}');
});
afterAll(async () => {
  await egress.close();
  for (const each of [server, inside]) {
    each.closeAllConnections();
    await new Promise((closed) => each.close(closed));
  }
});

const PROPERTIES = { id: {}, q: {}, page: {}, token: {} };
const toolOf = (body: Record<string, unknown>, more: Partial<CustomTool> = {}): CustomTool => ({
  customerId: 'acme',
  slug: 'hook',
  id: 1,
  description: 'A hook.',
  kind: 'webhook',
  shape: 'api',
  access: 'both',
  integration: null,
  effect: 'irreversible',
  sensitive: false,
  version: 1,
  schema: { type: 'object', properties: PROPERTIES },
  body,
  ...more,
});
const call = (body: object, args: Record<string, unknown> = {}, more: Partial<CustomTool> = {}, given = context) =>
  webhook.execute(toolOf({ url: `http://${host}/`, ...body }, more), args, given);

describe('what it sends', () => {
  // Guards: by default the arguments are sent as JSON by POST, and the answer is a value.
  test('posts the arguments', async () => {
    expect(await call({}, { id: 7, q: 'é' })).toEqual({ status: 200, body: { ok: true } });
    expect(seen).toMatchObject([{ method: 'POST', url: '/', headers: { 'content-type': 'application/json' } }]);
    expect(JSON.parse(first(seen).body)).toEqual({ id: 7, q: 'é' });
  });

  // Guards: arguments can go into path, query and headers, and an absent parameter is left out.
  test('fills the places of the arguments', async () => {
    const body = {
      url: `http://${host}/orders/{id}.json?q={q}&page={page}&fixed=1`,
      method: 'GET',
      headers: { 'X-Token': 'T {token}', 'X-Page': '{page}', 'X-Fixed': 'yes' },
    };
    await call(body, { id: 7, q: 'a b&c=d#/é', token: 't' });
    expect(seen).toMatchObject([
      { method: 'GET', body: '', url: '/orders/7.json?q=a%20b%26c%3Dd%23%2F%C3%A9&fixed=1' },
    ]);
    expect(first(seen).headers).toMatchObject({ 'x-token': 'T t', 'x-fixed': 'yes' });
    expect(first(seen).headers).not.toHaveProperty('x-page');
    expect(first(seen).headers).not.toHaveProperty('content-type');
    for (const args of [{}, { id: '' }, { id: null }]) {
      await expect(call(body, args)).rejects.toThrow('"id" is part of the address, so it must be given');
    }
  });

  // Guards: an argument is text in its one place: it is not substituted again, adds no header, and no inherited name
  // counts.
  test('takes arguments for text', async () => {
    await call({ headers: { 'X-A': '{q}' } }, { q: '{token}', token: 'secret' });
    expect(first(seen).headers['x-a']).toBe('{token}');
    for (const q of ['a\r\nX-B: c', 'a\nb', 'a\0', '✓']) {
      await expect(call({ headers: { 'X-A': '{q}' } }, { q })).rejects.toThrow(ToolError);
    }
    await expect(webhook.execute(toolOf({ url: `http://${host}/{constructor}` }), {}, context)).rejects.toThrow(
      '{constructor} is not a property of the schema',
    );
    expect(seen).toHaveLength(1);
  });
});

describe('where it may send', () => {
  // Guards: no internal address is reached through a tool, however it is spelled, by GET or POST.
  test.each(INSIDE)('not to %s', async (spelling) => {
    for (const method of ['GET', 'POST']) {
      const url = `http://${spelling}:${insidePort}/`;
      await expect(call({ url, method })).rejects.toThrow(/^this address is not allowed: /);
      await expect(call({ url, method })).rejects.toThrow(ToolError);
      tried('addresses inside refused');
    }
    expect(touched).toBe(0);
  });

  // Guards: no internal address is reached by a redirect from an allowed server.
  test.each(['GET', 'POST', 'PUT'])('not where a redirect of a %s leads', async (method) => {
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (response) => response.writeHead(status, { location: `http://127.0.0.1:${insidePort}/` }).end();
      await expect(call({ method })).rejects.toThrow(/^this address is not allowed: /);
    }
    expect(touched).toBe(0);
  });

  // Guards: an allowed redirect is followed, and another origin gets no credential.
  test('where a redirect leads that is allowed', async () => {
    answer = (response, { url }) =>
      url === '/' ? response.writeHead(302, { location: '/there' }).end() : response.end('there');
    expect(await call({ method: 'GET' })).toEqual({ status: 200, body: 'there' });

    const other = createServer((request, response) => response.end(JSON.stringify(request.headers)));
    const otherHost = `127.0.0.1:${await listen(other)}`;
    answer = (response) => response.writeHead(302, { location: `http://${otherHost}/` }).end();
    const wider = createToolContext({ allowlist: [host, otherHost] });
    const { body } = (await call({ method: 'GET', headers: { 'X-Key': 'k-1' } }, {}, {}, wider.context)) as {
      body: string;
    };
    expect(body).not.toContain('x-key');
    await wider.egress.close();
    await new Promise((closed) => other.close(closed));
  });

  // Guards: the host belongs to the tool: no template puts an argument into it, and none has credentials.
  test.each([
    'http://{id}/',
    'http://{id}.example.com/',
    'http://example.com{id}/',
    'http://example.com:{id}/',
    'http://user:{id}@example.com/',
    'http://user:pass@example.com/',
    '{id}',
    '{id}://example.com/',
    'http:{id}',
    'http:/{id}',
    '//example.com/{id}',
    'http:///{id}',
    'http://\\{id}',
    'ftp://example.com/{id}',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://exa\tmple.com/{id}',
    'http://example.com\n/{id}',
    'http://example.com /{id}',
    'http://example.com/#{id}',
    'http://example.com/../{id}',
    'http://example.com/%2e%2E/{id}',
    'http://example.com/{id',
    'http://example.com/{{id}}',
    'http://[::1/{id}',
  ])('refuses the address %j', (url) => {
    expect(checkUrlTemplate(url)).toEqual(expect.any(String));
    expect(webhook.checkBody(toolOf({ url }))).toMatch(/^body\.url: /);
  });

  // Guards: whatever the arguments are, the request goes to the tool's host and path.
  test('keeps arguments in their places', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[./\\@:?#&=%{}a2eE ]*$/),
      fc.constantFrom('..', '.', '%2e%2e', '../..', '..\\..', '@evil.com', '//evil.com', '\ud800', '\r\n'),
    );
    fc.assert(
      fc.property(nasty, nasty, nasty, (id, q, token) => {
        let url: URL;
        try {
          url = new URL(fillUrl('https://example.com/a/{id}/b/{id}{token}/c?q={q}&k={token}', { id, q, token }));
        } catch (error) {
          expect(error).toBeInstanceOf(ToolError);
          return;
        }
        expect(url).toMatchObject({ origin: 'https://example.com', username: '', hash: '' });
        const segments = url.pathname.split('/').map(decodeURIComponent);
        const given = (value: string) => value.toWellFormed();
        expect(segments).toEqual(['', 'a', given(id), 'b', given(id) + given(token), 'c']);
        expect([...url.searchParams]).toEqual([
          ['q', given(q)],
          ['k', given(token)],
        ]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what comes back', () => {
  // Guards: text, JSON and bytes are each returned in their form, up to a limit.
  test('gives the answer in a form that can be kept', async () => {
    const replied = async (type: string, body: string | Buffer, status = 200) => {
      answer = (response) => response.writeHead(status, { 'content-type': type }).end(body);
      return call({});
    };
    expect(await replied('text/plain', 'plain')).toEqual({ status: 200, body: 'plain' });
    expect(await replied('application/problem+json', '[1]', 201)).toEqual({ status: 201, body: [1] });
    expect(await replied('application/json', 'not json')).toEqual({ status: 200, body: 'not json' });
    expect(await replied('application/json', '{"a\\u0000":"b\\u0000\\ud800"}')).toEqual({
      status: 200,
      body: { a: 'b\ufffd' },
    });
    expect(await replied('application/json', '['.repeat(20_000) + ']'.repeat(20_000))).toMatchObject({
      body: expect.stringMatching(/^\[{20000}/),
    });
    expect(await replied('image/png', Buffer.from([0x89, 0, 1]))).toEqual({ status: 200, body: null });
    expect(await replied('text/plain', 'x'.repeat(200_000))).toEqual({
      status: 200,
      body: 'x'.repeat(65_536),
      truncated: true,
    });
    expect(await replied('text/plain', '', 204)).toEqual({ status: 204, body: '' });
  });

  // Guards: a 4xx is told to the model with the receiver's text; a 5xx is repeated where that is harmless, and
  // otherwise told.
  test('tells what the receiver refuses', async () => {
    answer = (response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"no order 7"}');
    for (const effect of ['read', 'irreversible'] as const) {
      await expect(call({}, {}, { effect })).rejects.toThrow(
        new ToolError(`${host} answered 404: {"error":"no order 7"}`),
      );
    }
    answer = (response) => response.writeHead(503).end('content that is not for a history');
    const failure = await call({}, {}, { effect: 'idempotent' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: `${host} answered 503` });
    expect(failure).not.toBeInstanceOf(ToolError);
    await expect(call({}, {}, { effect: 'irreversible' })).rejects.toThrow(
      new ToolError(`${host} answered 503: content that is not for a history`),
    );
  });

  // Guards: a receiver that repeats the request does not pass the workspace's secrets to a model.
  test('masks secrets that are repeated', async () => {
    const secrets = {
      Authorization: 'Bearer canary-one',
      'X-Api-Key': 'canary-two',
      'X-Custom': 'canary-0123456789abc',
    };
    const headers = { ...secrets, 'X-Version': '2022-06-28', Accept: 'application/json' };
    for (const [status, type] of [
      [200, 'application/json'],
      [200, 'text/plain'],
      [400, 'application/json'],
      [500, 'text/plain'],
    ] as const) {
      answer = (response, request) =>
        response
          .writeHead(status, { 'content-type': type })
          .end(JSON.stringify({ ...request.headers, 'canary-two': 1 }));
      const told = JSON.stringify(await call({ headers }).catch((error: Error) => error.message));
      expect(told).not.toContain('canary');
      expect(told).toContain('2022-06-28');
      expect(told).toContain('***');
    }
  });
});

describe('the credential of an integration', () => {
  const withToken = (token: string | undefined, origins = [`http://${host}`]) => ({
    ...context,
    credential: async () => (token === undefined ? undefined : { token, origins, words: 'home' }),
  });
  const echo = () => {
    answer = (response, { headers }) => response.end(`you sent ${headers.authorization}`);
  };

  // Guards: the workspace's token authorizes the request, and the model never reads it.
  test('is the bearer token', async () => {
    echo();
    const given = withToken('canary-token');
    expect(await call({}, {}, { integration: 'github' }, given)).toEqual({ status: 200, body: 'you sent Bearer ***' });
    expect(first(seen).headers.authorization).toBe('Bearer canary-token');
    const own = { headers: { authorization: 'Basic own-of-tool' } };
    await call(own, {}, { integration: 'github' }, given);
    await call({}, {}, {}, given);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer canary-token',
      'Basic own-of-tool',
      undefined,
    ]);
  });

  // Guards: the token goes to the addresses of its integration, whatever the tool was saved with.
  test('goes nowhere else', async () => {
    const elsewhere = withToken('canary-token', [`https://${host}`, 'http://127.0.0.1:1']);
    await expect(call({}, {}, { integration: 'github' }, elsewhere)).rejects.toThrow(
      new ToolError(
        `http://${host} is no address of the integration "github": its token goes to home and nowhere else`,
      ),
    );
    expect(seen).toEqual([]);
  });

  // Guards: without a token nothing is sent, and the model can say what is missing; a broken token is not shown.
  test('must be there', async () => {
    await expect(call({}, {}, { integration: 'github' }, withToken(undefined))).rejects.toThrow(
      new ToolError('the integration "github" has no credential in this workspace'),
    );
    for (const token of ['canary\r\nX: y', 'canary ✓']) {
      const failure = await call({}, {}, { integration: 'github' }, withToken(token)).catch((error: Error) => error);
      expect(failure).toBeInstanceOf(ToolError);
      expect(String(failure)).not.toContain('canary');
    }
    expect(seen).toEqual([]);
  });
});

describe('what goes wrong', () => {
  // Guards: a read that takes too long is reported; for a write the outcome is reported as unknown.
  test('gives up in time', async () => {
    answer = () => {};
    const failed = (body: object, effect: CustomTool['effect']) =>
      call({ timeout_s: 1, ...body }, {}, { effect }).catch((error: unknown) => error);
    const [read, written] = await Promise.all([failed({ method: 'GET' }, 'read'), failed({}, 'irreversible')]);
    expect(read).toEqual(
      new ToolError(`${host}: no complete answer within 1 seconds; timeout_s sets how long it may take`),
    );
    expect(written).toMatchObject({ name: 'BodyLimitError' });
    expect(written).not.toBeInstanceOf(ToolError);
  });

  // Guards: a cancelled run does not wait for a slow receiver, even in the middle of its answer.
  test.each([false, true])('stops when the run is cancelled (answer begun: %s)', async (isBegun) => {
    answer = (response) => isBegun && response.write('begins');
    const cancel = new AbortController();
    const pending = call({}, {}, {}, { ...context, signal: cancel.signal });
    await once(server, 'request');
    cancel.abort(new Error('cancelled'));
    await expect(pending).rejects.toThrow('cancelled');
  });

  // Guards: an absent receiver is reported without the rest of its address.
  test('tells that nobody is there', async () => {
    const closed = createServer();
    const gone = `127.0.0.1:${await listen(closed)}`;
    await new Promise((done) => closed.close(done));
    const other = createToolContext({ allowlist: [gone] });
    await expect(call({ url: `http://${gone}/canary` }, {}, {}, other.context)).rejects.toThrow(
      new ToolError(`${gone} cannot be reached: ECONNREFUSED`),
    );
    await other.egress.close();
  });
});
