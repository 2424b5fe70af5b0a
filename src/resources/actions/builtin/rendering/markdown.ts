/**
 * Turns Markdown that a model wrote into HTML that may stand in a page: sanitised, with its headings in order below the
 * title of the page.
 */
import { Marked } from 'marked';
import type sanitizeHtml from 'sanitize-html';
import { z } from 'zod';
import { first } from '../../../../platform/core/present.ts';
import { ActionError } from '../action.ts';
import { html, plain, raw, slugify, textOf, type Markup } from './markup.ts';
import { sanitizer } from './sanitizer.ts';
import { Words } from './sources.ts';

/** A text that a step wrote. Its content type is checked, because a rendered page has a `content` too. */
export const MarkdownPart = z.union([
  Words.transform((content) => ({ content, title: undefined })),
  z.object({ content: Words, title: Words.optional(), content_type: z.literal('text/markdown').optional() }),
]);

export interface Heading {
  id: string;
  depth: number;
  text: string;
}

const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags:
    'p h2 h3 h4 h5 h6 ul ol li a strong em del code pre blockquote table thead tbody tr th td hr br sup sub'.split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    '*': ['id'],
    table: ['tabindex'],
    pre: ['tabindex'],
    th: ['align', 'scope'],
    td: ['align'],
    ol: ['start'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  disallowedTagsMode: 'discard',
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'noopener noreferrer' } }),
    th: (tagName, attribs) => ({ tagName, attribs: { ...attribs, scope: 'col' } }),
    // Wide tables and code scroll sideways on a phone, which a keyboard must be able to do too.
    table: (tagName) => ({ tagName, attribs: { tabindex: '0' } }),
    pre: (tagName) => ({ tagName, attribs: { tabindex: '0' } }),
  },
};

/** @returns the heading with which the text begins, if it is of the first level, and the rest of the text */
export function splitTitle(markdown: string): { title: string | undefined; rest: string } {
  const text = markdown.trimStart();
  const line = first(text.split('\n', 1));
  const title = line.startsWith('# ')
    ? line
        .slice(2)
        .replace(/[*_`#]/g, '')
        .trim()
    : '';
  return title ? { title, rest: text.slice(line.length) } : { title: undefined, rest: markdown };
}

/** Undoes the escapes that the sanitiser made, because whoever shows a heading elsewhere escapes it again. */
const unescape = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** The parser's time grows with the square of the length of some runs of `_`, so the text has a limit. */
const MAX_MARKDOWN = 500_000;

/**
 * @param idPrefix keeps the ids of several texts in one page apart
 * @throws ActionError
 */
export function renderMarkdown(markdown: string, idPrefix = ''): { body: Markup; headings: Heading[] } {
  if (markdown.length > MAX_MARKDOWN) {
    throw new ActionError(`a text of ${markdown.length} characters is too long for a page: at most ${MAX_MARKDOWN}`);
  }
  const headings: Heading[] = [];
  const marked = new Marked({ gfm: true, async: false });
  const taken = new Set<string>();
  let depthBefore = 1;
  marked.use({
    renderer: {
      heading({ tokens, depth: given }) {
        // A level that is left out would be a gap in the outline that a screen reader gives.
        const depth = Math.max(2, Math.min(given, depthBefore + 1));
        depthBefore = depth;
        const inner = this.parser.parseInline(tokens);
        const text = unescape(sanitizer()(inner, { allowedTags: [] }));
        const base = `${idPrefix}${slugify(text, 'section')}`;
        let id = base;
        for (let nth = 2; taken.has(id); nth += 1) id = `${base}-${nth}`;
        taken.add(id);
        headings.push({ id, depth, text });
        return `<h${depth} id="${id}">${inner}</h${depth}>\n`;
      },
      // The page loads nothing from elsewhere, so a picture becomes a link to it.
      image: ({ href, text }) => textOf(html`<a href="${href}">${text || href}</a>`),
    },
  });
  const body = sanitizer()(marked.parse(plain(markdown)) as string, ALLOWED);
  return { body: raw(body), headings };
}
