/**
 * Pages of the gateway for people. They are forms without a script, so that their policy allows none. Everything shown
 * has to be `escaped`, and they link and post to no address but this service's own.
 */
import type { Request, RequestHandler, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { Problem } from '../core/problem.ts';
import { urgently } from '../db/client.ts';
import { isForeignOrigin } from './proxy.ts';

export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const STYLE = `
:root { color-scheme: light dark; --ink: #17202e; --soft: #55627a; --paper: #fff; --ground: #eef1f6; --line: #b9c2d2;
  --accent: #1d4fd7; --on-accent: #fff; --bad: #a3120a; --bad-ground: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9edf5; --soft: #a9b4c8; --paper: #1a2130; --ground: #10151f; --line: #46526a;
    --accent: #8fb0ff; --on-accent: #0c1530; --bad: #ffb4ab; --bad-ground: #43201d; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: 0.9rem; box-shadow: 0 0.6rem 2rem rgb(10 20 40 / 10%); }
.brand { margin: 0 0 1.5rem; color: var(--soft); font-size: 0.875rem; font-weight: 600; }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1.25rem; color: var(--soft); }
label { display: block; margin-bottom: 0.4rem; font-weight: 600; }
input[type='email'], input[type='text'], textarea { width: 100%; padding: 0.7rem 0.8rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: 0.5rem; }
input.code { font: 600 1.5rem/1.2 ui-monospace, monospace; letter-spacing: 0.35em; text-align: center; }
button { width: 100%; margin-top: 1rem; padding: 0.75rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 1px solid var(--accent); border-radius: 0.5rem; cursor: pointer; }
button.quiet { color: var(--accent); background: transparent; border-color: var(--line); }
:is(a, button, input, textarea, summary):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.alert { padding: 0.7rem 0.9rem; color: var(--bad); background: var(--bad-ground); border-radius: 0.5rem; }
.more { margin: 1.5rem 0 0; font-size: 0.9rem; }
fieldset { margin: 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 600; }
.choice { display: flex; gap: 0.7rem; align-items: center; margin: 0.6rem 0 0; padding: 0.7rem 0.8rem; font-weight: 400;
  border: 1px solid var(--line); border-radius: 0.5rem; cursor: pointer; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.4rem 1rem; margin: 0 0 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
h1, p, li { overflow-wrap: anywhere; }
ul, ol { margin: 0 0 1.25rem; padding-left: 1.2rem; }
pre { margin: 0.5rem 0 0; overflow: auto; max-height: 20rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.875rem; }
details { margin: 0 0 1.25rem; }
.asked { color: var(--ink); white-space: pre-line; }
.then { margin: 0.35rem 0 0; font-size: 0.875rem; }
@media (max-width: 30rem) { body { padding: 0.75rem; } main { padding: 1.25rem; } dl { column-gap: 0.75rem; } }`;

export const page = (title: string, nonce: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} - Agent Orchestration Service</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${STYLE}
</style>
</head>
<body>
<main>
<p class="brand">Agent Orchestration Service</p>
${body}
</main>
</body>
</html>
`;

export const alert = (text: string | undefined): string =>
  text === undefined ? '' : `<p class="alert" role="alert" id="problem">${escaped(text)}</p>\n`;
export const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`;

/** @param page makes the document; elements that carry the nonce are allowed by the policy */
export function sendPage(response: Response, status: number, page: (nonce: string) => string): void {
  const nonce = randomBytes(16).toString('base64');
  response.status(status).set('content-security-policy', contentSecurityPolicy(nonce)).type('html').send(page(nonce));
}

/** Sets headers that keep a page out of caches, since it shows one person's data at this moment. */
export const privately: RequestHandler = (_request, response, next) => {
  // Without a referrer a browser would not say either which page a form was posted from.
  response.set({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  next();
};

/**
 * @returns whether the form was posted from a page of this service; a page of another site may sign nobody out, nor in
 * as somebody else
 */
export const fromHere =
  (baseUrl: string | undefined): RequestHandler =>
  (request, _response, next) => {
    if (isForeignOrigin(request.headers, baseUrl)) throw new Problem('foreign_origin');
    next();
  };

export const answering =
  (handler: (request: Request, response: Response) => Promise<void>): RequestHandler =>
  async (request, response) => {
    // From here on errors are no longer about how the request was written, which the error handler has to know.
    response.locals.isHandling = true;
    await urgently(() => handler(request, response));
  };
