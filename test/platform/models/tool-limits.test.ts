import { expect, test } from '@jest/globals';
import { mostTools } from '../../../src/platform/models/tool-limits.ts';

// Guards: the numbers that providers document, and that no other server is taken for one of them.
test.each([
  ['https://api.openai.com/v1', 128],
  ['https://acme.openai.azure.com/openai/v1', 128],
  ['https://api.deepseek.com', 128],
  ['https://api.groq.com/openai/v1', 128],
  ['https://api.x.ai/v1', 200],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 512],
  ['https://openrouter.ai/api/v1', Infinity],
  ['https://notapi.x.ai/v1', Infinity],
  ['https://api.x.ai.example.com/v1', Infinity],
  ['http://127.0.0.1:11434/v1', Infinity],
])('a server at %s takes %d tools', (baseUrl, most) => {
  const credentials = { openai: 'sk-test', 'openai-compatible': { baseUrl, model: 'any' } };
  expect(mostTools({ provider: 'openai-compatible' }, credentials)).toBe(most);
});

test.each([
  ['openai', 128],
  ['azure-openai', 128],
  ['google', 512],
  ['google-vertex', 512],
  ['anthropic', Infinity],
  ['offline', Infinity],
  ['sample', Infinity],
] as const)('%s takes %d tools', (provider, most) => {
  expect(mostTools({ provider }, { openai: 'sk-test', anthropic: 'sk-ant' })).toBe(most);
});
