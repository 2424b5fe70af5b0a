/** The browser proxy in front of a control plane, in this process and in another. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { errorHandler, notFound } from '../../../src/platform/http/app.ts';
import { signSession, type SessionClaims } from '../../../src/platform/http/auth.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { createBrowserProxy, forwardTo, type ProxyOptions } from '../../../src/platform/http/proxy.ts';
import { portOf } from '../../support/processes/listening.ts';

export const SESSION_SECRET = 'secret of the sessions';

export const ADMIN_SECRET = 'secret of the stamps';

export const PREFIX = '/api/v1/cp';

export const LARGE = 32 * 1024 * 1024;

/** Test files of one process share this module, so that its sessions have to outlive all of them. */
const LONG_S = 86_400;

export const claims = (role: SessionClaims['role'], exp = Date.now() / 1000 + LONG_S): SessionClaims => ({
  sub: 'user-1',
  email: 'ana@example.com',
  workspace: 'acc_acme',
  customer_id: 'acme',
  role,
  iat: 0,
  exp,
});

export const cookieOf = (session: SessionClaims) => `service_session=${signSession(session, SESSION_SECRET)}`;

export const owner = cookieOf(claims('owner'));

export const servers: Server[] = [];

export async function listen(handler: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `http://127.0.0.1:${portOf(server)}` };
}

export const close = (server: Server) => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const PATHS = ['/v1/runs', '/v1/runs/{id}', '/v1/customers', '/v1/upload', '/v1/broken-off'];

const DECLARED = METHODS.flatMap((method) =>
  PATHS.map((path) => ({ endpoint: { method, path, upload: { maxBytes: LARGE } } as Endpoint })),
);

export const gateway = (forward: RequestHandler, routes: ProxyOptions['routes'] = DECLARED) => {
  const app = express();
  const secrets = { sessionSecret: SESSION_SECRET, adminSecret: ADMIN_SECRET };
  const proxy = createBrowserProxy({ ...secrets, routes, forward });
  return listen(app.use(PREFIX, proxy).use(notFound, errorHandler(pino({ level: 'silent' }))));
};

interface Scene {
  /** What reached the control plane last. */
  seen?: { method?: string; url?: string; headers: IncomingMessage['headers']; body?: string } | undefined;
  /** What it does with an upload, and answers. */
  onUpload(request: IncomingMessage): Promise<unknown>;
}
export const scene: Scene = { onUpload: async () => undefined };

export let controlPlane: { server: Server; url: string };

export let bases: Record<'in process' | 'over HTTP', string>;

export interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** With `node:http`, because `fetch` sets its own Host and refuses some headers. */
export async function call(base: string, path: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request(base + path, { method, headers }, resolve)
      .on('error', reject)
      .end(body),
  );
  const answer = await text(response);
  return { status: response.statusCode, headers: response.headers, body: answer ? JSON.parse(answer) : undefined };
}

/** Before the tests of a file: both ways of running it. */
export function useProxy(): void {
  beforeEach(() => {
    scene.seen = undefined;
  });

  beforeAll(async () => {
    const app = express();
    app.post('/v1/upload', async (request, response) => {
      response.json(await scene.onUpload(request));
    });
    app.get('/v1/broken-off', (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    });
    app.use(async (request, response) => {
      const { method, url, headers } = request;
      scene.seen = { method, url, headers, body: await text(request) };
      response.status(202).set('x-reply', 'yes').json({ detail: 'seen' });
    });
    controlPlane = await listen(app);
    bases = {
      'in process': (await gateway(app)).url + PREFIX,
      'over HTTP': (await gateway(forwardTo(controlPlane.url))).url + PREFIX,
    };
  });

  afterAll(() => Promise.all(servers.map(close)));
}
