/** A real HTTP server in the place of a third party's API, with a script of how it answers. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from '../processes/listening.ts';

interface ProviderRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type ProviderAnswer = { status: number; headers?: Record<string, string>; body?: unknown } | 'reset';

export interface ProviderServer {
  /** Without a slash at the end. */
  url: string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  requests: ProviderRequest[];
  /** From now on. */
  answer(script: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>): void;
  close(): Promise<void>;
}

export async function startProviderServer(): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  let script: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer> = () => ({ status: 200 });
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await text(incoming) };
    requests.push(request);
    const answer = await script(request);
    if (answer === 'reset') return void incoming.socket.resetAndDestroy();
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return {
    url: `http://${hostAndPort}`,
    hostAndPort,
    requests,
    answer: (next) => void (script = next),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
