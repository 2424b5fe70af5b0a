/** A real HTTP server in the place of a customer's, with a script of how it answers. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from '../processes/listening.ts';

/** A status; an answer with a body; no answer at all; a 200 whose body never ends; or a connection that breaks. */
export type Reaction = number | { status: number; body: string } | 'timeout' | 'stall' | 'reset';

interface ReceivedWebhook {
  path: string;
  headers: IncomingHttpHeaders;
  /** Raw, as the signature covers it. */
  body: string;
  signature: string;
  /** Of the signature, Unix seconds. */
  t: number;
}

export interface WebhookReceiver {
  /** `http://127.0.0.1:<port>/hook` */
  url: string;
  /** For `EGRESS_ALLOWLIST`. */
  hostAndPort: string;
  received: ReceivedWebhook[];
  close(): Promise<void>;
}

export type Script = (request: ReceivedWebhook) => Reaction | Promise<Reaction>;

function react(reaction: Reaction, request: IncomingMessage, response: ServerResponse): void {
  if (reaction === 'timeout') return;
  if (reaction === 'reset') request.socket.resetAndDestroy();
  else if (reaction === 'stall') response.writeHead(200).write('begins');
  else if (typeof reaction === 'object') response.writeHead(reaction.status).end(reaction.body);
  else if (reaction >= 300 && reaction < 400) response.writeHead(reaction, { location: '/elsewhere' }).end();
  else response.writeHead(reaction).end(`answer ${reaction}`);
}

export async function startWebhookReceiver(script: Script = () => 200): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer(async (request, response) => {
    const signature = String(request.headers['x-service-signature']);
    const webhook: ReceivedWebhook = {
      path: request.url ?? '',
      headers: request.headers,
      body: (await buffer(request)).toString('utf8'),
      signature,
      t: Number(/^t=(\d+)/.exec(signature)?.[1]),
    };
    received.push(webhook);
    react(await script(webhook), request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostAndPort = `127.0.0.1:${portOf(server)}`;
  return {
    url: `http://${hostAndPort}/hook`,
    hostAndPort,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
