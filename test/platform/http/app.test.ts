/** What every endpoint has in common, over real HTTP: credential, body, validation, reply check, error body. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { z } from 'zod';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createSurface, errorHandler, notFound } from '../../../src/platform/http/app.ts';
import {
  BINARY,
  endpoint,
  handle,
  NO_CONTENT,
  type Caller,
  type FileReply,
} from '../../../src/platform/http/endpoint.ts';

const SECRET = 'postgres://service:hunter2@db/aos';
const KEY = 'Bearer good';
const caller: Caller = { workspaceId: 'acc_a', customerId: 'a', actor: 'test', isAdmin: true, isInternal: false };
const shared = { surface: 'public', credential: 'api-key', summary: 'Test' } as const;
const posted = { ...shared, method: 'post', status: 200 } as const;

/** What a handler got last, and the log lines that were written. */
let seen: unknown;
let lines: string[];
beforeEach(() => {
  seen = undefined;
  lines = [];
});

const Anything = z.object({ seen: z.unknown() });
const echo = async ({ body }: { body: unknown }) => {
  seen = body;
  return { seen: body };
};
const oneBytes = { maxBytes: 1_000 };
let file: () => FileReply;

const routes = [
  handle(
    endpoint({
      ...posted,
      id: 'kites.create',
      path: '/v1/kites',
      body: z.object({ name: z.string(), size: z.int().optional(), tags: z.array(z.string()).optional() }),
      reply: Anything,
    }),
    echo,
  ),
  handle(endpoint({ ...posted, id: 'kites.loose', path: '/v1/loose', body: z.looseObject({}), reply: Anything }), echo),
  handle(
    endpoint({
      ...posted,
      id: 'kites.strict',
      path: '/v1/strict',
      body: z.object({ name: z.string('name required') }),
      badInput: 400,
      reply: Anything,
    }),
    echo,
  ),
  // Declared before the literal path that it also matches.
  handle(
    endpoint({
      ...shared,
      id: 'kites.get',
      method: 'get',
      path: '/v1/kites/{kite_id}',
      params: z.object({ kite_id: z.string().max(10) }),
      query: z.object({ limit: z.coerce.number().int().min(1).max(10).default(5) }),
      status: 200,
      reply: z.object({ kite_id: z.string(), limit: z.int() }),
    }),
    async ({ params: { kite_id }, query: { limit } }) => ({ kite_id, limit, secret: SECRET }),
  ),
  handle(
    endpoint({
      ...shared,
      id: 'kites.costs',
      method: 'get',
      path: '/v1/kites/costs',
      status: 200,
      reply: z.object({ total: z.string() }),
    }),
    async () => ({ total: '0' }),
  ),
  handle(
    endpoint({
      ...shared,
      id: 'kites.delete',
      method: 'delete',
      path: '/v1/kites/{kite_id}',
      params: z.object({ kite_id: z.string() }),
      status: 204,
      reply: NO_CONTENT,
    }),
    async ({ params: { kite_id } }) => {
      if (kite_id === 'broken') throw Object.assign(new Error(SECRET), { status: 404, statusCode: 404 });
      if (kite_id === 'multipart') throw new Error(`multipart upload to ${SECRET} failed`);
      if (kite_id === 'unknown') throw new Problem('not_found');
    },
  ),
  handle(
    endpoint({
      ...shared,
      id: 'kites.lie',
      method: 'get',
      path: '/v1/lie',
      status: 200,
      reply: z.object({ count: z.int() }),
    }),
    async () => ({ count: SECRET as unknown as number }),
  ),
  handle(
    endpoint({ ...posted, id: 'kites.upload', path: '/v1/upload', upload: oneBytes, reply: Anything }),
    async ({ file: uploaded }) => ({ seen: uploaded && { ...uploaded, bytes: uploaded.bytes.toString() } }),
  ),
  handle(
    endpoint({ ...shared, id: 'kites.file', method: 'get', path: '/v1/file', status: 200, reply: BINARY }),
    async () => file(),
  ),
];

const authenticate = async (_credential: string, { headers }: express.Request) => {
  if (headers.authorization === 'Bearer old') throw new Problem('api_key_revoked');
  if (headers.authorization !== KEY) throw new Problem('invalid_api_key');
  return caller;
};

