/**
 * The browser proxy `/api/v1/cp/*`: turns the session cookie into the header that the control plane reads, and stamps
 * owners and admins. The control plane is called in this process where it is, over HTTP where it is not.
 *
 * It passes on what is asked for by a declared method and address, with a session that is signed and has not ended, and
 * nothing else: a control plane in another process has a listener with more on it than its endpoints.
 */
import { parseCookie } from 'cookie';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { createProxyServer } from 'httpxy';
import { Problem } from '../core/problem.ts';
import { can } from '../core/rights.ts';
import { maxBytesOf, notFound, routerOf } from './app.ts';
import { ADMIN_HEADER, readSession, SESSION_COOKIE, SESSION_HEADER, sessionCaller, signAdminStamp } from './auth.ts';
import { watchBody } from './bounded.ts';
import { OTP_CHALLENGE_HEADER, OTP_CODE_HEADER, PROBLEM_HEADER, type Route } from './endpoint.ts';
import { isPlainPath } from './plain-path.ts';

const FORWARDED = new Set<string>([OTP_CHALLENGE_HEADER, OTP_CODE_HEADER]);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Some servers take these headers for the method or the address, which the proxy has checked without them. */
const OVERRIDES = [
  ...['x-http-method-override', 'x-http-method', 'x-method-override'],
  ...['x-original-url', 'x-original-uri', 'x-rewrite-url', 'x-forwarded-uri'],
];

export interface ProxyOptions {
  sessionSecret: string;
  adminSecret: string;
  /** The public address of the gateway, where something in front of it rewrites `Host`. */
  baseUrl?: string | undefined;
  /** The routes of the control plane. */
  routes: readonly Pick<Route, 'endpoint'>[];
  forward: RequestHandler;
  /** It is called for each cookie that is no valid session. */
  onRefused?: () => void;
}

/** Mount it at the proxy's prefix, so that `req.url` is the path of the control plane. */
export function createBrowserProxy({
  sessionSecret,
  adminSecret,
  baseUrl,
  routes,
  forward,
  onRefused = () => {},
}: ProxyOptions): RequestHandler {
  const signedIn: RequestHandler = (request, response, next) => {
    const session = parseCookie(request.headers.cookie ?? '')[SESSION_COOKIE];
    // Cookies are percent-decoded, so a text that is no session might not even be allowed in a header.
    if (!session || !/^[\w.-]+$/.test(session)) {
      response.status(401).set(PROBLEM_HEADER, 'auth_required').json({ error: 'auth_required' });
      return;
    }
    const claims = readSession(session, sessionSecret);
    if (!claims) {
      onRefused();
      throw new Problem('auth_required');
    }
    if (!SAFE_METHODS.has(request.method) && isForeignOrigin(request.headers, baseUrl))
      throw new Problem('foreign_origin');
    if (!isPlainPath(request.path)) throw new Problem('not_found');

    for (const name of Object.keys(request.headers)) {
      if (name.startsWith('x-service-') && !FORWARDED.has(name)) delete request.headers[name];
    }
    for (const name of OVERRIDES) delete request.headers[name];
    // The proxy takes the cookie alone; the control plane never sees it, nor a key that was sent beside it.
    delete request.headers.authorization;
    delete request.headers.cookie;
    request.headers[SESSION_HEADER] = session;
    if (can(sessionCaller(claims), 'admin.stamp')) {
      const stamped = { sub: claims.sub, method: request.method, path: request.path };
      request.headers[ADMIN_HEADER] = signAdminStamp(stamped, adminSecret);
    }
    next();
  };
  return express.Router().use(
    signedIn,
    routerOf(routes, ({ endpoint }) => [
      (request, response, next) => {
        response.locals.maxBytes = maxBytesOf(endpoint);
        return forward(request, response, next);
      },
    ]),
    notFound,
  );
}

/**
 * @returns whether a page of another site asks; it must not change anything with the cookie of somebody who visits it
 */
export const isForeignOrigin = ({ origin, host }: { origin?: string; host?: string }, baseUrl?: string): boolean => {
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  return new URL(origin).host !== host && (baseUrl === undefined || new URL(origin).origin !== new URL(baseUrl).origin);
};

/**
 * Forwards to a control plane in another process, streaming both ways; 502 when it cannot connect. It gives up a body without
 * end when the control plane would, whose answer to it can be lost with the connection.
 */
export function forwardTo(controlPlaneUrl: string): RequestHandler {
  const proxy = createProxyServer({ target: controlPlaneUrl, changeOrigin: true, xfwd: true });
  // This runs in the tick in which the body begins to pass, as `watchBody` demands.
  proxy.on('proxyReq', (forwarded, request, response) => {
    const { locals } = response as Response;
    watchBody(request as Request, response as Response, locals.maxBytes as number, (problem) => {
      locals.refused = problem;
      forwarded.destroy(problem);
    });
  });
  return async (request, response, next) => {
    try {
      await proxy.web(request, response);
    } catch (error) {
      next(response.headersSent ? error : (response.locals.refused ?? new Problem('runtime_unreachable')));
    }
  };
}
