/**
 * Which addresses the outside world has, and which are ours.
 *
 * An address is public or it is refused: there is no list of bad ones to keep complete. `ipaddr.js` alone is not
 * enough, because it calls `::7f00:1` (an old spelling of 127.0.0.1) and all unassigned IPv6 space "unicast".
 */
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The message says what was refused and why, in words that a tenant or a model may read. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/**
 * This block holds all IPv6 that was ever handed out for public use. What `range()` recognizes inside of it (6to4,
 * Teredo, ...) is refused too.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** This address is public by its number, but in some clouds it gives a virtual machine its own settings and secrets. */
const METADATA = new Set(['168.63.129.16']);

/** These names lead inside without looking like it: they are reserved by RFC 6761, 6762, 8375 and by ICANN. */
const INSIDE_NAMES = /^[^.]+$|(^|\.)(localhost|local|localdomain|internal|home\.arpa)$/;

/** @returns why this address must not be connected to, or nothing when it is public */
export const forbiddenAddress = (text: string): string | undefined => {
  if (!ipaddr.isValid(text)) return 'not an IP address';
  const address = ipaddr.parse(text);
  const range = address.range();
  if (range !== 'unicast') return `a ${range} address`;
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_IPV6)) return 'a reserved address';
  return METADATA.has(address.toString()) ? 'a metadata address' : undefined;
};

/**
 * @param host as `URL` gives it, which has already turned decimal, octal, hex and full-width spellings into one
 * @returns why this host must not be connected to, or nothing
 */
export const forbiddenHost = (host: string): string | undefined => {
  const name = host.replace(/^\[|\]$|\.$/g, '');
  if (isIP(name)) return forbiddenAddress(name);
  return INSIDE_NAMES.test(name) ? 'a name for a local address' : undefined;
};

/**
 * A resolver for sockets. The socket connects to exactly what passes through here, so a second, different answer
 * from DNS is never used; one bad address among good ones refuses them all.
 */
export const guardLookup =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, '', 0);
      const answers = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      const bad = answers.map(({ address }) => forbiddenAddress(address)).find(Boolean);
      const [first] = answers;
      if (bad || !first) {
        return callback(new ForbiddenAddressError(`${hostname} resolves to ${bad ?? 'no address'}`), '', 0);
      }
      return options.all ? callback(null, answers) : callback(null, first.address, first.family);
    });
