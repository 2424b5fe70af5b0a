/** Stands before a server, and lets a test do something at the moment in which a request is about to reach it. */
import { once } from 'node:events';
import { createServer, request as requestOf, type IncomingMessage, type ServerResponse } from 'node:http';
import { portOf } from '../processes/listening.ts';

export interface Front {
  url: string;
  /** It is called when the head of a request has come, and awaited before anything of it is passed on. */
  before: (method: string | undefined) => unknown;
  /** Connections are refused from now on. */
  shut(): void;
  open(): Promise<void>;
}

export async function standBefore(address: string): Promise<Front> {
  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await front.before(request.method);
    const { method, url, headers } = request;
    const forwarded = requestOf(new URL(url ?? '', address), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    // It was given up while it was on its way: what has come of it goes on.
    forwarded.on('error', () => response.destroy());
    request.on('error', () => forwarded.destroy());
    request.pipe(forwarded);
  }
  const server = createServer((request, response) => void passOn(request, response));
  let port = 0;
  const front: Front = {
    url: '',
    before: () => {},
    shut() {
      server.close();
      server.closeAllConnections();
    },
    async open() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = portOf(server);
      front.url = `http://127.0.0.1:${port}`;
    },
  };
  await front.open();
  return front;
}
