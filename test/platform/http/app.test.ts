/** What every endpoint has in common, over real HTTP: credential, body, reply check, error body. */
import { describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { z } from 'zod';
import { Problem } from '../../../src/platform/core/problem.ts';
import { endpoint, handle, NO_CONTENT } from '../../../src/platform/http/endpoint.ts';
import { KEY, serve } from './serve.ts';

const SECRET = 'postgres://service:hunter2@db/aos';
const shared = { surface: 'public', credential: 'api-key', summary: 'Test' } as const;
const posted = { ...shared, method: 'post', status: 200 } as const;

const echo = async ({ body }: { body: unknown }) => ({ seen: body });
const Anything = z.object({ seen: z.unknown() });

const served = serve([
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
      if (kite_id === 'down') throw new Problem('runtime_unreachable', undefined, new Error(SECRET));
      if (kite_id === 'refused') throw Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' });
      if (kite_id === 'away')
        throw new DrizzleQueryError('select 1', [], Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' }));
      if (kite_id === 'full')
        throw new DrizzleQueryError('insert', [], Object.assign(new Error(SECRET), { code: '53100' }));
      if (kite_id === 'full-disk') throw new Error(SECRET, { cause: Object.assign(new Error(), { code: 'ENOSPC' }) });
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
]);
const { call, lines } = served;
const post = (path: string, body: string) => call('POST', path, { body });

describe('routing', () => {
  // Guards: an unknown address is a 404 in one form, with or without a key, and tells nothing of what exists.
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

  // Guards: a method that is not declared does not exist, although the framework would answer HEAD like GET.
  test('HEAD of a GET endpoint is 404', async () => {
    for (const key of [KEY, 'Bearer bad']) expect((await call('HEAD', '/v1/kites/costs', { key })).status).toBe(404);
  });

  // Guards: the literal path `/kites/costs` is not mistaken for the kite called "costs", whatever the order of
  // declaration.
  test('a literal path wins over a parameter', async () => {
    expect((await call('GET', '/v1/kites/costs')).body).toEqual({ total: '0' });
  });
});

describe('credential', () => {
  // Guards: the key guard sends its plain-text 401 before anything else of the request is read.
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
  // Guards: a body that is no JSON gets its own 400, whatever content type it claims.
  test.each(['{', '{"name":', 'name=kite', '<xml/>', '{"name":"a"}{'])('malformed: %s', async (body) => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const reply = await call('POST', '/v1/kites', { body, type });
      expect(reply).toMatchObject({ status: 400, body: { detail: 'malformed JSON body' } });
    }
  });

  // Guards: an encoding that the service cannot read is the caller's mistake.
  test('unreadable charset and compression are 400', async () => {
    const charset = await call('POST', '/v1/kites', { body: '{}', type: 'application/json; charset=nonsense' });
    expect(charset).toMatchObject({ status: 400, body: { detail: 'the charset of a JSON body must be utf-8' } });
    const response = await fetch(`${served.base}/v1/kites`, {
      method: 'POST',
      headers: { authorization: KEY, 'content-encoding': 'gzip', 'content-type': 'application/json' },
      body: 'this is not gzip',
    });
    expect([response.status, await response.json()]).toEqual([400, { detail: 'malformed request' }]);
  });

  // Guards: no more than 1 MB of a body is read.
  test('larger than 1 MB is 413', async () => {
    const fits = JSON.stringify({ name: 'a'.repeat(1024 * 1024 - 11) });
    expect(await post('/v1/kites', fits)).toMatchObject({ status: 200 });
    expect(await post('/v1/kites', ` ${fits}`)).toMatchObject({ status: 413, body: { detail: 'payload_too_large' } });
  });

  // Guards: every fault is listed with its place, as the specification says.
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

  // Guards: endpoints that promise 400 answer with one sentence.
  test('400 says what is wrong', async () => {
    expect(await post('/v1/strict', '{}')).toMatchObject({ status: 400, body: { detail: 'name required' } });
    expect(await post('/v1/strict', '[]')).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
  });

  // Guards: a body full of mistakes neither stops the process nor gets an answer many times its size.
  test('the faults listed are limited', async () => {
    const reply = await post('/v1/kites', `{"name":"a","tags":[${'1,'.repeat(90_000)}1]}`);
    expect(reply.status).toBe(422);
    expect(reply.body.detail.length).toBeLessThanOrEqual(50);
  });
});

describe('reply', () => {
  // Guards: a field that the contract does not name is never sent.
  test('undeclared fields are stripped', async () => {
    expect((await call('GET', '/v1/kites/a?limit=7')).body).toEqual({ kite_id: 'a', limit: 7 });
  });

  // Guards: a reply that breaks its contract is a 500 that says nothing of its content.
  test('a broken contract is 500', async () => {
    const reply = await call('GET', '/v1/lie');
    expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
    expect(lines.join()).toContain('kites.lie breaks its contract');
  });

  // Guards: an unexpected error becomes a 500 without its message, even where a library gave it another status.
  test.each(['broken', 'multipart'])('an unexpected error leaks nothing: %s', async (id) => {
    const reply = await call('DELETE', `/v1/kites/${id}`);
    expect(reply).toMatchObject({ status: 500, body: { detail: 'internal_error' } });
    expect(JSON.stringify([...reply.headers])).not.toContain('hunter2');
    expect(lines.join()).toContain('request failed');
  });

  // Guards: an absent database is told apart from a bug, and from another server that refuses a connection.
  test('a database that is away is 503', async () => {
    const reply = await call('DELETE', '/v1/kites/away');
    expect(reply).toMatchObject({ status: 503, body: { detail: 'database_unreachable' } });
    expect(await call('DELETE', '/v1/kites/refused')).toMatchObject({ status: 500 });
  });

  // Guards: a full disk, of this machine or of the database, is answered with its reason.
  test.each(['full', 'full-disk'])('a disk that is full is 507: %s', async (id) => {
    expect(await call('DELETE', `/v1/kites/${id}`)).toMatchObject({ status: 507, body: { detail: 'storage_full' } });
  });

  // Guards: where a dependency fails, its own message goes to the log and to nobody else.
  test('a failure of what is behind us is logged with its cause', async () => {
    const reply = await call('DELETE', '/v1/kites/down');
    expect(reply).toMatchObject({ status: 502, body: { detail: 'runtime_unreachable' } });
    expect(lines.join()).toMatch(/hunter2.*request not served/);
  });

  // Guards: problems are answered and not logged as errors.
  test('a problem keeps its status, and a reply without body has none', async () => {
    expect(await call('DELETE', '/v1/kites/unknown')).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    expect(await call('DELETE', '/v1/kites/a')).toMatchObject({ status: 204, body: '' });
    expect(lines).toEqual([]);
  });
});

// Guards: a client that goes away in the middle of its body leaves a service that works.
test('an aborted request', async () => {
  const headers = { authorization: KEY, 'content-type': 'application/json', 'content-length': '100' };
  const aborted = request(`${served.base}/v1/kites`, { method: 'POST', headers });
  const gone = new Promise((resolve) => aborted.once('error', resolve));
  const arrived = new Promise((resolve) => served.server.once('request', resolve));
  aborted.write('{"name":');
  await arrived;
  aborted.destroy(new Error('gone'));
  await gone;
  expect((await call('GET', '/v1/kites/costs')).status).toBe(200);
});
