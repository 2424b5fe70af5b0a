/**
 * `/login` and `/logout` on the gateway: what a browser posts is answered with a page, and JSON with JSON. They belong
 * to neither API.
 */
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Log } from '../../platform/core/log.ts';
import { addressIn } from '../../platform/core/addresses.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { notFound } from '../../platform/http/app.ts';
import { answering, fromHere, privately, sendPage } from '../../platform/http/pages.ts';
import { browserOf, knownOf, sessionOf, ticketOf } from './browser.ts';
import { createKnown } from './known-browsers.ts';
import { ownPath } from './model.ts';
import { codePage, emailPage, linkPage, noticePage, signedInPage, signedOutPage, workspacePage } from './pages.ts';
import type { SignInOutcome, SignInService } from './service.ts';
import { createTickets, type Tickets } from './tickets.ts';

const MAX_BODY = '10kb';
const CONSOLE = '/console';

const Address = z.string().transform((text, ctx) => {
  const address = addressIn(text);
  if (address !== undefined) return address;
  ctx.addIssue('expects an e-mail address');
  return z.NEVER;
});
const text = z.string().max(500);
const Asked = z.object({ email: Address, next: text.optional() });
const Shown = z.object({ challenge_id: text, code: text, workspace: text.optional(), next: text.optional() });
const Linked = z.object({ token: text, workspace: text.optional() });
const Chosen = z.object({ workspace: text });

/** @throws Problem bad_request */
function parsed<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [{ path, message }] = result.error.issues as [z.core.$ZodIssue];
  throw new Problem('bad_request', `${path.join('.') || 'body'}: ${message}`);
}

const isJson = (request: Request): boolean => Boolean(request.is('json'));

export interface SignInRouterOptions {
  signIn: SignInService;
  /** The public address of the gateway, where something in front of it rewrites `Host`. */
  baseUrl: string | undefined;
  /** The keys of access tokens are at this address; those in a file of this machine are published. */
  identityKeysUrl: string | undefined;
  log: Log;
}

