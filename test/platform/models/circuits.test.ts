/** Providers that are out, as one process sees them. */
import { expect, test } from '@jest/globals';
import { createCircuits } from '../../../src/platform/models/circuits.ts';
import { ModelFailure } from '../../../src/platform/models/types.ts';
import { log } from './calls.ts';

const ASKED = { provider: 'anthropic' } as const;
const OUT = new ModelFailure('model_unavailable', 'out', { retryable: true });

function world() {
  let now = 0;
  const circuits = createCircuits(log, () => now);
  const end = (error?: Error, asked: Parameters<typeof circuits.watch>[0] = ASKED, credentials = {}) =>
    circuits.watch(asked, credentials, () => (error ? Promise.reject(error) : Promise.resolve())).catch(() => {});
  return { circuits, end, pass: (ms: number) => (now += ms), isOut: () => circuits.isOut(ASKED, {}) };
}

// Guards: five calls in a row without an answer, and no other sign, say that a provider is out.
test.each([
  ['an answer between', undefined, false],
  [
    'a limit of the rate, which is an answer',
    new ModelFailure('model_rate_limited', 'slow', { retryable: true }),
    false,
  ],
  ['a refusal', new ModelFailure('model_refused_request', 'no'), false],
  ['a cancelled call', new Error('aborted'), true],
  ['nothing else', OUT, true],
])('with %s between', async (_, between, isOut) => {
  const { end, isOut: looks } = world();
  for (const each of [OUT, OUT, between, OUT, OUT, OUT]) await end(each);
  expect(looks()).toBe(isOut);
});

// Guards: from time to time one caller tries it, and only one; its answer tells all others.
test('is tried by one after a while', async () => {
  const { end, isOut, pass } = world();
  for (let call = 0; call < 5; call++) await end(OUT);
  pass(29_999);
  expect(isOut()).toBe(true);
  pass(1);
  expect([isOut(), isOut()]).toEqual([false, true]);
  await end(OUT);
  pass(29_999);
  expect(isOut()).toBe(true);
  pass(1);
  expect(isOut()).toBe(false);
  await end();
  expect([isOut(), isOut()]).toEqual([false, false]);
});

// Guards against: a server of one workspace that has that of another one left alone.
test.each(['openai-compatible', 'azure-openai', 'google'] as const)(
  'addresses of %s are told apart',
  async (provider) => {
    const { circuits, end } = world();
    const at = (host: string) => ({ [provider]: { apiKey: 'k', baseUrl: `https://${host}/v1`, model: 'm' } });
    const asked = { provider };
    for (let call = 0; call < 5; call++) await end(OUT, asked, at('a.example'));
    expect(circuits.isOut(asked, at('a.example'))).toBe(true);
    expect(circuits.isOut(asked, at('b.example'))).toBe(false);
  },
);
