import { expect, test } from '@jest/globals';
import { madeIn, summaryOf, targetOf } from '../../../src/resources/audit-log/model.ts';

// Guards: names that hide what they name, and those that only look like one of them.
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

// Guards: addresses, whose path, query and user are secrets as often as not.
test.each([
  ['https://user:canary@hooks.example.com/services/canary?k=canary#canary', 'https://hooks.example.com/***'],
  ['postgres://user:canary@db:5432/canary', 'postgres://db:5432/***'],
  ['  HTTPS://example.com', 'https://example.com/***'],
  ['http://[canary', '***'],
  ['not an address', 'not an address'],
])('summary of the address %s', (url, kept) => {
  expect(summaryOf({ url, list: [url] })).toEqual({ url: kept, list: [kept] });
});

// Guards: a body of any size and form becomes a row of a bounded size that Postgres takes, and never a failure.
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

// Guards: which one it was, by what the address says and what the reply calls it.
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
