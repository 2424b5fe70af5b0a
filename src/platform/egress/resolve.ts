/** Guards protocols other than HTTP: their clients are given the address that was checked instead of the name. */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { forbiddenHost, ForbiddenAddressError, guardLookup } from './addresses.ts';

/**
 * @returns a public IP address of this host
 * @throws ForbiddenAddressError when it has another one
 */
export async function resolvePublic(host: string): Promise<string> {
  const reason = forbiddenHost(host);
  if (reason) throw new ForbiddenAddressError(`${host} is ${reason}`);
  if (isIP(host)) return host;
  const guarded = guardLookup(lookup as LookupFunction);
  return new Promise((resolve, reject) =>
    guarded(host, {}, (error, address) => (error ? reject(error) : resolve(address as string))),
  );
}
