/**
 * Hashing, signing and secrets at rest, all on `node:crypto`.
 *
 * A sealed secret is `<key id>.<wrapped data key>.<ciphertext>`: each has its own data key (AES-256-GCM), wrapped by
 * the key-encryption key, and names the row it belongs to as associated data, so that a ciphertext copied to another
 * row or workspace does not open.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { first } from './present.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hmacSha256 = (key: string, text: string, encoding: 'hex' | 'base64url' = 'hex'): string =>
  createHmac('sha256', key).update(text).digest(encoding);

/**
 * Splits a setting that may be rotated: the first secret is the current one and signs, the older ones after it still
 * verify.
 */
export const secretsIn = (setting: string): [current: string, ...older: string[]] =>
  setting.split(',').map((text) => text.trim()) as [string, ...string[]];

/** It compares digests of both, so that the time taken tells neither length nor content. */
export const safeEqual = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

export interface NamedKey {
  id: string;
  /** It has 32 bytes. */
  key: Buffer;
}

/** @param setting `id:base64,older:base64`, the current one first. @throws Error that says what is wrong */
export function namedKeysIn(setting: string): [current: NamedKey, ...older: NamedKey[]] {
  const keys = secretsIn(setting).map((text) => {
    const [, id, base64] = /^([\w.-]{1,64}):([A-Za-z0-9+/_-]+=*)$/.exec(text) ?? [];
    const key = Buffer.from(base64 ?? '', 'base64');
    if (!id || key.length !== 32) throw new Error('expects id:key pairs, each key 32 bytes: openssl rand -base64 32');
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('expects a different id for each key');
  return keys as [NamedKey, ...NamedKey[]];
}

const encrypt = (key: Buffer, plain: Buffer, aad: string): string => {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(aad));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
};

const decrypt = (key: Buffer, sealed: string, aad: string): Buffer => {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(aad));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
};

/**
 * A text was sealed with a key that is not among those given. The text itself may be whole, and the key may come back.
 */
export class UnknownKeyError extends Error {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`secret was sealed with the key ${keyId}, which SECRETS_KEY does not name`);
    this.keyId = keyId;
  }
}

export interface SecretBox {
  /** Every secret that this box seals begins with the name of its current key, which is derived from the key. */
  keyId: string;
  /** These are the names of all keys that the box can open with. */
  keyIds: readonly string[];
  /** @param owner the row this secret belongs to, for example `acme/webhook_subscriptions` */
  seal(plain: string, owner: string): string;
  /**
   * Checks that the box has the key, without opening anything.
   * @throws UnknownKeyError; Error for a text that was never sealed
   */
  requireKeyOf(sealed: string): void;
  /** @throws UnknownKeyError; Error where the text or the owner is not the one that was sealed */
  open(sealed: string, owner: string): string;
}

/** @param settings the text of `SECRETS_KEY`: the current key first, older ones after it, separated by commas */
export const createSecretBox = (settings: string): SecretBox => {
  const keys = settings.split(',').map((text) => {
    const key = createHash('sha256').update(text.trim()).digest();
    return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key };
  });
  const current = first(keys);
  const partsOf = (sealed: string) => {
    const [id, wrapped, text] = sealed.split('.');
    if (!id || !wrapped || !text) throw new Error('the value is not a sealed secret');
    const known = keys.find((key) => key.id === id);
    if (!known) throw new UnknownKeyError(id);
    return { key: known.key, wrapped, text };
  };
  return {
    keyId: current.id,
    keyIds: keys.map(({ id }) => id),
    seal(plain, owner) {
      const dataKey = randomBytes(32);
      return [
        current.id,
        encrypt(current.key, dataKey, owner),
        encrypt(dataKey, Buffer.from(plain, 'utf8'), owner),
      ].join('.');
    },
    requireKeyOf: (sealed) => void partsOf(sealed),
    open(sealed, owner) {
      const { key, wrapped, text } = partsOf(sealed);
      return decrypt(decrypt(key, wrapped, owner), text, owner).toString('utf8');
    },
  };
};
