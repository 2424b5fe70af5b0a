import type { Server } from 'node:net';

/** @returns the port of a server that listens. @throws Error where it does not, or on a socket of the file system */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}
