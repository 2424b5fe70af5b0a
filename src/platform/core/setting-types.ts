/**
 * The types that a setting may have: each reads the text of a variable and says what it expects where the text is
 * something else.
 */
import ipaddr from 'ipaddr.js';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { messageOf } from './causes.ts';
import { namedKeysIn, secretsIn } from './crypto.ts';
import { isOneOf } from './one-of.ts';
import { SAID_ROLES, type Role } from './rights.ts';
import { PRICE_FORM, tokenPriceIn } from './server-price.ts';

/** `7d`, `30s`, `500ms` -> milliseconds. */
export const duration = (fallback: StringValue) =>
  z
    .string()
    .default(fallback)
    .transform((text, ctx) => {
      const value = ms(text as StringValue);
      if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
        ctx.addIssue('expects a duration such as 500ms, 30s, 10m or 7d');
        return z.NEVER;
      }
      return value;
    });
/** A duration, of which both an empty text and 0 mean 0: for ever. */
export const retention = (fallback: StringValue) =>
  z.preprocess((text) => (text === '' ? '0' : text), duration(fallback));
export const flag = z
  .enum(['true', 'false', '1', '0', ''], 'expects true or false')
  .default('false')
  .transform((text) => text === 'true' || text === '1');
export const integer = (fallback: number, min = 0, max = 2 ** 31 - 1) =>
  z.coerce.number(`expects a whole number from ${min} to ${max}`).int().min(min).max(max).default(fallback);
export const optionalInteger = (min = 0, max = 2 ** 31 - 1) =>
  z.coerce.number(`expects a whole number from ${min} to ${max}`).int().min(min).max(max).optional();
export const port = (fallback: number) => integer(fallback, 0, 65_535);
export const listOf = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    );
export const list = listOf('');
/** These extend the documented interface and are switched on by name. */
const EXTENSIONS = ['idempotency', 'sse'] as const;
type Extension = (typeof EXTENSIONS)[number];
/** `sse,idempotency` -> a set that is asked with `has('sse')`. */
export const extensions = list.transform((names, ctx): ReadonlySet<Extension> => {
  const isKnown = (name: string): name is Extension => isOneOf(EXTENSIONS, name);
  for (const name of names.filter((each) => !isKnown(each))) {
    ctx.addIssue(`knows no extension ${JSON.stringify(name)}; there are ${EXTENSIONS.join(' and ')}`);
  }
  return new Set(names.filter(isKnown));
});
const PROXY_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];
function isNetwork(text: string): boolean {
  if (PROXY_NETWORKS.includes(text)) return true;
  const [address = ''] = text.split('/');
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return address === text || (ipaddr.isValidCIDR(text) && ipaddr.parseCIDR(text)[1] > 0);
}
/** Empty trusts nobody; `2` the last two hops; `10.0.0.0/8,loopback` whoever has such an address. */
export const trustedProxies = z
  .string()
  .default('')
  .transform((text, ctx): false | number | string[] => {
    const items = text.split(',').map((item) => item.trim());
    if (text.trim() === '') return false;
    if (/^[1-9]$/.test(text.trim())) return Number(text);
    if (items.every(isNetwork)) return items;
    ctx.addIssue(`expects addresses or networks such as 10.0.0.0/8, ${PROXY_NETWORKS.join(', ')}, or from 1 to 9 hops`);
    return z.NEVER;
  });
const ADDRESS_FORM = 'expects an address with http:// or https://, such as https://example.com';
export const url = z.url({ protocol: /^https?$/, error: ADDRESS_FORM });
/** The address of a whole host, in one form: without a slash at its end. */
export const origin = url.pipe(
  z
    .string()
    .refine((text) => {
      const { username, password, pathname, search, hash } = new URL(text);
      return [username, password, pathname, search, hash].join('') === '/';
    }, 'expects an address without a path, such as https://example.com: nothing is served below a path')
    .transform((text) => new URL(text).origin),
);
/** The embedded mode keeps its keys in a file. */
export const urlOfKeys = z.union([url, z.url({ protocol: /^file$/ })], ADDRESS_FORM);
/** `openai=http://127.0.0.1:9/v1,github=...` becomes an address for each name. */
export const addresses = list.transform((items, ctx) => {
  const pairs = items.map((item): [string, string] => {
    const [name = '', ...address] = item.split('=');
    return [name.trim(), address.join('=').trim()];
  });
  if (pairs.every(([name, address]) => name !== '' && url.safeParse(address).success)) return Object.fromEntries(pairs);
  ctx.addIssue('expects name=address pairs such as github=https://github.example.com/api/v3');
  return z.NEVER;
});
export const secret = z.string().min(16, 'expects at least 16 characters; try: openssl rand -base64 32');
/** The current secret comes first; older ones follow after commas. */
export const secrets = z
  .string()
  .refine(
    (text) => secretsIn(text).every(({ length }) => length >= 16),
    'expects at least 16 characters, of each where there are several; try: openssl rand -base64 32',
  );
/** The text is `id:base64,older:base64`, as `namedKeysIn` reads it. */
export const namedKeys = z.string().superRefine((text, ctx) => {
  try {
    namedKeysIn(text);
  } catch (error) {
    ctx.addIssue(messageOf(error));
  }
});

export const providerId = (fallback: string) =>
  z
    .string()
    .regex(/^[\w-]{1,200}$/, 'expects an id of letters, digits, "-" and "_"')
    .default(fallback);

/** Empty is not set, which is not zero. */
export const tokenPrice = z
  .string()
  .optional()
  .refine((text) => !text || tokenPriceIn(text) !== undefined, PRICE_FORM)
  .transform((text) => (text ? tokenPriceIn(text) : undefined));

const ROLE_OF = /^([^=]+)=(\w+)$/;
/** Roles by names: `staff=member,auditors=viewer`. Nobody becomes an owner by a name. */
export const rolesByName = z
  .string()
  .default('')
  .transform((text, ctx) => {
    const roles = new Map<string, Role>();
    for (const part of text.split(',').filter((each) => each.trim() !== '')) {
      const [, name = '', named] = ROLE_OF.exec(part.trim()) ?? [];
      const role = SAID_ROLES.find((each) => each === named);
      if (role === undefined) {
        ctx.addIssue('expects names with a role each, admin, member or viewer: staff=member,auditors=viewer');
        return z.NEVER;
      }
      roles.set(name.trim(), role);
    }
    return roles;
  });