let server: Server;
let base: string;
beforeAll(async () => {
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const app = express();
  app.use(createSurface({ routes, authenticate }), notFound, errorHandler(log));
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function call(
  method: string,
  path: string,
  init: { body?: string | FormData; type?: string; key?: string } = {},
) {
  const { body, type = 'application/json', key = KEY } = init;
  const headers: Record<string, string> = { authorization: key };
  if (typeof body === 'string') headers['content-type'] = type;
  const response = await fetch(base + path, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
}
const post = (path: string, body: string) => call('POST', path, { body });

describe('routing', () => {
  // Guards: what is not an endpoint is 404 in one form, with or without a key, and tells nothing of what exists.
  test.each([
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/kites'],
    ['OPTIONS', '/v1/kites'],
    ['GET', '/V1/KITES/costs'],
  ])('%s %s is 404', async (method, path) => {
    for (const key of [KEY, 'Bearer bad']) {
      expect(await call(method, path, { key })).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    }
  });

  // Guards: `/kites/costs` is not taken for the kite called "costs", whatever the order of declaration.
  test('a literal path wins over a parameter', async () => {
    expect((await call('GET', '/v1/kites/costs')).body).toEqual({ total: '0' });
  });
});

describe('credential', () => {
  // Guards: plain-text 401s of the key guard, before anything else of the request is looked at.
  test.each([
    ['Bearer bad', 'invalid api key'],
    ['Bearer old', 'api key revoked'],
  ])('%s', async (key, text) => {
    const reply = await call('POST', '/v1/kites', { key, body: '{ not json' });
    expect(reply).toMatchObject({ status: 401, body: text });
    expect(reply.headers.get('content-type')).toMatch(/^text\/plain/);
  });
});

describe('body', () => {
  // Guards: what is no JSON is a 400 of its own, whatever type it claims to be.
  test.each(['{', '{"name":', 'name=kite', '<xml/>', '{"name":"a"}{'])('malformed: %s', async (body) => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const reply = await call('POST', '/v1/kites', { body, type });
      expect(reply).toMatchObject({ status: 400, body: { detail: 'malformed JSON body' } });
    }
  });

  // Guards: encodings we cannot read are the caller's mistake, not ours.
  test('unreadable charset and compression are 400', async () => {
    const charset = await call('POST', '/v1/kites', { body: '{}', type: 'application/json; charset=nonsense' });
    expect(charset).toMatchObject({ status: 400, body: { detail: 'malformed request' } });
    const response = await fetch(`${base}/v1/kites`, {
      method: 'POST',
      headers: { authorization: KEY, 'content-encoding': 'gzip', 'content-type': 'application/json' },
      body: 'this is not gzip',
    });
    expect([response.status, await response.json()]).toEqual([400, { detail: 'malformed request' }]);
  });

  // Guards: 1 MB is the most that is read.
  test('larger than 1 MB is 413', async () => {
    const fits = JSON.stringify({ name: 'a'.repeat(1024 * 1024 - 11) });
    expect(await post('/v1/kites', fits)).toMatchObject({ status: 200 });
    expect(await post('/v1/kites', ` ${fits}`)).toMatchObject({ status: 413, body: { detail: 'payload_too_large' } });
  });

  // Guards: every fault is listed with its place, as the specification lays it out.
  test('422 lists the faults', async () => {
    expect(await post('/v1/kites', '{"name": 1, "tags": ["a", 2]}')).toMatchObject({
      status: 422,
      body: {
        detail: [
          { loc: ['body', 'name'], msg: expect.any(String), type: 'invalid_type' },
          { loc: ['body', 'tags', 1], msg: expect.any(String), type: 'invalid_type' },
        ],
      },
    });
    expect((await call('POST', '/v1/kites')).body.detail).toMatchObject([{ loc: ['body', 'name'] }]);
    expect((await call('GET', '/v1/kites/0123456789x?limit=0')).body.detail).toMatchObject([
      { loc: ['path', 'kite_id'], type: 'too_big' },
      { loc: ['query', 'limit'], type: 'too_small' },
    ]);
  });

  // Guards: endpoints that promise 400 give one sentence.
  test('400 says what is wrong', async () => {
    expect(await post('/v1/strict', '{}')).toMatchObject({ status: 400, body: { detail: 'name required' } });
    expect(await post('/v1/strict', '[]')).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
  });

  // Guards: a body of nothing but mistakes costs neither the process nor a reply many times its size.
  test('the faults listed are limited', async () => {
    const reply = await post('/v1/kites', `{"name":"a","tags":[${'1,'.repeat(400_000)}1]}`);
    expect(reply.status).toBe(422);
    expect(reply.body.detail.length).toBeLessThanOrEqual(50);
  });
});

describe('hostile values', () => {
  // Guards: nothing that Postgres cannot store gets as far as a handler, wherever it hides.
  test.each([
    ['NUL', '{"name":"a\\u0000b"}', ['body', 'name']],
    ['lone surrogate', '{"name":"\\ud800"}', ['body', 'name']],
    ['NUL in an unknown field', '{"name":"a","x":{"y":["\\u0000"]}}', ['body', 'x', 'y', '0']],
    ['NUL in a key', '{"name":"a","x":{"\\u0000":1}}', ['body', 'x']],
    ['lone surrogate in a key', '{"name":"a","\\udfff":1}', ['body']],
  ])('%s is 422', async (_name, body, loc) => {
    expect(await post('/v1/kites', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc, type: 'unstorable' }] },
    });
    expect(seen).toBeUndefined();
  });

  // Guards: the same in addresses, where decoding has made the character.
  test('NUL in path and query is 422', async () => {
    expect(await call('GET', '/v1/kites/a%00b')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['path', 'kite_id'] }] },
    });
    expect(await call('GET', '/v1/kites/a?limit=1&x=%00')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'x'] }] },
    });
  });

  // Guards: broken percent-encoding is a 400, not a crash.
  test('broken percent-encoding is 400', async () => {
    expect(await call('GET', '/v1/kites/%E0%A4%A')).toMatchObject({
      status: 400,
      body: { detail: 'malformed request' },
    });
  });

  // Guards: depth cannot exhaust the stack of any parser behind this.
  test.each([
    ['arrays', `{"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}`],
    ['objects', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`],
    ['65 levels', `{"x":${'['.repeat(65)}${']'.repeat(65)}}`],
  ])('deep %s are 422', async (_name, body) => {
    const reply = await post('/v1/loose', body);
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ type: 'unstorable' }] } });
  });

  // Guards: what a person might nest still goes through.
  test('reasonable depth is accepted', async () => {
    expect(await post('/v1/loose', `{"x":${'['.repeat(50)}${']'.repeat(50)}}`)).toMatchObject({ status: 200 });
  });

  // Guards: no request can give every object of the process a property.
  test('__proto__ pollutes nothing', async () => {
    const body = '{"name":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    for (const path of ['/v1/kites', '/v1/loose']) {
      expect(await post(path, body)).toMatchObject({ status: 200 });
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      expect((seen as { polluted?: number }).polluted).toBeUndefined();
    }
    await call('GET', '/v1/kites/a?__proto__[polluted]=1&__proto__=1');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  // Guards: numbers that JavaScript cannot hold are refused where an integer is asked for.
  test.each(['9007199254740993', '1e999', '-1e999', '1.5', '"1"', 'null', 'true'])('size %s is 422', async (size) => {
    expect(await post('/v1/kites', `{"name":"a","size":${size}}`)).toMatchObject({ status: 422 });
  });
  test.each(['-1', '0', '11', '1e999', '', 'abc', '1&limit=2', '99999999999999999999'])(
    'limit=%s is 422',
    async (limit) => {
      expect(await call('GET', `/v1/kites/a?limit=${limit}`)).toMatchObject({ status: 422 });
    },
  );
});

describe('reply', () => {
  // Guards: a field that the contract does not name never leaves; unknown query parameters are ignored.
  test('undeclared fields are stripped', async () => {
    expect((await call('GET', '/v1/kites/a?limit=7&other=1')).body).toEqual({ kite_id: 'a', limit: 7 });
  });

  // Guards: a reply that breaks its contract is our fault, and says nothing about itself.
  test('a broken contract is 500', async () => {
    const reply = await call('GET', '/v1/lie');
    expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
    expect(lines.join()).toContain('kites.lie breaks its contract');
  });

  // Guards: an unexpected error becomes 500 without a word of it, even when a library gave it a status of its own.
  test.each(['broken', 'multipart'])('an unexpected error leaks nothing: %s', async (id) => {
    const reply = await call('DELETE', `/v1/kites/${id}`);
    expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
    expect(JSON.stringify([...reply.headers])).not.toContain('hunter2');
    expect(lines.join()).toContain('request failed');
  });

  // Guards: problems are no incidents; they are answered and not logged as errors.
  test('a problem keeps its status, and a reply without body has none', async () => {
    expect(await call('DELETE', '/v1/kites/unknown')).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    expect(await call('DELETE', '/v1/kites/a')).toMatchObject({ status: 204, body: '' });
    expect(lines).toEqual([]);
  });
});

describe('files', () => {
  const form = (name: string, text: string, filename = 'kite.txt') => {
    const data = new FormData();
    data.append(name, new Blob([text]), filename);
    return data;
  };
  const upload = (body: string | FormData, type?: string) =>
    call('POST', '/v1/upload', { body, ...(type && { type }) });

  // Guards: the one file arrives whole, under the name that it was given.
  test('upload', async () => {
    const { body } = await upload(form('file', 'string', 'Drache-ä.txt'));
    expect(body.seen).toEqual({ filename: 'Drache-ä.txt', bytes: 'string' });
    expect((await upload('{}')).body).toEqual({});
  });

  // Guards: limits and malformed multipart are the caller's doing.
  test('refused uploads', async () => {
    expect(await upload(form('file', 'a'.repeat(1_001)))).toMatchObject({
      status: 413,
      body: { detail: 'payload_too_large' },
    });
    expect(await upload(form('other', 'a'))).toMatchObject({ status: 400 });
    const two = form('file', 'a');
    two.append('file', new Blob(['b']), 'b.txt');
    expect(await upload(two)).toMatchObject({ status: 400 });
    const type = 'multipart/form-data; boundary=x';
    for (const [body, contentType] of [
      ['--x\r\nbroken', type],
      ['--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ntext', type],
      ['--x\r\nno colon\r\n\r\ntext\r\n--x--\r\n', type],
      ['text', 'multipart/form-data'],
    ] as const) {
      expect(await upload(body, contentType)).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
    }
  });

  // Guards: a file name is stored like any other text, and text that cannot be stored does not get that far.
  test('a file name is storable', async () => {
    const part = `--x\r\nContent-Disposition: form-data; name="file"; filename*=utf-8''a%00b%0D.txt\r\n\r\ntext\r\n--x--\r\n`;
    const { body } = await upload(part, 'multipart/form-data; boundary=x');
    expect(body.seen).toEqual({ filename: 'ab.txt', bytes: 'text' });
  });

  // Guards: the content type comes from the content, never from the name that a tenant chose.
  test('download', async () => {
    file = () => ({ contentType: 'image/png', body: Readable.from(['bytes']), sizeBytes: 5, filename: 'a.html' });
    const reply = await call('GET', '/v1/file');
    expect(reply).toMatchObject({ status: 200, body: 'bytes' });
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '5',
      'content-disposition': 'attachment; filename=a.html',
      'x-content-type-options': 'nosniff',
    });
  });

  // Guards: an empty file is a file.
  test('empty download', async () => {
    file = () => ({ contentType: 'image/png', body: Readable.from([]) });
    expect(await call('GET', '/v1/file')).toMatchObject({ status: 200, body: '' });
  });

  // Guards: a file that cannot be opened is a proper 500; one that breaks off ends the connection, not the process.
  test('failing downloads', async () => {
    const failing = async function* (...parts: string[]) {
      yield* parts;
      throw new Error(SECRET);
    };
    file = () => ({ contentType: 'image/png', body: Readable.from(failing()), sizeBytes: 5, filename: 'a.png' });
    const reply = await call('GET', '/v1/file');
    expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
    expect(reply.headers.get('content-disposition')).toBeNull();

    file = () => ({ contentType: 'image/png', body: Readable.from(failing('by')), sizeBytes: 5 });
    await expect(call('GET', '/v1/file')).rejects.toThrow();
    expect((await call('GET', '/v1/kites/costs')).status).toBe(200);
  });
});

// Guards: a client that goes away in the middle of its body leaves a service that works.
test('an aborted request', async () => {
  const headers = { authorization: KEY, 'content-type': 'application/json', 'content-length': '100' };
  const aborted = request(`${base}/v1/kites`, { method: 'POST', headers });
  const gone = new Promise((resolve) => aborted.once('error', resolve));
  const arrived = new Promise((resolve) => server.once('request', resolve));
  aborted.write('{"name":');
  await arrived;
  aborted.destroy(new Error('gone'));
  await gone;
  expect((await call('GET', '/v1/kites/costs')).status).toBe(200);
});
