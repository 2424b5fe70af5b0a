/** What sign-in shares with a browser: its cookies, the headers of its pages, and where it believes to be. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { Problem } from '../../platform/core/problem.ts';
import { urgently } from '../../platform/db/client.ts';
import { SESSION_COOKIE, type SessionClaims } from '../../platform/http/auth.ts';
import { isForeignOrigin } from '../../platform/http/proxy.ts';
import { SIGN_IN_TTL_MS } from './model.ts';
import { contentSecurityPolicy } from './pages.ts';

const TICKET_COOKIE = 'service_login';

const cookieOf = (request: Request, name: string): string | undefined =>
  parseCookie(request.headers.cookie ?? '')[name];
export const sessionOf = (request: Request): string | undefined => cookieOf(request, SESSION_COOKIE);
export const ticketOf = (request: Request): string | undefined => cookieOf(request, TICKET_COOKIE);

/** Whoever sends a header that is not true gets a cookie that does not come back: it is the sender's own. */
const isSecure = (request: Request, baseUrl: string | undefined): boolean =>
  request.secure ||
  baseUrl?.startsWith('https:') === true ||
  request.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https';

export interface Browser {
  setSession(session: string, claims: SessionClaims): void;
  clearSession(): void;
  setTicket(ticket: string): void;
  clearTicket(): void;
  /** Public address of a path of the gateway. */
  urlOf(path: string): URL;
}

/** @param baseUrl public address of the gateway, where something in front of it rewrites `Host` */
export function browserOf(request: Request, response: Response, baseUrl: string | undefined): Browser {
  const secure = isSecure(request, baseUrl);
  const set = (name: string, value: string, path: string, maxAge: number) =>
    response.append(
      'set-cookie',
      stringifySetCookie({ name, value, path, maxAge, httpOnly: true, sameSite: 'lax', secure }),
    );
  return {
    setSession: (session, { exp }) =>
      void set(SESSION_COOKIE, session, '/', Math.max(0, exp - Math.floor(Date.now() / 1_000))),
    clearSession: () => void set(SESSION_COOKIE, '', '/', 0),
    setTicket: (ticket) => void set(TICKET_COOKIE, ticket, '/login', SIGN_IN_TTL_MS / 1_000),
    clearTicket: () => void set(TICKET_COOKIE, '', '/login', 0),
    urlOf(path) {
      const base = baseUrl ?? `${secure ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`;
      return new URL(`${base.replace(/\/$/, '')}${path}`);
    },
  };
}

/** @param page makes the document; what it names with the nonce may be used by it */
export function sendPage(response: Response, status: number, page: (nonce: string) => string): void {
  const nonce = randomBytes(16).toString('base64');
  response.status(status).set('content-security-policy', contentSecurityPolicy(nonce)).type('html').send(page(nonce));
}

/** What is here is one person's and of this moment. */
export const privately: RequestHandler = (_request, response, next) => {
  // Without a referrer a browser would not say either which page a form was posted from.
  response.set({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  next();
};

/** A page of another site may sign nobody out, nor in as somebody else. */
export const fromHere =
  (baseUrl: string | undefined): RequestHandler =>
  (request, _response, next) => {
    if (isForeignOrigin(request.headers, baseUrl)) throw new Problem('foreign_origin');
    next();
  };

export const answering =
  (handler: (request: Request, response: Response) => Promise<void>): RequestHandler =>
  async (request, response) => {
    // From here on what is wrong is no longer how the request was written.
    response.locals.isHandling = true;
    await urgently(() => handler(request, response));
  };
