import { PROVIDERS } from '../platform/models/catalogue.ts';

/** Which model providers the settings configure; none means the offline model. */
export const modelsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.values(PROVIDERS)
    .filter(({ setting }) => env[setting])
    .map(({ label }) => label);

/** Each of the settings that configures one, as a sentence has them. */
export const MODEL_SETTINGS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  Object.values(PROVIDERS).map(({ setting }) => setting),
);
