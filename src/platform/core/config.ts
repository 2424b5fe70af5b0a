/**
 * Reads every setting of the service once, at start. A bad one stops the process with a message that names it and says
 * what it expects; nothing else reads `process.env`.
 */
import type { z } from 'zod';
import { settings } from './settings.ts';

export type Config = z.infer<typeof settings>;

export class ConfigError extends Error {}

/** @returns a line for each thing that is wrong in what a setting says or in the file that it names */
export const faultsIn = (setting: string, { issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${[setting, ...path.map(String)].join(': ')}: ${message}`).join('\n');

/** @throws ConfigError with one line for each bad setting */
export function loadConfig(env: Record<string, string | undefined>): Config {
  // An empty variable means "not set", except where empty is itself a choice: no operator, for ever.
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== '' || /^(OPERATOR_TOKEN|RETENTION_\w+)$/.test(name)),
  );
  const parsed = settings.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues
      .map(({ path, code, message }) => {
        const isSet = given[String(path[0])] !== undefined;
        // Of what is not there, the schema says only that it has another type.
        const fault = isSet || code !== 'invalid_type' ? message : 'add it to the environment or to .env';
        return `${path.join('.')}: ${isSet ? '' : 'is not set; '}${fault}`;
      })
      .join('\n'),
  );
}

/** Adds what a `.env` file in the working directory says to the environment, which wins. */
export function loadEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch {
    // There is no .env file, so the environment says it all.
  }
}
