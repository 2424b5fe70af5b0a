/** Names the client of a request for limits: the network that one client has addresses of. */
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** Some proxies add the port of the client. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/**
 * Returns the IPv4 address, or the /64 network of an IPv6 address, since one client has all addresses of such a network.
 * `TRUST_PROXY` decides whether it is the address of the connection or the one that a proxy names. Texts that are no
 * address share one name.
 */
export function clientNetwork({ ip = '' }: Pick<Request, 'ip'>): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(ip) ?? [];
  const text = inBrackets ?? beforePort ?? ip;
  if (!ipaddr.isValid(text)) return '';
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