/** Mount it at the root of the gateway. */
export function signInRouter({ signIn, baseUrl, identityKeysUrl, log }: SignInRouterOptions): Router {
  const { codes, oidc, sessions } = signIn;
  const tickets = createTickets(signIn.secret);
  const known = createKnown(signIn.secret);
  const withoutMail = () => (signIn.isMailLogged ? { owner: signIn.localLinks.owner() } : undefined);

  /** @param person has shown the address to be theirs; `next` says where to go from here */
  function finish(request: Request, response: Response, outcome: SignInOutcome, person: Tickets['choice']) {
    const browser = browserOf(request, response, baseUrl);
    if (outcome.kind === 'choose') {
      const { memberships } = outcome;
      browser.setTicket(tickets.issue('choice', person));
      if (!isJson(request)) return sendPage(response, 200, (nonce) => workspacePage(nonce, memberships));
      const workspaces = memberships.map(({ workspaceId: workspace, role }) => ({ workspace, role }));
      throw new Problem('choose_workspace', { code: 'choose_workspace', workspaces });
    }
    const { session, claims } = outcome;
    browser.clearTicket();
    browser.setSession(session, claims);
    if (!oidc) browser.setKnown(known.issue(person.email));
    if (!isJson(request)) return response.redirect(303, person.next);
    const { workspace, role, exp } = claims;
    response.json({ workspace, role, expires_at: new Date(exp * 1_000).toISOString() });
  }

  const router = express.Router({ caseSensitive: true });
  const read = [express.json({ limit: MAX_BODY }), express.urlencoded({ extended: false, limit: MAX_BODY })];
  router.use(['/login', '/logout'], privately);
  router.post(['/login/{*step}', '/logout'], fromHere(baseUrl), ...read);

  router.get(
    '/login',
    answering(async (request, response) => {
      const next = ownPath(request.query.next);
      const claims = await sessions.read(sessionOf(request));
      if (claims && next !== '/login') return response.redirect(303, next);
      if (claims) {
        const { email, sub, workspace, role, exp } = claims;
        const who = { email: email || sub, workspace, role, endsAt: new Date(exp * 1_000) };
        return sendPage(response, 200, (nonce) => signedInPage(nonce, who));
      }
      if (!oidc) return sendPage(response, 200, (nonce) => emailPage(nonce, { next, withoutMail: withoutMail() }));
      const browser = browserOf(request, response, baseUrl);
      const { url, ...departure } = await oidc.depart(browser.urlOf('/login/callback').href);
      browser.setTicket(tickets.issue('departure', { ...departure, next }));
      response.redirect(302, url);
    }),
  );

  router.post(
    '/login/code',
    answering(async (request, response) => {
      if (oidc) throw new Problem('not_found');
      const { email, next } = parsed(Asked, request.body);
      const challengeId = await codes.request(email, { known: known.isOf(knownOf(request), email) });
      if (isJson(request)) response.json({ challenge_id: challengeId });
      else
        sendPage(response, 200, (nonce) =>
          codePage(nonce, { challengeId, next: ownPath(next), withoutMail: withoutMail() }),
        );
    }),
  );

  router.post(
    '/login/verify',
    answering(async (request, response) => {
      if (oidc) throw new Problem('not_found');
      const shown = parsed(Shown, request.body);
      const next = ownPath(shown.next);
      const email = await codes.verify(shown.challenge_id, shown.code.trim()).catch((error: unknown) => {
        if (isJson(request) || (error as Problem).code !== 'invalid_code') throw error;
        const problem = present(WORDS.invalid_code);
        const again = { challengeId: shown.challenge_id, next, problem, withoutMail: withoutMail() };
        sendPage(response, 401, (nonce) => codePage(nonce, again));
      });
      if (email === undefined) return;
      finish(request, response, await signIn.enter(email, { workspace: shown.workspace }), { email, next });
    }),
  );

  // Programs open mails before their readers do and ask for this, so it uses nothing up.
  router.get(
    '/login/link',
    answering(async (request, response) => {
      if (oidc) throw new Problem('not_found');
      const { token } = parsed(Linked, request.query);
      const email = await codes.readLink(token);
      sendPage(response, 200, (nonce) => linkPage(nonce, { token, email }));
    }),
  );

  router.post(
    '/login/link',
    answering(async (request, response) => {
      if (oidc) throw new Problem('not_found');
      const { token, workspace } = parsed(Linked, request.body);
      const email = await codes.useLink(token);
      finish(request, response, await signIn.enter(email, { workspace }), { email, next: '/login' });
    }),
  );

  // The link is printed on a terminal and in no mail: nothing but a person's click opens it, so it signs in at once.
  router.get(
    '/login/local',
    answering(async (request, response) => {
      const { token } = parsed(Linked, request.query);
      const claims = await sessions.read(sessionOf(request));
      // A person who is signed in already has clicked it before.
      if (claims) return response.redirect(303, CONSOLE);
      const email = signIn.localLinks.use(token, request);
      finish(request, response, await signIn.enter(email), { email, next: CONSOLE });
    }),
  );

  router.post(
    '/login/workspace',
    answering(async (request, response) => {
      const { workspace } = parsed(Chosen, request.body);
      const person = tickets.read('choice', ticketOf(request));
      if (!person) throw new Problem('auth_required');
      finish(request, response, await signIn.enter(person.email, { ...person, workspace }), person);
    }),
  );

  router.get(
    '/login/callback',
    answering(async (request, response) => {
      if (!oidc) throw new Problem('not_found');
      const departure = tickets.read('departure', ticketOf(request));
      if (!departure) throw new Problem('auth_required');
      const arrival = browserOf(request, response, baseUrl).urlOf(request.originalUrl);
      const { email, role } = await oidc.arrive(arrival, departure).catch((error: unknown) => {
        if (error instanceof Problem) throw error;
        // The details are left out, because they contain what the browser brought along.
        const { code, message } = error as Error & { code?: string };
        log.warn({ code, reason: message }, 'a sign-in at the OpenID provider did not succeed');
        throw new Problem('auth_required');
      });
      finish(request, response, await signIn.enter(email, { role }), { email, role, next: departure.next });
    }),
  );

  router.post(
    '/logout',
    answering(async (request, response) => {
      const everywhere = request.query.everywhere === '1';
      await sessions.end(sessionOf(request), { everywhere });
      browserOf(request, response, baseUrl).clearSession();
      if (isJson(request)) response.status(204).end();
      else sendPage(response, 200, signedOutPage);
    }),
  );

  if (identityKeysUrl?.startsWith('file:')) {
    router.get(
      '/.well-known/jwks.json',
      answering(async (_request, response) => {
        response.type('json').send(await readFile(new URL(identityKeysUrl), 'utf8'));
      }),
    );
  }

  // Express would answer itself which methods an address takes.
  router.options(['/login', '/login/{*step}', '/logout'], notFound);
  router.use(['/login', '/logout'], problemPage);
  return router;
}

/** A person is told a failure in these words; a program gets the failure itself. */
const WORDS: Partial<Record<string, string>> = {
  bad_request: 'That is not an e-mail address, or something is missing. Please check it.',
  invalid_code:
    'This is wrong or no longer valid. Check the code, or get a new one; or open the link in one of the mails of the last hour.',
  auth_required: 'Sign-in took too long, or was begun in another window.',
  no_membership: 'This address is a member of no workspace. Ask an admin of yours to add it.',
  foreign_origin: 'The form came from another site.',
  identity_unreachable: 'The identity provider cannot be reached at the moment.',
  not_found: 'There is no such page.',
};

const problemPage: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const words = error instanceof Problem ? WORDS[error.code] : undefined;
  if (!(error instanceof Problem) || words === undefined || isJson(request) || response.headersSent) return next(error);
  if (error.code === 'bad_request' && request.path === '/login/code') {
    const retry = { next: ownPath((request.body as { next?: unknown } | undefined)?.next), problem: words };
    return sendPage(response, error.status, (nonce) => emailPage(nonce, retry));
  }
  return sendPage(response, error.status, (nonce) => noticePage(nonce, words));
};
