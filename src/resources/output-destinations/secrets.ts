/** Takes the secrets out of a configuration before it is stored, and puts them back when something is sent. */
import type { SecretBox } from '../../platform/core/crypto.ts';
import { parseJson } from '../../platform/core/json.ts';
import type { DestinationTarget } from './contract.ts';
import { MASK, SECRET_FIELDS, type DestinationKind } from './model.ts';

/** @returns the owner that the secrets of a destination are sealed for */
export const secretOwner = (customerId: string, id: string): string => `${customerId}/output_destinations/${id}`;

type Config = Readonly<Record<string, unknown>>;

interface StoredConfig {
  id: string;
  customerId: string;
  kind: DestinationKind;
  /** The mask takes the place of each secret. */
  config: Config;
  sealed: string | null;
}

export function sealConfig(
  box: SecretBox,
  { id, customerId, kind, config }: Omit<StoredConfig, 'sealed'>,
): Pick<StoredConfig, 'config' | 'sealed'> {
  const secrets = Object.entries(config).filter(([name]) => SECRET_FIELDS[kind].includes(name));
  return {
    config: { ...config, ...Object.fromEntries(secrets.map(([name]) => [name, MASK])) },
    sealed:
      secrets.length === 0 ? null : box.seal(JSON.stringify(Object.fromEntries(secrets)), secretOwner(customerId, id)),
  };
}

/** @returns the configuration as it was given; its kind says what is in it */
export function openConfig(box: SecretBox, stored: StoredConfig): DestinationTarget {
  const { kind, config } = stored;
  return { kind, config: { ...config, ...secretsOf(box, stored) } } as DestinationTarget;
}

function secretsOf(box: SecretBox, { id, customerId, sealed }: StoredConfig): Record<string, string> {
  if (sealed === null) return {};
  return parseJson(box.open(sealed, secretOwner(customerId, id))) as Record<string, string>;
}
