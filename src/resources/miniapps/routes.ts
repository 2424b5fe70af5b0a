/**
 * The addresses of pages, on the gateway. They belong to neither API: whoever has the token in an address may see and
 * answer its page, so no other credential is looked at.
 */
import express, { type Request, type Router } from 'express';
import { JsonDepthError, parseJson } from '../../platform/core/json.ts';
import { isPageId } from '../../platform/core/page-keys.ts';
import { Problem } from '../../platform/core/problem.ts';
import { notFound } from '../../platform/http/app.ts';
import { findUnstorable } from '../../platform/http/validate.ts';
import { contentSecurityPolicy, noticeDocument, pageDocument } from './document.ts';
import { MAX_SUBMISSION, MINIAPPS_PATH } from './model.ts';
import type { MiniappService } from './service.ts';

const NOTICES = {
  submitted: [410, 'This was answered already. You can close this page.'],
  closed: [410, 'This page takes no answer any more.'],
  unknown: [404, 'There is no such page.'],
  keyless: [404, 'This address names a page and does not open it. Sign in to the console and answer it in the inbox.'],
} as const;

/** @param baseUrl the public address of the gateway, where something in front of it rewrites `Host` */
export function miniappRouter({
  miniapps,
  baseUrl,
}: {
  miniapps: MiniappService;
  baseUrl: string | undefined;
}): Router {
  const router = express.Router({ caseSensitive: true });

  router.get('/:token', async (request, response) => {
    const page = await miniapps.find(request.params.token);
    response.set({
      'content-security-policy': contentSecurityPolicy(addressesOf(request, baseUrl)),
      'cache-control': 'no-store',
    });
    if (page?.state === 'open') return response.type('html').send(pageDocument(page));
    const [status, text] = NOTICES[page?.state ?? (isPageId(request.params.token) ? 'keyless' : 'unknown')];
    return response.status(status).type('html').send(noticeDocument(text));
  });

  // Any content type is taken, because a page sends what a browser sends without asking first.
  const readText = express.text({ limit: MAX_SUBMISSION, type: () => true });
  // The page's origin is opaque, so without this it could not read the answer.
  const readable = express.Router().use((_request, response, next) => {
    response.set('access-control-allow-origin', '*');
    next();
  });
  router.post('/:token', readable, readText, async (request: Request<{ token: string }>, response) => {
    const data = jsonIn(request.body);
    await miniapps.submit(request.params.token, data);
    response.json({ status: 'submitted' });
  });
  // Express would answer itself which methods an address takes.
  router.options('/:token', notFound);
  return router;
}

/** @throws Problem invalid_json, bad_request */
function jsonIn(body: unknown): unknown {
  let data: unknown;
  try {
    data = parseJson(body as string);
  } catch (error) {
    throw error instanceof JsonDepthError ? new Problem('bad_request', error.message) : new Problem('invalid_json');
  }
  const unstorable = findUnstorable(data);
  if (unstorable) throw new Problem('bad_request', [...unstorable.path, unstorable.reason].join(': '));
  return data;
}

/**
 * @returns the addresses of pages, as the browser has them and as the settings do. The token is left out, as the policy
 * may be logged; so is what separates directives and sources, whatever was in the request.
 */
function addressesOf({ protocol, host }: Request, baseUrl: string | undefined): string[] {
  const bases = [`${protocol}://${host}`, ...(baseUrl === undefined ? [] : [baseUrl])];
  const urls = bases.flatMap((base) => (URL.canParse(base) ? [new URL(base)] : []));
  return urls.map(({ origin }) => `${origin}${MINIAPPS_PATH}/`.replace(/[;,\s]/g, ''));
}
