/** Values made to do harm, over real HTTP: none gets to a handler, and none is answered by a 500. */
import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint, handle } from '../../../src/platform/http/endpoint.ts';
import { serve } from './serve.ts';

const shared = { surface: 'public', credential: 'api-key', summary: 'Test' } as const;
const posted = { ...shared, method: 'post', status: 200 } as const;

/** What the handler got. */
let seen: unknown;
beforeEach(() => {
  seen = undefined;
});
const echo = async ({ body }: { body: unknown }) => {
  seen = body;
  return { seen: body };
};
const Anything = z.object({ seen: z.unknown() });

const { call } = serve([
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
      ...shared,
      id: 'kites.get',
      method: 'get',
      path: '/v1/kites/{kite_id}',
      params: z.object({ kite_id: z.string().max(10) }),
      query: z.object({ limit: z.coerce.number().int().min(1).max(10).default(5) }),
      status: 200,
      reply: z.object({ kite_id: z.string(), limit: z.int() }),
    }),
    async ({ params: { kite_id }, query: { limit } }) => ({ kite_id, limit }),
  ),
]);
const post = (path: string, body: string) => call('POST', path, { body });

// Guards: text that Postgres cannot store never reaches a handler, wherever it is hidden.
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

// Guards: the same holds in addresses, where decoding produces the character.
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

// Guards: deep nesting cannot exhaust the stack of any parser behind this check.
test.each([
  ['65 levels', `{"x":${'['.repeat(65)}${']'.repeat(65)}}`],
  ['arrays', `{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['arrays, as many as fit,', `{"x":${'['.repeat(99_000)}${']'.repeat(99_000)}}`],
  ['objects, as many as fit,', `${'{"a":'.repeat(99_000)}1${'}'.repeat(99_000)}`],
])('deep %s are 422', async (_name, body) => {
  const reply = await post('/v1/loose', body);
  expect(reply).toMatchObject({ status: 422, body: { detail: [{ type: 'unstorable' }] } });
});

// Guards: more levels than a body may have values are refused before any parser sees them.
test('more levels than values are 413', async () => {
  expect(await post('/v1/loose', `{"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}`)).toMatchObject({ status: 413 });
});

// Guards: nesting that a person might write is accepted.
test('reasonable depth is accepted', async () => {
  expect(await post('/v1/loose', `{"x":${'['.repeat(50)}${']'.repeat(50)}}`)).toMatchObject({ status: 200 });
});

// Guards: no request can add a property to every object of the process.
test('__proto__ pollutes nothing', async () => {
  const body = '{"name":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  for (const [path, status] of [
    ['/v1/kites', 422],
    ['/v1/loose', 200],
  ] as const) {
    expect(await post(path, body)).toMatchObject({ status });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect((seen as { polluted?: number } | undefined)?.polluted).toBeUndefined();
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
