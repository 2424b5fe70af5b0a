/**
 * Masks texts in a tool's body that may be secrets: values of headers and of environments. Replies show a mask in their
 * place, and a mask that comes back with a change stands for the value that was there.
 */
import { isRecord } from '../../../platform/core/record.ts';
import type { CustomTool } from '../model.ts';
import { withoutPlaceholders } from './placeholders.ts';

const MASK = '***';

const SAYS_NOTHING: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
const NAMES_A_SECRET = /auth|bearer|cookie|credential|key|pass|secret|session|signature|token/i;
const SCHEME = /^(basic|bearer|digest|token)\s+/i;
/** Where no name tells, the length does: keys are longer than what else stands in a header. */
const LONG = 16;

const literalOf = (value: string): string => withoutPlaceholders(value).replace(SCHEME, '').trim();

/** A text that only names arguments, such as `Bearer {token}`, is no secret. */
export const isSecret = (name: string, value: string): boolean => {
  const literal = literalOf(value);
  if (SAYS_NOTHING.has(name.toLowerCase()) || /^((basic|bearer|digest|token)\s*)?$/i.test(literal)) return false;
  return NAMES_A_SECRET.test(name) || literal.length >= LONG;
};

type Body = CustomTool['body'];

const mapFields = (
  body: Body,
  fields: readonly string[],
  map: (field: string, name: string, value: unknown) => unknown,
): Body =>
  Object.fromEntries(
    Object.entries(body).map(([field, record]) => [
      field,
      fields.includes(field) && isRecord(record)
        ? Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(field, name, value)]))
        : record,
    ]),
  );

export const maskSecrets = (body: Body, fields: readonly string[]): Body =>
  mapFields(body, fields, (_, name, value) => (typeof value === 'string' && isSecret(name, value) ? MASK : value));

/** @returns the body with what `before` has in the place of each mask; a mask of nothing stays one */
export const unmaskSecrets = (body: Body, before: Body, fields: readonly string[]): Body =>
  mapFields(body, fields, (field, name, value) => {
    const known = before[field];
    return value === MASK && isRecord(known) && Object.hasOwn(known, name) ? known[name] : value;
  });

/** @returns where masks of `body` stand for secrets of `before`, as `headers.X-Key` */
export const keptSecrets = (body: Body, before: Body, fields: readonly string[]): string[] =>
  fields.flatMap((field) => {
    const [given, known] = [body[field], before[field]];
    if (!isRecord(given) || !isRecord(known)) return [];
    return Object.keys(given)
      .filter((name) => given[name] === MASK && Object.hasOwn(known, name))
      .map((name) => `${field}.${name}`);
  });

/** @returns the first mask that stands for nothing, as `headers.X-Key` */
export const maskIn = (body: Body, fields: readonly string[]): string | undefined => {
  for (const field of fields) {
    const record = body[field];
    if (!isRecord(record)) continue;
    const name = Object.keys(record).find((key) => record[key] === MASK);
    if (name !== undefined) return `${field}.${name}`;
  }
  return undefined;
};

/**
 * @param value as `parseJson` gives it, so that it is never too deep to walk
 * @returns the value with every secret in it masked, because a receiver may send back what it was sent
 */
export const redact = (value: unknown, secrets: readonly string[]): unknown => {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, MASK), value);
  if (Array.isArray(value)) return value.map((item) => redact(item, secrets));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [redact(name, secrets) as string, redact(part, secrets)]),
  );
};

/**
 * @returns what to look for in an answer: the whole text of a secret header, and the text without its scheme, longest
 * first
 */
export const spellingsOf = (values: readonly string[]): string[] =>
  [...new Set(values.flatMap((value) => [value, value.replace(SCHEME, '')]))]
    .filter((text) => text.length > 3)
    .sort((a, b) => b.length - a.length);
