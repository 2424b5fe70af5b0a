/** Decides what of a request the audit log keeps: which fields were given, and no content and no secret. */
import { fieldsOf } from '../../platform/core/record.ts';

/** The value of such a field may be a secret, or is content, so only that it was given is kept. */
const SECRET = /secret|token|passw|key|credential|cookie|session|signature|auth|prompt|content|param/i;
const CONTENT =
  /(^|[_-])(code|value|body|script|html|brief|text|note|message|comment|instruction|feedback|question|answer|header|meta|metadata|spec|schema|env|arg|argv|argument|input|data|addendum)s?([_-]|$)/i;
const isHidden = (name: string): boolean => SECRET.test(name) || CONTENT.test(name);
const GIVEN = '***';

const MAX_TEXT = 200;
const MAX_ITEMS = 30;
const MAX_DEPTH = 4;
/** The summary has at most so many characters as JSON. */
const MAX_LENGTH = 4_000;

/** @returns the body of a request without contents and secrets */
export function summaryOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return {};
  const whole = fieldsOf(masked(body, 0));
  if (JSON.stringify(whole).length <= MAX_LENGTH) return whole;
  return Object.fromEntries(Object.keys(whole).map((name) => [name, GIVEN]));
}

/** @returns what the request is about: values of an address name things and are kept, up to a length */
export const targetOf = (params: unknown, query: unknown): Record<string, unknown> =>
  Object.fromEntries(
    [query, params]
      .flatMap((part) => Object.entries(part ?? {}))
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'number' ? value : shortened(String(value))]),
  );

const OPERATOR = 'operator';
/** Names the actor to a workspace that is not theirs: an address alone would look like that of a member. */
export const actorElsewhere = (actor: string): string => (actor === OPERATOR ? OPERATOR : `${OPERATOR}:${actor}`);

/** @returns what a reply calls the thing that was made */
export function madeIn(reply: unknown): { id?: string | number } {
  const { id } = fieldsOf(reply);
  if (typeof id === 'number') return { id };
  return typeof id === 'string' ? { id: shortened(id) } : {};
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutPath(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return GIVEN;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => masked(item, depth + 1));
  const fields = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(
    fields
      .slice(0, MAX_ITEMS)
      .map(([name, part]) => [shortened(name), isHidden(name) ? given(part) : masked(part, depth + 1)]),
  );
}

/** Null and switches are kept, because that something was reset or switched says nothing of its content. */
const given = (value: unknown): unknown => (value === null || typeof value === 'boolean' ? value : GIVEN);

/** Addresses of hooks and databases have their secrets in user, path and query, so those are left out. */
function withoutPath(text: string): string {
  if (!/^\s*[a-z][a-z\d+.-]*:\/\//i.test(text)) return shortened(text);
  const url = URL.parse(text.trim());
  return url ? shortened(`${url.protocol}//${url.host}/${GIVEN}`) : GIVEN;
}

/** Cuts a text between characters, as half of one could not be stored. */
const shortened = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
