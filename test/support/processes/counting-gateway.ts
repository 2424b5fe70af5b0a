/** In front of several API processes: gives each request to the next of them, and keeps count of what came back. */
import { createProxyServer } from 'httpxy';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { portOf } from './listening.ts';

/** A request as it came, to be sent again. */
export interface PassedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface CountingGateway {
  url: string;
  /** What was under way at some time since this was last asked. */
  passedSince(): PassedRequest[];
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
  const passing = new Set<PassedRequest>();
  let passed: PassedRequest[] = [];
  let turn = 0;
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
    const target = itemAt(targets, turn++ % targets.length);
    const { recorded, body } = recordOf(request);
    passing.add(recorded);
    response.once('close', () => {
      passing.delete(recorded);
      passed.push(recorded);
      if (response.headersSent) answered.set(response.statusCode, (answered.get(response.statusCode) ?? 0) + 1);
    });
    proxy.web(request, response, { target, buffer: body }).catch((error: Error) => {
      // Whoever asked went away: nobody is left to be answered.
      if (!request.socket.destroyed)
        unanswered.push(`${request.method} ${request.url?.slice(0, 300)}: ${error.message}`);
      response.destroy();
    });
  });
  // On a busy machine a client may still take a connection for open that was closed after the usual five seconds.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    answered,
    unanswered,
    passedSince() {
      const since = [...passed, ...passing];
      passed = [];
      return since;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Of the connection, and not of the request. */
const HOP_BY_HOP = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'expect']);

/** @returns also the body to be passed on: whoever reads a request as well as the proxy takes it away from the proxy */
function recordOf(request: IncomingMessage): { recorded: PassedRequest; body: PassThrough } {
  const headers = Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name));
  const recorded: PassedRequest = {
    method: present(request.method),
    path: present(request.url),
    body: Buffer.alloc(0),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
  };
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => (recorded.body = Buffer.concat(chunks)));
  return { recorded, body: request.pipe(new PassThrough()) };
}
