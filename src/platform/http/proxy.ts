/**
 * The browser proxy `/api/v1/cp/*`: turns the session cookie into the header that the control plane reads, and stamps
 * owners and admins. The control plane is called in this process where it is, over HTTP where it is not.
 */
import { parseCookie } from 'cookie';
import type { RequestHandler } from 'express';
import { createProxyServer } from 'httpxy';
import { Problem } from '../core/problem.ts';
import { ADMIN_HEADER, readSession, SESSION_COOKIE, SESSION_HEADER, signAdminStamp } from './auth.ts';
import { OTP_CHALLENGE_HEADER, OTP_CODE_HEADER } from './endpoint.ts';

const FORWARDED = new Set<string>([OTP_CHALLENGE_HEADER, OTP_CODE_HEADER]);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface ProxyOptions {
  sessionSecret: string;
  adminSecret: string;
  /** Public address of the gateway, where something in front of it rewrites `Host`. */
  baseUrl?: string | undefined;
  forward: RequestHandler;
}

/** Mount at the proxy's prefix, so that `req.url` is the control-plane path. */
export const createBrowserProxy =
  ({ sessionSecret, adminSecret, baseUrl, forward }: ProxyOptions): RequestHandler =>
  (request, response, next) => {
    const session = parseCookie(request.headers.cookie ?? '')[SESSION_COOKIE];
    // Cookies are percent-decoded: what is no session text might not be a header either, and is none to begin with.
    if (!session || !/^[\w.-]+$/.test(session)) {
      response.status(401).json({ error: 'auth_required' });
      return;
    }
    if (!SAFE_METHODS.has(request.method) && isForeignOrigin(request.headers, baseUrl))
      throw new Problem('foreign_origin');

    for (const name of Object.keys(request.headers)) {
      if (name.startsWith('x-service-') && !FORWARDED.has(name)) delete request.headers[name];
    }
    // The proxy takes the cookie alone; the control plane never sees it, nor a key sent beside it.
    delete request.headers.authorization;
    delete request.headers.cookie;
    request.headers[SESSION_HEADER] = session;
    const claims = readSession(session, sessionSecret);
    if (claims && claims.role !== 'member') {
      const stamped = { sub: claims.sub, method: request.method, path: request.path };
      request.headers[ADMIN_HEADER] = signAdminStamp(stamped, adminSecret);
    }
    return forward(request, response, next);
  };

/** A page of another site may not change anything with the cookie of somebody who visits it. */
export const isForeignOrigin = ({ origin, host }: { origin?: string; host?: string }, baseUrl?: string): boolean => {
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  return new URL(origin).host !== host && (baseUrl === undefined || new URL(origin).origin !== new URL(baseUrl).origin);
};

/** Forwards to a control plane in another process, streaming both ways; 502 when it cannot connect. */
export function forwardTo(controlPlaneUrl: string): RequestHandler {
  const proxy = createProxyServer({ target: controlPlaneUrl, changeOrigin: true, xfwd: true });
  return async (request, response, next) => {
    try {
      await proxy.web(request, response);
    } catch (error) {
      next(response.headersSent ? error : new Problem('runtime_unreachable'));
    }
  };
}
