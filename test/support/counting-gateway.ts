/** In front of several API processes: gives each request to the next of them, and keeps count of what came back. */
import { createProxyServer } from 'httpxy';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CountingGateway {
  url: string;
  /** Requests that were answered, by status. */
  answered: Map<number, number>;
  /** `POST /v1/runs`: what no process answered. */
  unanswered: string[];
  close(): Promise<void>;
}

/** Far over what a process takes: whose headers are too large is for that to say. */
const MAX_HEADERS = 1_048_576;

export async function startCountingGateway(targets: readonly string[]): Promise<CountingGateway> {
  const proxy = createProxyServer({});
  const answered = new Map<number, number>();
  const unanswered: string[] = [];
  let turn = 0;
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
    const target = targets[turn++ % targets.length]!;
    response.once('close', () => {
      if (response.headersSent) answered.set(response.statusCode, (answered.get(response.statusCode) ?? 0) + 1);
    });
    proxy.web(request, response, { target }).catch((error: Error) => {
      // Whoever asked went away: nobody is left to be answered.
      if (!request.socket.destroyed)
        unanswered.push(`${request.method} ${request.url?.slice(0, 300)}: ${error.message}`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, answered, unanswered },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
