/** What is known of models, from the packaged data and from the operator's file. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/platform/core/config.ts';
import { described, describeModel, modelOfTier } from '../../../src/platform/models/catalogue.ts';
import { readCatalogue } from '../../../src/platform/models/known-models.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { createPrices } from '../../../src/platform/models/prices.ts';
import { call, configFor, KEY, log, server, useProvider } from './calls.ts';
import { answer } from '../../support/fakes/openai-server.ts';

useProvider();

function fileOf(content: unknown, name = 'models.json'): string {
  const path = join(mkdtempSync(join(tmpdir(), 'models-')), name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
const catalogueOf = (content: unknown, name?: string) => readCatalogue({ MODEL_CATALOGUE: fileOf(content, name) });

const packaged = readCatalogue({});

// Guards: windows come from the packaged data, also of a model that no list in the code ever had; the largest output of each
// family is what its maker documents.
test.each([
  ['claude-opus-4-1', 200_000, 32_000],
  ['claude-opus-4-20250514', 200_000, 32_000],
  ['claude-opus-4-5', 200_000, 64_000],
  ['claude-opus-4-8', 1_000_000, 128_000],
  ['claude-sonnet-4-5-20250929', 200_000, 64_000],
  ['claude-sonnet-4-6', 1_000_000, 128_000],
  ['claude-3-haiku-20240307', 200_000, 4_096],
  ['gpt-4.1-mini', 1_000_000, 32_768],
  ['gpt-4o', 128_000, 16_384],
  ['gpt-5.4-nano', 400_000, 128_000],
  ['o4-mini', 200_000, 100_000],
  ['gpt-3.5-turbo', 16_385, 4_096],
])('%s', (id, contextWindow, maxOutput) => {
  expect(describeModel(id, {}, packaged)).toMatchObject({ id, contextWindow, maxOutput });
});

// Guards: only models that write text are offered, and those of the operator's file before all others.
test('ids', () => {
  const ids = packaged.idsOf('openai');
  expect(ids).toEqual(expect.arrayContaining(['gpt-6-sol', 'gpt-5.4-nano', 'o3', 'gpt-4.1']));
  expect(ids.filter((id) => /embed|whisper|tts|image|audio|realtime|moderation|davinci/.test(id))).toEqual([]);
  const own = catalogueOf({ models: [{ id: 'gpt-7', provider: 'openai' }] });
  expect(own.idsOf('openai')).toEqual(['gpt-7', ...ids]);
});

const ENTRY = {
  id: 'claude-next',
  provider: 'openai-compatible',
  tier: 'deep',
  context_window: 32_000,
  max_output: 2_000,
  sees: true,
  efforts: ['low', 'high'],
  price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 },
} as const;
const YAML = `models:
  - { id: claude-next, provider: openai-compatible, tier: deep, context_window: 32000, max_output: 2000, sees: true,
      efforts: [low, high], price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } }
`;

// Guards: the file decides whose a model is, whatever its spelling, and all that is known of it; its dated snapshots too.
test.each([
  ['JSON', { models: [ENTRY] }, 'models.json'],
  ['YAML', YAML, 'models.yaml'],
])('a file of %s', (_, content, name) => {
  const own = catalogueOf(content, name);
  const known = {
    id: 'claude-next',
    provider: 'openai-compatible',
    tier: 'deep',
    contextWindow: 32_000,
    maxOutput: 2_000,
    sees: true,
    efforts: ['low', 'high'],
  };
  expect(describeModel('claude-next', {}, own)).toEqual(known);
  expect(own.describe('claude-next-20261101', 'openai-compatible', 1)).toMatchObject({ maxOutput: 2_000 });
  expect(modelOfTier('deep', 'openai-compatible', {}, own)).toEqual(known);
  const cost = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  expect(createPrices(own)({ model: 'claude-next', provider: 'openai-compatible' }, cost)).toBe('3');
});

// Guards: an entry overrides only what it says.
test('an entry that says one thing', () => {
  const own = catalogueOf({ models: [{ id: 'gpt-4o', provider: 'openai', max_output: 99 }] });
  expect(describeModel('gpt-4o', {}, own)).toMatchObject({ contextWindow: 128_000, maxOutput: 99, sees: true });
});

// Guards: a file that cannot be used stops the start, and names itself and the entry.
test.each<[string, unknown, RegExp]>([
  ['no list', {}, /models: expects a list/],
  ['no id', { models: [{ provider: 'openai' }] }, /models: 0: id: expects the id/],
  ['no provider', { models: [{ id: 'a' }] }, /models: 0: provider: expects one of anthropic/],
  ['a window of none', { models: [ENTRY, { ...ENTRY, id: 'b', context_window: 0 }] }, /models: 1: context_window/],
  [
    'a price below 0',
    { models: [{ ...ENTRY, price: { ...ENTRY.price, input_usd_per_mtok: -1 } }] },
    /models: 0: price/,
  ],
  [
    'an effort of another name',
    { models: [{ ...ENTRY, efforts: ['xhigh'] }] },
    /models: 0: efforts: 0: expects one of none, low/,
  ],
  ['a misspelt field', { models: [{ ...ENTRY, windw: 1 }] }, /models: 0: .*windw/],
  ['a model twice', { models: [ENTRY, ENTRY] }, /openai-compatible has claude-next twice/],
  ['no JSON', '{"models": [', /is not valid JSON/],
])('refuses %s', (_, content, told) => {
  const path = fileOf(content);
  const config = { MODEL_CATALOGUE: path };
  expect(() => readCatalogue(config)).toThrow(ConfigError);
  expect(() => readCatalogue(config)).toThrow(expect.objectContaining({ message: expect.stringContaining(path) }));
  expect(() => readCatalogue(config)).toThrow(told);
});

test('names the line of YAML that is none', () => {
  expect(() => catalogueOf('models:\n  - id: a\n  - {', 'models.yml')).toThrow(
    /models\.yml: line \d is not valid YAML/,
  );
});

// Guards: a file that went bad changes nothing.
test('reload', () => {
  const path = fileOf({ models: [ENTRY] });
  const own = createModels(configFor({ MODEL_CATALOGUE: path }), { log });
  writeFileSync(path, '{"models": [{"id": 1}]}');
  expect(() => own.reload()).toThrow(path);
  expect(own.catalogue().providerOf('claude-next')).toBe('openai-compatible');
  writeFileSync(path, '{"models": []}');
  own.reload();
  expect(own.catalogue().providerOf('claude-next')).toBeUndefined();
});

// Guards against: a deployment whose price is found under one spelling of its id, and all else under another.
test.each(['azure/our-gpt', 'our-gpt'])('an entry of %s', (id) => {
  const price = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
  const path = fileOf({ models: [{ id, provider: 'azure-openai', sees: true, max_output: 7, price }] });
  const azure = { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_DEPLOYMENT: 'our-gpt' };
  const own = createModels(
    configFor({ ...azure, AZURE_OPENAI_BASE_URL: 'https://ours.openai.azure.com/openai', MODEL_CATALOGUE: path }),
    { log },
  );
  const resolved = own.resolve({ model: 'azure/our-gpt', prompt: '' }, own.credentials());
  expect(resolved).toMatchObject({ model: 'azure/our-gpt', provider: 'azure-openai' });
  expect(described(resolved.model, 'azure-openai', own.catalogue())).toMatchObject({ sees: true, maxOutput: 7 });
  expect(Number(own.price(resolved, { inputTokens: 1_000_000, outputTokens: 1_000_000 }))).toBe(3);
});

// Guards: no reply is asked to be longer than its model can make it, which servers refuse.
test('asks for no more than the largest output', async () => {
  const path = fileOf({ models: [{ id: 'local-1', provider: 'openai-compatible', max_output: 64 }] });
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.baseUrl, OPENAI_COMPATIBLE_API_KEY: KEY };
  const own = createModels(configFor({ ...env, OPENAI_COMPATIBLE_MODEL: 'local-1', MODEL_CATALOGUE: path }), { log });
  for (const [maxOutputTokens, sent] of [
    [100, 64],
    [10, 10],
  ] as const) {
    server.script(answer('Hi'));
    await call({ maxOutputTokens }, own);
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: sent });
  }
});
