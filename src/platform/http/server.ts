/** Listeners: the headers that every response carries, health checks, and a stop that lets open requests finish. */
import express, { type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Server as NetServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { pinoHttp } from 'pino-http';
import { errorCodeOf, messageOf } from '../core/causes.ts';
import { ConfigError } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { portOf, portTaken } from '../core/port.ts';
import { first } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import { errorHandler, notFound } from './app.ts';
import { createDrain } from './drain.ts';
import { strictLength } from './exact-length.ts';
import { answerUnreadable } from './unreadable.ts';

export interface HttpListener {
  /** The address of the listener, such as `http://localhost:8080`. */
  url: string;
  /** Says from now on that it is not ready, and lets its connections go. It still takes requests. */
  drain(): void;
  /**
   * Says from now on that it is not ready. After the delay it accepts no new connection, drains, lets open requests finish
   * for so long, then closes what is left.
   * @param delayMs for load balancers: so long they take to see that it is not ready, and keep connections that they do not
   * use. It serves them as ever meanwhile: connections that end would be opened anew, and those that wait to be accepted
   * at the end of the delay would be cut.
   */
  close(graceMs: number, delayMs?: number): Promise<void>;
}

export interface ListenerOptions {
  port: number;
  /** The setting that names the port. */
  setting: string;
  host?: string;
  log: Log;
  /** Checks what is needed to serve; a rejection makes `/readyz` answer 503. */
  ready: () => Promise<void>;
  /** A throw makes `/healthz` answer 503, which tells the platform to start the process anew. */
  alive?: (() => void) | undefined;
  /** These see each request first, to time it and to trace it. */
  before?: readonly RequestHandler[] | undefined;
  /** As `TRUST_PROXY` says it: without one the client's address is that of the connection. */
  trustProxy?: false | number | string[];
  routers: readonly (Router | readonly [prefix: string, RequestHandler])[];
}

/** @throws ConfigError where it cannot listen there */
export async function listen({
  port,
  setting,
  host,
  log,
  ready,
  alive,
  before = [],
  trustProxy = false,
  routers,
}: ListenerOptions): Promise<HttpListener> {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxy);
  app.set('etag', false);
  app.set('query parser', 'simple');
  // Replies have no validators, so nothing that a caller keeps can be fresh; without this Express would answer
  // `If-None-Match: *` with 304.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.use(strictLength, requestLog(log), helmet());
  for (const handler of before) app.use(handler);
  app.use(refuseTrace);
  app.get('/healthz', (_request, response) => {
    const reason = reasonOf(alive);
    if (reason) log.error({ reason }, 'the liveness check fails');
    response.status(reason ? 503 : 200).json({ status: reason ? 'failed' : 'ok' });
  });
  app.get('/readyz', async (_request, response) => {
    const reason = isStopping
      ? 'it is stopping'
      : await ready().then(
          () => undefined,
          (error: unknown) => (error instanceof Error ? error.message : 'not ready'),
        );
    if (reason) log.warn({ reason }, 'the readiness check fails');
    response.status(reason ? 503 : 200).json({ status: reason ? 'unavailable' : 'ok' });
  });
  for (const router of routers) {
    if (Array.isArray(router)) app.use(router[0], router[1]);
    else app.use(router as Router);
  }
  app.use(notFound, errorHandler(log));

  const server = app.listen(port, host ?? '::');
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const drain = createDrain(server);
  let isStopping = false;
  answerUnreadable(server);
  await once(server, 'listening').catch((error: unknown) => {
    throw cannotListen(setting, port, error);
  });
  const listening = portOf(server);
  return {
    url: `http://localhost:${listening}`,
    drain() {
      isStopping = true;
      drain.begin();
    },
    async close(graceMs, delayMs = 0) {
      isStopping = true;
      if (delayMs > 0) await wait(delayMs);
      const closed = once(server, 'close');
      // That of HTTP would cut connections whose next request is on its way.
      NetServer.prototype.close.call(server);
      drain.begin(delayMs);
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * An idle connection is kept for longer than common proxies keep theirs: 60 s nginx, 90 s Traefik, 2 min Caddy. A proxy that
 * keeps it for longer sends a request into the moment in which it is closed.
 */
const KEEP_ALIVE_MS = 130_000;

function cannotListen(setting: string, port: number, error: unknown): ConfigError {
  const isTaken = errorCodeOf(error) === 'EADDRINUSE';
  return new ConfigError(
    isTaken ? portTaken(setting, port) : `${setting}: cannot listen on port ${port} (${messageOf(error)})`,
  );
}

/**
 * Answers TRACE in one way at every address, before any credential is read: a server that carries it out sends headers
 * back, cookies and keys among them.
 */
const refuseTrace: RequestHandler = ({ method }, response, next) => {
  if (method !== 'TRACE') return next();
  response.set('allow', 'GET, POST, PUT, PATCH, DELETE');
  throw new Problem('method_not_allowed');
};

function reasonOf(check: (() => void) | undefined): string | undefined {
  try {
    check?.();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'not alive';
  }
}

/** The last part of such an address is its credential, which must not be logged. */
const withoutToken = (path: string): string => path.replace(/^(\/(?:miniapps|act)\/).+/, '$1***');

/**
 * Logs one line for each request, at debug, as a healthy service is quiet. Server errors are logged where they are
 * caught.
 */
const requestLog = (log: Log): RequestHandler =>
  pinoHttp({
    logger: log,
    genReqId(request, response) {
      const given = request.headers['x-request-id'];
      const id = typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
      response.setHeader('x-request-id', id);
      return id;
    },
    customLogLevel: () => 'debug',
    quietReqLogger: true,
    serializers: {
      req: ({ id, method, url }: { id: string; method: string; url: string }) => ({
        id,
        method,
        path: withoutToken(first(url.split('?'))),
      }),
    },
  }) as RequestHandler;
