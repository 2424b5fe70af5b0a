import { expect, test } from '@jest/globals';
import { madeIn, summaryOf, targetOf } from '../../../src/resources/audit-log/model.ts';

// Guards: names that mark secrets are recognised, and names that only look like them are not.
test.each([
  [{ api_key: 'x', openaiKey: 'x', client_secret: 'x', webhook_token: 'x' }, '***'],
  [
    { prompt: 'x', session_prompt: 'x', content: 'x', body: { a: 1 }, prompt_addendum: 'x', notes: ['x'], env: {} },
    '***',
  ],
  [{ code: 123_456, value: 7, text: 'x', headers: {}, argv: ['x'], meta: {}, spec: {} }, '***'],
  [{ config: { openai: { api_key: 'x' } } }, { openai: { api_key: '***' } }],
  [{ description: 'x', model: 'x', agent_slug: 'x', mode: 'x', name: 'x', target: 'x' }, 'x'],
  [{ prompt: null, value: null }, null],
  [{ has_token: true, reset_password: true }, true],
])('summary of %j', (body, each) => {
  expect(summaryOf(body)).toEqual(Object.fromEntries(Object.keys(body).map((name) => [name, each])));
});

// Guards against: secrets in the path, query or user of an address.
test.each([
  ['https://user:canary@hooks.example.com/services/canary?k=canary#canary', 'https://hooks.example.com/***'],
  ['postgres://user:canary@db:5432/canary', 'postgres://db:5432/***'],
  ['  HTTPS://example.com', 'https://example.com/***'],
  ['http://[canary', '***'],
  ['not an address', 'not an address'],
])('summary of the address %s', (url, kept) => {
  expect(summaryOf({ url, list: [url] })).toEqual({ url: kept, list: [kept] });
});

// Guards: a body of any size and form becomes an entry of bounded size that Postgres accepts.
test('a summary is small', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name${n}`, 'v'.repeat(1_000)]));
  let deep: unknown = 'end';
  for (let n = 0; n < 1_000; n++) deep = { deep };
  const split = `${'x'.repeat(199)}\u{1f600}${'y'.repeat(1_000)}`;
  for (const body of [wide, { wide, more: [wide, wide] }, { deep }, { split }, { list: new Array(1e5).fill(split) }]) {
    const text = JSON.stringify(summaryOf(body));
    expect(text.length).toBeLessThan(10_000);
    expect(text.isWellFormed() && !/\\ud83d/.test(text)).toBe(true);
  }
  expect(summaryOf(JSON.parse('{"__proto__":{"a":1},"b":2}'))).toMatchObject({ b: 2 });
  for (const none of [undefined, null, 'text', 7, [1]]) expect(summaryOf(none)).toEqual({});
});

// Guards: the entry names the changed thing by its address or by the id in the reply.
test('targets', () => {
  expect(targetOf({ slug: 'a', key: 'b', n: 5 }, { scope: 'c'.repeat(300), none: undefined })).toEqual({
    slug: 'a',
    key: 'b',
    n: 5,
    scope: expect.stringMatching(/^c{200}…$/),
  });
  expect([madeIn({ id: 3, key: 'x' }), madeIn({ id: 'a' }), madeIn({ id: {} }), madeIn(undefined)]).toEqual([
    ...[{ id: 3 }, { id: 'a' }, {}, {}],
  ]);
});
