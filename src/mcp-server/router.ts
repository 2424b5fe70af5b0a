/**
 * Offers the service as an MCP server: streamable HTTP at one address, without sessions, each request answered by
 * itself. A key may see and do here what it may on the public API.
 */
import express, { type Request, type RequestHandler } from 'express';
import type { Log } from '../platform/core/log.ts';
import type { PageKeys } from '../platform/core/page-keys.ts';
import { Problem } from '../platform/core/problem.ts';
import { urgently } from '../platform/db/client.ts';
import type { Authenticate } from '../platform/http/app.ts';
import type { AuditTrail } from '../platform/http/audit.ts';
import type { Caller, Route } from '../platform/http/endpoint.ts';
import type { McpServing } from './server.ts';
import { servedTools } from './tools.ts';

export interface McpServerOptions {
  routes: readonly Route[];
  authenticate: Authenticate;
  audit: AuditTrail;
  /** The public address of the gateway, whose own pages may call. */
  baseUrl: string | undefined;
  log: Log;
  pageKeys: PageKeys;
}

/** Mount it at `/mcp` of the gateway. */
export function mcpRouter({ routes, authenticate, audit, baseUrl, log, pageKeys }: McpServerOptions): express.Router {
  const tools = servedTools(routes, { audit, pageKeys });
  // Where nobody speaks MCP its SDK is not loaded, which takes 20 MB.
  let serving: Promise<McpServing> | undefined;
  const router = express.Router({ caseSensitive: true });
  router.use('/', refuseForeignOrigin(baseUrl), async (request, response, next) => {
    response.locals.caller = await urgently(() => authenticate('api-key', request));
    next();
  });
  router.post('/', async (request, response) => {
    const { answer } = await (serving ??= import('./server.ts').then(({ createServing }) => createServing(tools, log)));
    await answer(response.locals.caller as Caller, request, response);
  });
  // No stream of notifications and no session to end: the protocol asks for this answer.
  router.all('/', (_request, response) => {
    response.status(405).set('allow', 'POST').json({ detail: 'method_not_allowed' });
  });
  return router;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A name on the internet may come to mean this address; a page of it must not reach the server through its visitor. */
const refuseForeignOrigin = (baseUrl: string | undefined): RequestHandler => {
  const own = baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  const isForeign = ({ headers: { origin } }: Request): boolean => {
    if (origin === undefined) return false;
    if (!URL.canParse(origin)) return true;
    const url = new URL(origin);
    return url.origin !== own && !LOOPBACK.has(url.hostname);
  };
  return (request, _response, next) => {
    if (isForeign(request)) throw new Problem('foreign_origin');
    next();
  };
};
