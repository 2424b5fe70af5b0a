/** Providers of language models: runs of a workspace use what it gives here in the place of the deployment's own. */
import {
  address,
  ask,
  BASE_URL,
  bearer,
  DEFAULT_MODEL,
  healthByWords,
  MODEL_PRICE,
  secret,
  token,
  type Integration,
} from '../provider.ts';

const CATEGORY = 'models';
const apiKey = token('api_key', 'API key');
const defaultModel = secret(DEFAULT_MODEL, 'Id of the model that runs use');
const listModels = ask(({ token }) => ({ path: '/models', headers: bearer(token) }));

export const openai: Integration = {
  slug: 'openai',
  name: 'OpenAI',
  category: CATEGORY,
  description: 'GPT models for runs, with your own key.',
  baseUrl: 'https://api.openai.com/v1',
  slots: [apiKey],
  extras: ['models'],
  check: listModels,
};

export const anthropic: Integration = {
  slug: 'anthropic',
  name: 'Anthropic',
  category: CATEGORY,
  description: 'Claude models for runs, with your own key.',
  baseUrl: 'https://api.anthropic.com/v1',
  slots: [apiKey],
  extras: ['models'],
  check: ask(({ token }) => ({
    path: '/models',
    headers: { 'x-api-key': token, 'anthropic-version': '2023-06-01' },
  })),
};

export const google: Integration = {
  slug: 'google',
  name: 'Google Gemini',
  category: CATEGORY,
  description: 'Gemini models for runs, with your own key.',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  slots: [apiKey, defaultModel],
  extras: ['models'],
  check: ask(
    ({ token }) => ({ path: '/models', headers: { 'x-goog-api-key': token } }),
    healthByWords({ invalid: /API_KEY_INVALID|API key expired/i }),
  ),
};

export const mistral: Integration = {
  slug: 'mistral',
  name: 'Mistral AI',
  category: CATEGORY,
  description: 'Mistral models for runs, with your own key.',
  baseUrl: 'https://api.mistral.ai/v1',
  slots: [apiKey, defaultModel],
  extras: ['models'],
  check: listModels,
};

export const openrouter: Integration = {
  slug: 'openrouter',
  name: 'OpenRouter',
  category: CATEGORY,
  description: 'Models of many providers through one key.',
  baseUrl: 'https://openrouter.ai/api/v1',
  slots: [apiKey, defaultModel],
  extras: ['models'],
  // The list of models is open to everybody, so the key is checked at another address.
  check: ask(({ token }) => ({ path: '/key', headers: bearer(token) })),
};

export const openaiCompatible: Integration = {
  slug: 'openai-compatible',
  name: 'OpenAI-compatible server',
  category: CATEGORY,
  description: 'A model server of your own that speaks the OpenAI chat protocol, such as vLLM, Ollama or LM Studio.',
  slots: [
    address(BASE_URL, 'Address, version path included: https://models.example.com/v1', { required: true }),
    defaultModel,
    { ...secret(MODEL_PRICE, 'What it costs: 0, or US dollars for a million tokens as 0.15,0.60'), format: 'price' },
    token('api_key', 'API key, if the server wants one', { required: false }),
  ],
  extras: ['models'],
  check: listModels,
};
