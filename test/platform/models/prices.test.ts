import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readCatalogue, TIERS } from '../../../src/platform/models/known-models.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createPrices } from '../../../src/platform/models/prices.ts';

const price = createPrices(readCatalogue({}));
const pricesOf = (file: string) => createPrices(readCatalogue({ MODEL_PRICES: file }));
const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };

const priceFile = (content: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'prices-')), 'prices.json');
  writeFileSync(path, content);
  return path;
};

// Guards: what is preferred has a price; a model without one could not run under a budget.
test.each((['anthropic', 'openai'] as const).flatMap((provider) => TIERS.map((tier) => [provider, tier] as const)))(
  'knows the price of what is preferred: %s, %s',
  (provider, tier) => {
    const model = present(readCatalogue({}).preferred(tier, provider));
    expect(price({ model, provider }, { inputTokens: 1_000, outputTokens: 1_000 })).toMatch(/^\d+\.\d{1,8}$/);
  },
);

// Guards: money is a plain decimal with at most eight places, without an exponent, and a tiny amount is not rounded to
// 0.
test('writes plain decimals', () => {
  const offline = { model: 'offline', provider: 'offline' } as const;
  expect(price(offline, million)).toBe('0.5');
  expect(price(offline, { inputTokens: 1, outputTokens: 0 })).toBe('0.0000001');
  expect(price(offline, { inputTokens: 123_456, outputTokens: 789 })).toBe('0.0126612');
  expect(price(offline, { inputTokens: 0, outputTokens: 0 })).toBe('0');
  expect(price(offline, { inputTokens: 100_000_000, outputTokens: 0 })).toBe('10');
  expect(price({ model: 'claude-haiku-4-5', provider: 'anthropic' }, { inputTokens: 1_000, outputTokens: 100 })).toBe(
    '0.0015',
  );
});

// Guards: an unknown price stays unknown, and is never that of a model with a similar name.
test('gives null where no price is known', () => {
  expect(price({ model: 'claude-next', provider: 'anthropic' }, million)).toBeNull();
  expect(price({ model: 'claude-sonnet-5-5', provider: 'anthropic' }, million)).toBeNull();
  expect(price({ model: 'llama-9', provider: 'openai-compatible' }, million)).toBeNull();
  expect(
    price({ model: 'claude-sonnet-4-5-20250929', provider: 'anthropic' }, { inputTokens: 1_000, outputTokens: 0 }),
  ).toBe('0.003');
});

// Guards: the managed model router has OpenRouter's prices; somebody's own server with models of the same names does
// not.
test('takes the prices of the model router', () => {
  const model = { model: 'anthropic/claude-sonnet-4.5', provider: 'openai-compatible' } as const;
  expect(price(model, { inputTokens: 1_000, outputTokens: 100 }, { isRouter: true })).toBe('0.0045');
  expect(price(model, million)).toBeNull();
  expect(price({ ...model, model: 'openrouter/auto' }, million, { isRouter: true })).toBeNull();
});

// Guards: an operator's prices win over the packaged ones and over the offline model's.
test('takes the prices of a file', () => {
  const own = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
  const priced = pricesOf(priceFile(JSON.stringify({ 'llama-9': own, 'claude-sonnet-5': own, offline: own })));
  expect(priced({ model: 'llama-9', provider: 'openai-compatible' }, million)).toBe('3');
  expect(priced({ model: 'claude-sonnet-5', provider: 'anthropic' }, million)).toBe('3');
  expect(priced({ model: 'offline', provider: 'offline' }, million)).toBe('3');
  expect(priced({ model: 'gpt-6-sol', provider: 'openai' }, { inputTokens: 1_000, outputTokens: 0 })).toBe('0.002');
});

// Guards: what came from a provider's cache, or went into it, has its own price, here and in an operator's file; where
// no such price is said it costs what other input does.
test('prices what is cached', () => {
  const cached = { inputTokens: 100_000, outputTokens: 10, cacheReadTokens: 90_000 };
  expect(price({ model: 'gpt-5.5', provider: 'openai' }, cached)).toBe('0.0953');
  const claude = { model: 'claude-sonnet-4-5', provider: 'anthropic' } as const;
  expect(price(claude, cached)).toBe('0.05715');
  expect(price(claude, { inputTokens: 100_000, outputTokens: 10, cacheWriteTokens: 90_000 })).toBe('0.36765');
  const own = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
  const file = { plain: own, cached: { ...own, cache_read_usd_per_mtok: 0.1, cache_write_usd_per_mtok: 1.25 } };
  const priced = pricesOf(priceFile(JSON.stringify(file)));
  const some = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 500_000, cacheWriteTokens: 200_000 };
  expect(priced({ model: 'plain', provider: 'openai-compatible' }, some)).toBe('1');
  expect(priced({ model: 'cached', provider: 'openai-compatible' }, some)).toBe('0.6');
});

// Guards: a bad price file stops the start with the file's name and the fault, so that no call is priced at nothing.
test.each([
  ['no JSON', '{'],
  ['a missing price', '{"m": {"input_usd_per_mtok": 1}}'],
  ['a negative price', '{"m": {"input_usd_per_mtok": -1, "output_usd_per_mtok": 1}}'],
  ['a misspelt field', '{"m": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1, "outptu": 1}}'],
])('refuses a file with %s', (_, content) => {
  const path = priceFile(content);
  expect(() => pricesOf(path)).toThrow(/^MODEL_PRICES: .*prices\.json/);
});
