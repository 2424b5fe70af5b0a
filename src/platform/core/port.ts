import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** @returns the line about a port that another program has */
export const portTaken = (setting: string, port: number): string =>
  `${setting}: port ${port} is in use; set ${setting} to another (0 takes any free one)`;

/** @returns the port of a server that listens. @throws Error where it does not, or on a socket of the file system */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/**
 * @returns a port of this machine's loopback address that is free now, for programs that do not tell which port they took.
 *   Another process can take it before they do
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}
