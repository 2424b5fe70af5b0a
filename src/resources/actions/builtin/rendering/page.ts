/**
 * Builds a whole HTML document around a body. It is self-contained, and its policy lets it load and run nothing else,
 * so that anything which slipped through an escape or a sanitiser would still do nothing.
 */
import { createHash } from 'node:crypto';
import type { ActionContext } from '../action.ts';
import type { Palette } from './colours.ts';
import { html, raw, textOf, type Markup } from './markup.ts';

const BASE = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;font-family:ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;line-height:1.6}
body{background:var(--background);color:var(--ink);overflow-wrap:break-word}
h1,h2,h3,h4{line-height:1.2;text-wrap:balance}
a{color:inherit;text-decoration-color:var(--accent);text-decoration-thickness:2px;text-underline-offset:3px}
svg{max-width:100%}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{body{background:#fff;color:#000}}
`;

const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i;

/** @returns the `language` parameter of the project where that is a language tag */
export const languageOf = ({ params }: ActionContext['project']): string =>
  typeof params.language === 'string' && LANGUAGE.test(params.language) ? params.language : 'en';

interface Page {
  title: string;
  description?: string;
  language: string;
  palette: Palette;
  /** Written by this product, never by a model. */
  css: string;
  body: Markup;
  /** Written by this product, never by a model. The policy of the page lets it run by its digest. */
  script?: string;
}

export function page({ title, description, language, palette, css, body, script }: Page): string {
  const digest = script && createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:${digest ? `; script-src 'sha256-${digest}'` : ''}`;
  const variables = `:root{--background:${palette.background};--ink:${palette.ink};--accent:${palette.accent}}`;
  return textOf(
    html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta http-equiv="Content-Security-Policy" content="${policy}" />
          <title>${title}</title>
          ${description && html`<meta name="description" content="${description}" /> `}
          <style>
            ${raw(variables + BASE + css)}
          </style>
        </head>
        <body>
          ${body} ${script && raw(`<script>${script}</script>`)}
        </body>
      </html> `,
  );
}
