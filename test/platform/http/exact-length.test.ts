/** No reply has other bytes than its length says, whatever a handler writes: the answer after it on the connection is its own. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Router } from 'express';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { NO_STANDING } from '../../../src/platform/core/rights.ts';
import { createSurface } from '../../../src/platform/http/app.ts';
import { BINARY, endpoint, handle } from '../../../src/platform/http/endpoint.ts';
import { listen, type HttpListener } from '../../../src/platform/http/server.ts';
import { answersOn } from '../../support/http/one-connection.ts';

const LENGTH = 10;
const bytes = (count: number) => Buffer.alloc(count, 'b');
/** The connection is shared with a caller whose answer this is. */
const NEXT = { status: 200, body: Buffer.from('{"status":"ok"}') };

const shared = { surface: 'public', credential: 'api-key', summary: 'Test', method: 'get', status: 200 } as const;
const fileOf = (count: number) => ({
  contentType: 'image/png',
  body: Readable.from([bytes(count)]),
  sizeBytes: LENGTH,
});
const pieces = function* (count: number) {
  for (let i = 0; i < count; i++) yield bytes(1);
};

let listener: HttpListener;
beforeAll(async () => {
  const declared = (name: string, ranged: boolean) =>
    endpoint({ ...shared, id: `kites.${name}`, path: `/v1/${name}`, reply: BINARY, ...(ranged && { ranged }) });
  let count = 0;
  const routes = [
    handle(declared('file', false), async () => fileOf(count)),
    handle(declared('pieces', false), async () => ({ ...fileOf(count), body: Readable.from(pieces(count)) })),
    handle(declared('ranged', true), async () => ({
      contentType: 'image/png',
      sizeBytes: LENGTH,
      tag: 'a',
      open: () => Readable.from([bytes(count)]),
    })),
  ];
  const authenticate = async () => ({ workspaceId: 'acc_a', customerId: 'a', actor: 'test', standing: NO_STANDING });
  const plain = Router()
    .use((request, _response, next) => {
      count = Number(request.headers['x-count']);
      next();
    })
    .get('/ended', (_request, response) => void response.set('content-length', `${LENGTH}`).end(bytes(count)))
    .get('/written', (_request, response) => {
      response.set('content-length', `${LENGTH}`).flushHeaders();
      response.write(bytes(count));
      response.end();
    });
  listener = await listen({
    port: 0,
    setting: 'PORT',
    host: '127.0.0.1',
    log: pino({ level: 'silent' }),
    ready: async () => {},
    routers: [plain, createSurface({ routes, authenticate })],
  });
});
afterAll(() => listener?.close(1_000));

const ask = (path: string, count: number) => {
  const base = listener.url.replace('localhost', '127.0.0.1');
  return answersOn([`${base}${path}`, `${base}/healthz`], { 'x-count': `${count}`, authorization: 'Bearer good' });
};
const PATHS = ['/v1/file', '/v1/pieces', '/v1/ranged', '/ended', '/written'];

test.each(PATHS)('%s with its length is followed by the next answer', async (path) => {
  const [answer, next] = await ask(path, LENGTH);
  expect(answer).toMatchObject({ status: 200, body: bytes(LENGTH) });
  expect(next).toMatchObject(NEXT);
});

// Guards against: bytes of one answer that a proxy with shared connections gives to another caller as the next one, and an answer
// whose end is the beginning of the next one.
test.each(PATHS.flatMap((path) => [0, 1, 9, 11, 1_000, 100_000].map((count): [string, number] => [path, count])))(
  '%s with %d bytes in the place of 10',
  async (path, count) => {
    const [answer, next] = await ask(path, count);
    // It breaks off, so that no whole answer has come; or it is refused whole, before its headers went out.
    if (answer) expect(answer.status).toBe(500);
    if (next) expect(next).toMatchObject(NEXT);
    // The process is there.
    const [after] = await ask('/healthz', 0);
    expect(after).toMatchObject(NEXT);
  },
);
