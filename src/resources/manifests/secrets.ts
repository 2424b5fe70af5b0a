/**
 * A file names a secret by a variable of the environment, `{ env: NAME }`, and whoever applies it sends the value along. No
 * answer has one: a difference says that there is one.
 */
import { keptSecretFault } from '../../platform/core/http-origin.ts';
import { isRecord } from '../../platform/core/record.ts';
import type { ManifestContent, Fault, SecretReceiver } from './model.ts';

type Names = readonly string[];

export interface SecretPlaces {
  /** A variable may stand here. */
  isPlace(path: Names, content: ManifestContent): boolean;
  /** Such a text at such a place is for nobody to read. */
  isSecret(path: Names, value: string): boolean;
  /**
   * Returns what the secrets are given to: an origin, or a program. A secret that stays as it is stays with it.
   * @param content with all secrets in it
   */
  receiverOf(content: ManifestContent): string | undefined;
  /** By default whether `receiverOf` returns the same. */
  isSameReceiver?(before: ManifestContent, after: ManifestContent): boolean;
  /** Shapes that a variable may stand in the place of, for editors. */
  schemas?: ReadonlySet<unknown>;
  /** Fields that stay as they are where a file does not say them, and are in no export. */
  kept?: readonly string[];
}

const MASK = '***';

/** Goes through what lies in objects: no list has a secret in it. */
function mapped(value: unknown, path: Names, map: (path: Names, value: unknown) => unknown): unknown {
  const changed = map(path, value);
  if (changed !== value || !isRecord(value)) return changed;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapped(part, [...path, name], map)]));
}

/** As `fieldsOf` of what `mapped` gives, which begins with an object and so is one. */
const mappedContent = (content: ManifestContent, map: (path: Names, value: unknown) => unknown): ManifestContent =>
  Object.fromEntries(Object.entries(content).map(([name, part]) => [name, mapped(part, [name], map)]));

const variableIn = (value: unknown): string | undefined => {
  if (!isRecord(value) || Object.keys(value).length !== 1) return undefined;
  const { env } = value;
  return typeof env === 'string' ? env : undefined;
};

const at = (content: ManifestContent | undefined, path: Names): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), content);

/**
 * Puts values in the place of variables; of one that is not given, what the workspace has.
 * @returns what is wrong beside it: a variable without a value, a secret that stands in the file; and where secrets stay as
 * the workspace has them, for `keptSecretFaults`
 */
export function withSecrets(
  places: SecretPlaces,
  content: ManifestContent,
  given: { secrets: Readonly<Record<string, string>>; before: ManifestContent | undefined },
): { content: ManifestContent; faults: Fault[]; staying: Names[] } {
  const faults: Fault[] = [];
  const staying: Names[] = [];
  const kept = Object.entries(given.before ?? {}).filter(([name]) => places.kept?.includes(name));
  const resolved = mappedContent({ ...Object.fromEntries(kept), ...content }, (path, value) => {
    if (!places.isPlace(path, content)) return value;
    const name = variableIn(value);
    if (name === undefined) {
      if (typeof value === 'string' && Object.hasOwn(content, path[0] ?? '') && places.isSecret(path, value)) {
        faults.push({ path, message: 'a secret does not belong in a file: write { env: NAME } in its place' });
      }
      return value;
    }
    if (Object.hasOwn(given.secrets, name)) return given.secrets[name];
    const known = at(given.before, path);
    if (typeof known === 'string') {
      staying.push(path);
      return known;
    }
    faults.push({ path, message: `the environment has no ${name}, and the workspace no value yet` });
    return value;
  });
  return { content: resolved, faults, staying };
}

/**
 * Checks that secrets stay with what they were given for.
 * @param staying where secrets of `before` stand in `after`
 */
export function keptSecretFaults(
  places: SecretPlaces,
  staying: readonly Names[],
  before: ManifestContent,
  after: ManifestContent,
): Fault[] {
  const receiver = places.receiverOf(before);
  const isSame = places.isSameReceiver?.(before, after) ?? places.receiverOf(after) === receiver;
  return isSame ? [] : staying.map((path) => ({ path, message: keptSecretFault(receiver) }));
}

/** @returns what a file says of it: the name of a variable for each secret */
export const withVariables = (places: SecretPlaces, content: ManifestContent, prefix: string): ManifestContent =>
  mappedContent(withoutKept(places, content), (path, value) =>
    typeof value === 'string' && places.isPlace(path, content) && places.isSecret(path, value)
      ? { env: variableNameOf([prefix, ...path.slice(1)].join('_')) }
      : value,
  );

const withoutKept = ({ kept }: SecretPlaces, content: ManifestContent): ManifestContent =>
  kept ? Object.fromEntries(Object.entries(content).filter(([name]) => !kept.includes(name))) : content;

const variableNameOf = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]+/g, '_');

/** @returns the content as it may be shown beside another one: whether a secret is the same, and not what it is */
export const masked = (
  places: SecretPlaces,
  content: ManifestContent,
  other: ManifestContent | undefined,
): ManifestContent =>
  mappedContent(content, (path, value) => {
    if (typeof value !== 'string' || !places.isPlace(path, content) || !places.isSecret(path, value)) return value;
    const before = at(other, path);
    return other === undefined || before === value ? MASK : `${MASK} (another)`;
  });

/** @returns each secret of the content, and what it is given to */
export function secretReceivers(places: SecretPlaces, content: ManifestContent): SecretReceiver[] {
  const found: SecretReceiver[] = [];
  const to = places.receiverOf(content);
  mappedContent(content, (path, value) => {
    if (
      to !== undefined &&
      typeof value === 'string' &&
      places.isPlace(path, content) &&
      places.isSecret(path, value)
    ) {
      found.push({ path: path.join('.'), to });
    }
    return value;
  });
  return found;
}

/** @returns what is compared where secrets must not be: they are left out of it */
export const withoutSecrets = (places: SecretPlaces, content: ManifestContent): ManifestContent =>
  masked(places, withoutKept(places, content), undefined);
