/** Which model providers the settings configure; none means the offline model. */
const PROVIDERS = {
  ANTHROPIC_API_KEY: 'Anthropic',
  OPENAI_API_KEY: 'OpenAI',
  OPENAI_COMPATIBLE_BASE_URL: 'OpenAI-compatible',
};

export const modelsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(PROVIDERS)
    .filter(([setting]) => env[setting])
    .map(([, name]) => name);
