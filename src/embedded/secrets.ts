/**
 * Makes the secrets of the embedded mode: random ones, made once and kept in the data directory, for those that the
 * settings do not give. Where `secrets.json` is lost, every session ends and no stored secret opens again.
 */
import { join } from 'node:path';
import { newSecret } from '../platform/core/ids.ts';
import { present } from '../platform/core/present.ts';
import { readPrivateJson, writePrivateJson } from './private-file.ts';

const SECRET_NAMES = ['SESSION_SECRET', 'ADMIN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'] as const;
export type Secrets = Record<(typeof SECRET_NAMES)[number], string>;

export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json');

/** `OPERATOR_TOKEN=` is a choice (no operator); the other secrets cannot be empty, so empty means not set. */
const given = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  name === 'OPERATOR_TOKEN' ? env[name] : env[name] || undefined;

export async function loadSecrets(env: NodeJS.ProcessEnv, dataDir: string): Promise<Secrets> {
  const kept = (await readPrivateJson<Partial<Secrets>>(secretsFile(dataDir))) ?? {};
  const missing = SECRET_NAMES.filter((name) => given(env, name) === undefined && !kept[name]);
  for (const name of missing) kept[name] = newSecret();
  if (missing.length > 0) await writePrivateJson(secretsFile(dataDir), kept);
  return Object.fromEntries(SECRET_NAMES.map((name) => [name, given(env, name) ?? present(kept[name])])) as Secrets;
}
