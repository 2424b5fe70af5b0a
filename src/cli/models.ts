import { PROVIDERS } from '../platform/models/catalogue.ts';

/** @returns the model providers that the settings configure; where there is none, the offline model answers */
export const modelsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.values(PROVIDERS)
    .filter(({ setting }) => env[setting])
    .map(({ label }) => label);

/** Lists the settings of which any configures a provider, as part of a sentence. */
export const MODEL_SETTINGS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  Object.values(PROVIDERS).map(({ setting }) => setting),
);
