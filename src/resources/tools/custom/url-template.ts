/**
 * An address with places for arguments, in its path and query alone.
 *
 * An argument stays in its place: it is percent-encoded, so it cannot open another segment, parameter or fragment, and
 * a segment cannot become `..`, which no encoding would stop.
 */
import { httpOrigin } from '../../../platform/core/http-origin.ts';
import { ToolError } from '../model.ts';
import { fill, missingIn, placeholdersIn } from './placeholders.ts';

/** A `\` counts as `/` to whoever parses addresses. */
const PARTS = /^(https?:\/\/[^/?#\\]+)([/\\][^?#]*)?(\?[^#]*)?(#[^]*)?$/i;
const DOTS = /^(\.|%2e){1,2}$/i;

const partsOf = (template: string) => {
  const [, origin, path = '', query = '', fragment = ''] = PARTS.exec(template) ?? [];
  return origin === undefined ? undefined : { origin, path, query: query.slice(1), fragment };
};

const hasDotSegment = (path: string): boolean => path.split(/[/\\]/).some((segment) => DOTS.test(segment));

/** @returns why it cannot be an address */
export const checkUrlTemplate = (template: string): string | undefined => {
  // A parser drops some of these characters, and what it then reads is not what was checked.
  if (/[\s\p{Cc}]/u.test(template)) return 'must not contain spaces or control characters';
  const parts = partsOf(template);
  if (!parts) return 'must be a complete address such as https://example.com/orders/{id}';
  const { origin, path, fragment } = parts;
  if (/[{}]/.test(origin)) return 'a {param} can stand in the path and the query, not in the host';
  if (fragment !== '') return 'must not have a fragment';
  if (hasDotSegment(path)) return 'must not have the segments "." and ".."';
  if (/[{}]/.test(fill(path + parts.query, {}))) return 'has a brace that belongs to no {param}';
  if (!URL.canParse(origin)) return 'must have a valid host';
  const { username, password } = new URL(origin);
  return username || password ? 'must not carry credentials; send them in a header' : undefined;
};

/** @returns host:port for messages, as the rest of an address may be a secret */
export const hostOf = (template: string): string => new URL(partsOf(template)!.origin).host;

/** @returns the origin that every filled address has, since no argument reaches it; undefined if there is none */
export const templateOrigin = (template: unknown): string | undefined =>
  typeof template === 'string' ? httpOrigin(partsOf(template)?.origin) : undefined;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * A parameter of the query whose argument was not given is left out.
 * @throws ToolError where an argument of the path is missing, empty or would move the path
 */
export const fillUrl = (template: string, args: Arguments): string => {
  const { origin, path, query } = partsOf(template)!;
  const absent = missingIn(path, args) ?? placeholdersIn(path).find((name) => args[name] === '');
  if (absent !== undefined) throw new ToolError(`"${absent}" is part of the address, so it must be given`);
  const filledPath = fill(path, args, encodeURIComponent);
  if (hasDotSegment(filledPath)) throw new ToolError('an argument would make "." or ".." a part of the address');
  const filledQuery = query
    .split('&')
    .filter((pair) => missingIn(pair, args) === undefined)
    .map((pair) => fill(pair, args, encodeURIComponent))
    .join('&');
  return origin + filledPath + (filledQuery && `?${filledQuery}`);
};
