/** Ports for processes that are started later, and again after they were killed. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux gives to outgoing connections (32768 to 60999): one of those would take the port while it is free. */
const [FIRST, LAST] = [20_000, 32_000];

/** @returns a port of the loopback address that nobody listens at, and that hardly anybody will until it is used */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
