/**
 * The page that an action link opens, on the gateway. Mail scanners and previews follow links, also again and again: only what
 * a person sends by a button decides. Whoever has the link is who was mailed it; no other credential is looked at.
 */
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { Problem } from '../../platform/core/problem.ts';
import { notFound } from '../../platform/http/app.ts';
import { clientNetwork } from '../../platform/http/client-address.ts';
import { createLimiter } from '../../platform/http/limiter.ts';
import { answering, privately, sendPage } from '../../platform/http/pages.ts';
import { findUnstorable } from '../../platform/http/validate.ts';
import { codePage, goneLinkPage, linkedPage, tooManyPage, type Draft } from './link-pages.ts';
import { challengeIn, type ActionLinks, type SaidByLink } from './links.ts';
import { ANSWERS, LINK_PATH } from './model.ts';

const Blank = z.string().transform((text) => text.trim() || undefined);
const Form = z.object({
  answer: z.enum(ANSWERS, 'choose one of the answers'),
  comment: Blank.pipe(z.string().max(10_000, 'the comment is too long (max 10000)').optional()).optional(),
  text: Blank.pipe(z.string().max(10_000, 'the answer is too long (max 10000)').optional()).optional(),
  raise_by_usd: Blank.pipe(
    z
      .string()
      .regex(/^\d{1,9}(\.\d{1,8})?$/, 'an amount in US dollars is needed, such as 5.00')
      .optional(),
  ).optional(),
  challenge_id: z.string().max(100).optional(),
  code: z.string().trim().max(20).optional(),
});

/** In a minute, of one link and of one client. */
const REQUESTS_OF_LINK = 60;
const REQUESTS_OF_CLIENT = 300;

/** Mount it at `LINK_PATH`. */
export function linkRouter({ links, baseUrl }: { links: ActionLinks; baseUrl: string }): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(privately, unnamed, limited(REQUESTS_OF_CLIENT, clientNetwork));
  // The path is percent-decoded here, so that a link has one name, however its address is written. Clients over their
  // own limit do not come here: they cannot fill the names that this limit tells apart.
  router.use('/:token', limited(REQUESTS_OF_LINK, tokenOf));

  router.get(
    '/:token',
    answering(async (request, response) => {
      const linked = await links.read(tokenOf(request));
      if (!linked) return gone(response);
      sendPage(response, 200, (nonce) => linkedPage(nonce, { linked, baseUrl }));
    }),
  );

  router.post(
    '/:token',
    express.urlencoded({ extended: false, limit: '64kb' }),
    answering(async (request, response) => {
      const token = tokenOf(request);
      const before = await links.read(token);
      if (!before) return gone(response);
      const draft = request.body as Draft;
      try {
        const linked = await links.answer(token, readForm(request.body));
        if (!linked) return gone(response);
        sendPage(response, 200, (nonce) => linkedPage(nonce, { linked, baseUrl, isAnswered: before.state === 'open' }));
      } catch (error) {
        const challenge = challengeIn(error);
        if (challenge) {
          const wasWrong = typeof draft.code === 'string' && draft.code !== '';
          return sendPage(response, 403, (nonce) => codePage(nonce, { linked: before, draft, challenge, wasWrong }));
        }
        if (!(error instanceof Problem) || error.status >= 500) throw error;
        // Somebody may have been faster, or the link withdrawn: then the page says so.
        const now = await links.read(token);
        if (!now) return gone(response);
        const problem = wordsOf(error);
        sendPage(response, error.status, (nonce) => linkedPage(nonce, { linked: now, baseUrl, draft, problem }));
      }
    }),
  );
  // Express would answer itself which methods an address takes.
  router.options('/:token', notFound);
  return router;
}

const tokenOf = ({ params }: Request): string => {
  const { token } = params as { token: string };
  return token.length <= 200 ? token : '';
};

/** Browsers name a page in what they ask next, and this one's name is its credential. */
const unnamed: RequestHandler = (_request, response, next) => {
  response.locals.route = `${LINK_PATH}/{token}`;
  response.set({ 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' });
  next();
};

/** The same for links that exist and those that do not. */
function limited(most: number, nameOf: (request: Request) => string): RequestHandler {
  const isWithin = createLimiter(most);
  return (request, response, next) => {
    if (isWithin(nameOf(request))) return next();
    response.set('retry-after', '60');
    sendPage(response, 429, tooManyPage);
  };
}

const gone = (response: Response): void => sendPage(response, 404, goneLinkPage);

/** @throws Problem bad_request */
function readForm(body: unknown): SaidByLink {
  const { data, error } = Form.safeParse(body);
  if (error) throw new Problem('bad_request', error.issues[0]?.message ?? 'not a form of this page');
  const unstorable = findUnstorable(data);
  if (unstorable) throw new Problem('bad_request', 'the text has characters that cannot be stored');
  const { answer, comment, text, raise_by_usd, challenge_id: challengeId, code } = data;
  if (answer === 'submit' && text === undefined) throw new Problem('bad_request', 'write or choose an answer first');
  return {
    answer,
    comment: comment ?? null,
    data: answer === 'submit' ? { answer: text ?? '' } : undefined,
    raise_by_usd: answer === 'raise_budget' ? raise_by_usd : undefined,
    challengeId,
    code,
  };
}

function wordsOf({ detail, message }: Problem): string {
  if (typeof detail === 'object' && detail !== null && 'message' in detail) return String(detail.message);
  return message;
}
