import { expect, test } from '@jest/globals';
import { modelOfTier } from '../../../src/platform/models/catalogue.ts';
import { readCatalogue } from '../../../src/platform/models/known-models.ts';
import { resolveModel } from '../../../src/platform/models/resolve.ts';
import { PROVIDER_NAMES, type ModelCredentials, type ModelRequest } from '../../../src/platform/models/types.ts';

const catalogue = readCatalogue({});
const none: ModelCredentials = {};
const anthropic: ModelCredentials = { anthropic: 'key' };
const openai: ModelCredentials = { openai: 'key' };
const compatible: ModelCredentials = { 'openai-compatible': { baseUrl: 'http://localhost/v1', model: 'gpt-oss-20b' } };

const wish = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'claude-sonnet-5',
  prompt: 'hello',
  ...given,
});
const middling = 'x'.repeat(1_000);
const long = 'x'.repeat(10_000);

type Resolving = [what: string, Partial<ModelRequest>, ModelCredentials, Record<string, unknown>];

// Guards: the rules have the right order, from an enforced model down to the fallback.
test.each<Resolving>([
  [
    "the agent's model",
    {},
    anthropic,
    { model: 'claude-sonnet-5', provider: 'anthropic', tier: 'standard', rule: 'agent_default' },
  ],
  [
    'its default model',
    { defaultModel: 'claude-opus-5-5' },
    anthropic,
    { model: 'claude-opus-5-5', tier: 'deep', rule: 'agent_default' },
  ],
  ['an override', { override: 'claude-haiku-4-5' }, anthropic, { model: 'claude-haiku-4-5', rule: 'override' }],
  [
    'an override at another provider',
    { override: 'gpt-6-sol' },
    { ...anthropic, ...openai },
    { provider: 'openai', rule: 'override' },
  ],
  [
    'an enforced model',
    { enforce: true, override: 'claude-haiku-4-5' },
    anthropic,
    { model: 'claude-sonnet-5', rule: 'agent_enforced', enforce: true },
  ],
  [
    'an enforced default',
    { enforce: true, defaultModel: 'claude-opus-5' },
    anthropic,
    { model: 'claude-opus-5', rule: 'agent_enforced' },
  ],
  [
    'enforced auto',
    { enforce: true, model: 'auto', override: 'gpt-6-sol' },
    anthropic,
    { rule: 'auto_short_prompt', enforce: true },
  ],
  ['auto, short', { model: 'auto' }, anthropic, { model: 'claude-haiku-4-5', tier: 'fast', rule: 'auto_short_prompt' }],
  [
    'auto, middling',
    { model: 'auto', prompt: middling },
    anthropic,
    { model: 'claude-sonnet-5', tier: 'standard', rule: 'auto_standard' },
  ],
  [
    'auto, long',
    { override: 'auto', prompt: long },
    openai,
    { model: 'gpt-6-astra', tier: 'deep', rule: 'auto_long_prompt' },
  ],
  [
    'auto, reasoning',
    { selectionMode: 'auto', reasoning: true },
    anthropic,
    { tier: 'deep', rule: 'auto_reasoning', reasoning: true },
  ],
  [
    'another provider',
    { isBuiltin: true },
    openai,
    { model: 'gpt-6-sol', tier: 'standard', rule: 'agent_default_fallback' },
  ],
  [
    'same tier elsewhere',
    { model: 'claude-haiku-4-5', isBuiltin: true },
    openai,
    { model: 'gpt-6-luna', tier: 'fast', rule: 'agent_default_fallback' },
  ],
  [
    'compatible alone',
    { model: 'claude-opus-5', isBuiltin: true },
    compatible,
    { model: 'gpt-oss-20b', provider: 'openai-compatible', tier: 'deep', rule: 'agent_default_fallback' },
  ],
  [
    'compatible, auto',
    { model: 'auto' },
    compatible,
    { model: 'gpt-oss-20b', tier: 'fast', rule: 'auto_short_prompt' },
  ],
  [
    "compatible's own id",
    { override: 'gpt-oss-20b' },
    { ...openai, ...compatible },
    { provider: 'openai-compatible', rule: 'override' },
  ],
  [
    'an unknown id there',
    { override: 'llama-9' },
    compatible,
    { model: 'llama-9', provider: 'openai-compatible', tier: 'standard' },
  ],
  [
    'an unknown claude',
    { override: 'claude-next' },
    anthropic,
    { model: 'claude-next', provider: 'anthropic', contextWindow: 200_000 },
  ],
  // https://github.com/lofcz/LLMTornado/issues/140: what is OpenAI's goes to no other server.
  ...['ft:gpt-4o-mini-2024-07-18:acme::abc123', 'chatgpt-4o-latest', 'codex-mini-latest', 'computer-use-preview'].map(
    (id): Resolving => [
      `${id} of an agent`,
      { model: id },
      { ...openai, ...compatible },
      { model: id, provider: 'openai', rule: 'agent_default' },
    ],
  ),
  [
    'open weights of OpenAI, which others serve',
    { model: 'openai/gpt-oss-120b' },
    { ...openai, ...compatible },
    { provider: 'openai-compatible' },
  ],
  [
    'the same without its maker',
    { model: 'gpt-oss-120b' },
    { ...openai, ...compatible },
    { provider: 'openai-compatible' },
  ],
  ['an unknown o-model', { override: 'o9-mini' }, openai, { model: 'o9-mini', provider: 'openai' }],
  [
    'a snapshot',
    { override: 'claude-haiku-4-5-20251001' },
    anthropic,
    { model: 'claude-haiku-4-5-20251001', tier: 'fast' },
  ],
  ['nothing configured', {}, none, { model: 'offline', provider: 'offline', tier: 'offline', rule: 'offline' }],
  ['nothing, with override', { override: 'gpt-6-sol' }, none, { model: 'offline', rule: 'offline' }],
  ['nothing, enforced', { enforce: true }, none, { model: 'offline', rule: 'offline', enforce: true }],
  ['offline by override', { override: 'offline' }, anthropic, { model: 'offline', rule: 'override' }],
  ['offline by override, nothing configured', { override: 'offline' }, none, { model: 'offline', rule: 'override' }],
  ['offline by the agent', { model: 'offline' }, anthropic, { model: 'offline', rule: 'agent_default' }],
])('resolves %s', (_, given, credentials, expected) => {
  expect(resolveModel(wish(given), credentials, catalogue)).toMatchObject(expected);
});

