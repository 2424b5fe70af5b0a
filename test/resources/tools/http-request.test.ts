import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { httpRequest } from '../../../src/resources/tools/builtin/http-request.ts';
import { effectOf, ToolError, type ToolContext } from '../../../src/resources/tools/model.ts';
import { createToolContext } from './tool-context.ts';
import { portOf } from '../../support/processes/listening.ts';

let server: Server;
let base: string;
let context: ToolContext;
let egress: Egress;
const seen: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers, body: await text(request) });
    switch (request.url ?? '') {
      case '/large':
        return response.end('é'.repeat(40_000));
      case '/binary':
        return response.end(Buffer.from([0x89, 0x50, 0, 1]));
      case '/latin':
        return response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0xe9]));
      case '/moved':
        return response.writeHead(302, { location: '/' }).end();
      case '/inside':
        return response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
      case '/missing':
        return response.writeHead(404).end('not here');
      case '/silent':
        return undefined;
      case '/reset':
        return request.socket.destroy();
      default:
        return response.setHeader('set-cookie', 'a=b').setHeader('etag', '"1"').end('ok');
    }
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const host = `127.0.0.1:${portOf(server)}`;
  base = `http://${host}`;
  ({ context, egress } = createToolContext({ allowlist: [host] }));
});
beforeEach(() => void seen.splice(0));
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const call = (args: object, given: ToolContext = context) => httpRequest.execute(args, given);

// Guards: the request is what the model asked for, and the model gets the useful part of the answer.
test('sends a request and returns the answer', async () => {
  const answer = await call({ method: 'POST', url: `${base}/a?b=c`, headers: { 'X-Token': 't' }, body: '{"a":1}' });
  expect(answer).toEqual({
    status: 200,
    headers: expect.objectContaining({ etag: '"1"' }),
    body: 'ok',
    url: `${base}/a?b=c`,
  });
  expect(answer).not.toHaveProperty('headers.set-cookie');
  expect(seen).toMatchObject([{ method: 'POST', url: '/a?b=c', headers: { 'x-token': 't' }, body: '{"a":1}' }]);
  expect(await call({ url: `${base}/missing` })).toMatchObject({ status: 404, body: 'not here' });
});

// Guards: a large or binary answer neither floods the model nor breaks the database.
test('returns text only, and not too much', async () => {
  const large = await call({ url: `${base}/large` });
  expect(large).toMatchObject({ status: 200, truncated: true, body: 'é'.repeat(32_768) });
  expect(await call({ url: `${base}/binary` })).toMatchObject({ body: null });
  expect(await call({ url: `${base}/latin` })).toMatchObject({ body: 'é' });
});

// Guards: reads may be repeated, everything else happens once; the redirect of an answered POST does not fail it.
test('knows the effect of each method', async () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(effectOf(httpRequest, { url: base, method })).toBe('read');
  expect(effectOf(httpRequest, { url: base })).toBe('read');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect(effectOf(httpRequest, { url: base, method })).toBe('irreversible');

  expect(await call({ url: `${base}/moved` })).toMatchObject({ status: 200, url: `${base}/` });
  expect(await call({ url: `${base}/inside`, method: 'POST' })).toMatchObject({
    status: 302,
    headers: { location: expect.any(String) },
  });
});

// Guards: no internal address is reached, by name or by redirect, and the model learns why.
test('refuses forbidden addresses', async () => {
  const port = new URL(base).port;
  for (const url of [
    `http://localhost:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    'http://169.254.169.254/',
    `${base}/inside`,
    'file:///etc/passwd',
  ]) {
    await expect(call({ url })).rejects.toThrow(/^this address is not allowed: /);
    await expect(call({ url })).rejects.toThrow(ToolError);
  }
  expect(seen.every(({ url }) => url === '/inside')).toBe(true);
});

// Guards: no header can split the request or redirect the connection.
test.each([
  { 'X-A': 'b\r\nHost: inside' },
  { 'X-A': 'b\n' },
  { 'X-A\r\nB': 'c' },
  { Host: 'inside' },
  { 'content-length': '0' },
  { 'Transfer-Encoding': 'chunked' },
  { 'Proxy-Authorization': 'x' },
  { 'X-A': '✓' },
  { '': 'x' },
])('refuses the headers %j', async (headers) => {
  await expect(call({ url: base, headers })).rejects.toThrow(ToolError);
  expect(seen).toEqual([]);
});

// Guards: an impossible request is explained to the model and does not fail the run.
test('explains what cannot work', async () => {
  const closed = createServer();
  await new Promise<void>((ready) => closed.listen(0, '127.0.0.1', ready));
  const host = `127.0.0.1:${portOf(closed)}`;
  await new Promise((done) => closed.close(done));
  const other = createToolContext({ allowlist: [host] });
  await expect(call({ method: 'POST', url: `http://${host}/` }, other.context)).rejects.toThrow(
    new ToolError(`${host} cannot be reached: ECONNREFUSED`),
  );
  await other.egress.close();

  await expect(call({ url: 'example.com' })).rejects.toThrow(/complete address/);
  await expect(call({ url: base, body: 'x' })).rejects.toThrow(/takes no body/);
  await expect(call({ url: `${base}/silent`, timeout_s: 1 })).rejects.toThrow(
    new ToolError('no complete answer within 1 seconds; timeout_s sets how long it may take'),
  );
});

// Guards: where the outcome of a write is unknown, the model is not invited to repeat it.
test('leaves an unknown outcome to the run', async () => {
  const failure = await call({ method: 'POST', url: `${base}/reset` }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: 'fetch failed' });
  expect(failure).not.toBeInstanceOf(ToolError);
});

// Guards: a cancelled run does not wait for a slow server.
test('stops when the run is cancelled', async () => {
  const cancel = new AbortController();
  const pending = call({ url: `${base}/silent` }, { ...context, signal: cancel.signal });
  await once(server, 'request');
  cancel.abort(new Error('cancelled'));
  await expect(pending).rejects.toThrow('cancelled');
});
