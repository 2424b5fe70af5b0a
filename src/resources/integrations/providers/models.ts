/** Providers of language models: runs of a workspace use what it gives here in the place of the deployment's own. */
import {
  address,
  API_VERSION,
  ask,
  BASE_URL,
  bearer,
  DEFAULT_MODEL,
  healthByWords,
  healthOf,
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

/** A call that lacks all that it needs: who may make it is told so, and pays nothing. */
const incomplete = (path: string, headers: (token: string) => Record<string, string>) =>
  ask(
    ({ token }) => ({
      path,
      method: 'POST',
      headers: { ...headers(token), 'content-type': 'application/json' },
      body: '{}',
    }),
    (reply) =>
      /API_KEY_INVALID|API key expired/i.test(reply.text)
        ? 'invalid'
        : healthOf(reply.status === 400 || reply.status === 404 ? { ...reply, status: 200 } : reply),
  );

export const googleVertex: Integration = {
  slug: 'google-vertex',
  name: 'Google Vertex AI',
  category: CATEGORY,
  description: 'Gemini models of Google Cloud for runs, with your own key of its express mode.',
  baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
  slots: [apiKey, defaultModel],
  extras: ['models'],
  check: incomplete('/models/gemini-3.5-flash:generateContent', (token) => ({ 'x-goog-api-key': token })),
};

export const amazonBedrock: Integration = {
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  category: CATEGORY,
  description: 'Models of Amazon Bedrock for runs, with your own API key.',
  slots: [
    address(BASE_URL, 'Address of your region: https://bedrock-runtime.eu-central-1.amazonaws.com', { required: true }),
    apiKey,
    defaultModel,
  ],
  extras: ['models'],
  check: incomplete('/model/amazon.nova-micro-v1%3A0/converse', bearer),
};

export const azureOpenai: Integration = {
  slug: 'azure-openai',
  name: 'Azure OpenAI',
  category: CATEGORY,
  description: 'Your own deployments of Azure OpenAI for runs.',
  slots: [
    address(BASE_URL, 'Address of your resource: https://<resource>.openai.azure.com/openai', { required: true }),
    apiKey,
    secret(DEFAULT_MODEL, 'Name of the deployment that runs use', { required: true }),
    secret(API_VERSION, 'Dated version of the API, such as 2024-10-21; without it version v1'),
  ],
  extras: ['models'],
  check: ask(({ token }) => ({ path: '/v1/models', headers: { 'api-key': token } })),
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
