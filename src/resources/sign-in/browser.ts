/** What sign-in exchanges with a browser: its cookies, and the address at which it believes to be. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { SESSION_COOKIE, type SessionClaims } from '../../platform/http/auth.ts';
import { KNOWN_TTL_MS, SIGN_IN_TTL_MS } from './model.ts';

const TICKET_COOKIE = 'service_login';
const KNOWN_COOKIE = 'service_known';

const cookieOf = (request: Request, name: string): string | undefined =>
  parseCookie(request.headers.cookie ?? '')[name];
export const sessionOf = (request: Request): string | undefined => cookieOf(request, SESSION_COOKIE);
export const ticketOf = (request: Request): string | undefined => cookieOf(request, TICKET_COOKIE);
export const knownOf = (request: Request): string | undefined => cookieOf(request, KNOWN_COOKIE);

/** Whoever sends a false header gets a cookie that does not come back, which harms the sender alone. */
const isSecure = (request: Request, baseUrl: string | undefined): boolean =>
  request.secure ||
  baseUrl?.startsWith('https:') === true ||
  request.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https';

export interface Browser {
  setSession(session: string, claims: SessionClaims): void;
  clearSession(): void;
  setTicket(ticket: string): void;
  clearTicket(): void;
  /** The cookie outlives the session, and opens nothing. */
  setKnown(known: string): void;
  /** @returns the public address of a path of the gateway */
  urlOf(path: string): URL;
}

/** @param baseUrl the public address of the gateway, where something in front of it rewrites `Host` */
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
    setKnown: (known) => void set(KNOWN_COOKIE, known, '/login', KNOWN_TTL_MS / 1_000),
    urlOf(path) {
      const base = baseUrl ?? `${secure ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`;
      return new URL(base + path);
    },
  };
}