// Guards: a model that was asked for by name is refused, not silently replaced, and the refusal says what to set.
test.each<[string, Partial<ModelRequest>]>([
  ['an override', { override: 'gpt-6-sol' }],
  ['an enforced model', { model: 'gpt-6-sol', enforce: true }],
  ['the model of an agent', { model: 'gpt-6-sol' }],
  ['the default model of an agent', { defaultModel: 'gpt-6-sol' }],
  ['an override, at a built-in agent', { override: 'gpt-6-sol', isBuiltin: true }],
])('refuses %s whose provider is not configured', (_, given) => {
  expect(() => resolveModel(wish(given), anthropic, catalogue)).toThrow(
    expect.objectContaining({
      code: 'model_not_configured',
      retryable: false,
      message: expect.stringContaining('OPENAI_API_KEY'),
    }),
  );
});

// Guards: every provider can serve every tier, so that auto and the fallback always find a model.
test('has a model of each tier at each provider', () => {
  const azure = { apiKey: 'key', baseUrl: 'http://localhost/openai', model: 'gpt-at-azure' };
  const all = { ...anthropic, ...openai, ...compatible, 'azure-openai': azure };
  for (const provider of PROVIDER_NAMES) {
    for (const tier of ['fast', 'standard', 'deep'] as const)
      expect(modelOfTier(tier, provider, all, catalogue)).toMatchObject({ provider, tier });
  }
});

// Guards: a workspace with its own key pays with that key, and an agent's model by name is not changed by it.
test("a workspace's own credential goes before the deployment's", () => {
  const given: ModelCredentials = { ...anthropic, ...openai, ...compatible, own: ['openai'] };
  expect(resolveModel(wish({ model: 'auto' }), given, catalogue)).toMatchObject({
    provider: 'openai',
    rule: 'auto_short_prompt',
  });
  expect(resolveModel(wish(), given, catalogue)).toMatchObject({ provider: 'anthropic', rule: 'agent_default' });
  expect(
    resolveModel(wish({ isBuiltin: true }), { ...openai, ...compatible, own: ['openai-compatible'] }, catalogue),
  ).toMatchObject({
    provider: 'openai-compatible',
    rule: 'agent_default_fallback',
  });
});
