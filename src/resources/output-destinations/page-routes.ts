/**
 * The page that the link in a question opens, on the gateway. It belongs to neither API: whoever has the link is who
 * was mailed it. Opening it decides nothing, as mail programs open links by themselves.
 */
import express, { type Router } from 'express';
import { z } from 'zod';
import { Problem } from '../../platform/core/problem.ts';
import { notFound } from '../../platform/http/app.ts';
import { answering, privately, sendPage } from '../../platform/http/pages.ts';
import { RECIPIENT_ANSWERS } from './model.ts';
import { answeredPage, goneLinkPage, questionPage } from './pages.ts';
import type { DestinationService } from './service.ts';

const Token = z.string().max(300);
const Asked = z.object({ token: Token });
const Answered = z.object({ token: Token, answer: z.enum(RECIPIENT_ANSWERS) });

/** Mount it at `QUESTION_PATH`. */
export function recipientRouter({ destinations }: { destinations: DestinationService }): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(privately);

  router.get(
    '/',
    answering(async (request, response) => {
      const { data } = Asked.safeParse(request.query);
      const asked = data && (await destinations.readQuestion(data.token));
      if (!data || !asked) return sendPage(response, 404, goneLinkPage);
      sendPage(response, 200, (nonce) => questionPage(nonce, { ...asked, token: data.token }));
    }),
  );

  router.post(
    '/',
    express.urlencoded({ extended: false, limit: '2kb' }),
    answering(async (request, response) => {
      const { data } = Answered.safeParse(request.body);
      if (!data) throw new Problem('bad_request', 'expects token, and answer: confirmed or refused');
      const { token, answer } = data;
      if (!(await destinations.answerQuestion(token, answer))) return sendPage(response, 404, goneLinkPage);
      sendPage(response, 200, (nonce) => answeredPage(nonce, answer));
    }),
  );
  // Express would answer itself which methods an address takes.
  router.options('/', notFound);
  return router;
}
