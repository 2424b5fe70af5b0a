/** Names the client of a request for limits: the network that one client has addresses of. */
import type { Request } from 'express';
import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Some proxies add the port of the client. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/**
 * Returns the IPv4 address, or the /64 network of an IPv6 address, since one client has all addresses of such a network.
 * `TRUST_PROXY` decides whether it is the address of the connection or the one that a proxy names. Texts that are no
 * address have one name together.
 */
export function clientNetwork({ ip = '' }: Pick<Request, 'ip'>): string {
  const [, inBrackets, before] = WITH_PORT.exec(ip) ?? [];
  const [address = ''] = (inBrackets ?? before ?? ip).split('%');
  const ipv4 = MAPPED.exec(address)?.[1] ?? address;
  if (isIPv4(ipv4)) return ipv4;
  if (!isIPv6(address)) return '';
  // The parser of URLs writes every spelling of an address in one way, with at most one "::" and without a dotted end.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - groups.length - after.length).fill('0');
  return [...groups, ...zeros, ...after].slice(0, 4).join(':');
}
