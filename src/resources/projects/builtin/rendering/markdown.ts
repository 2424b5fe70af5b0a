/** Markdown of a model as HTML that may stand in a page: sanitised, headings in order below the page's own title. */
import { Marked } from 'marked';
import sanitizeHtml from 'sanitize-html';
import { z } from 'zod';
import { first } from '../../../../platform/core/present.ts';
import { ActionError } from '../action.ts';
import { html, plain, raw, slugify, textOf, type Markup } from './markup.ts';
import { Words } from './sources.ts';

/** A text that a step wrote. Rendered pages have a `content` too. */
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
  allowedAttributes: { a: ['href', 'title', 'rel'], '*': ['id'], th: ['align', 'scope'], td: ['align'], ol: ['start'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  disallowedTagsMode: 'discard',
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'noopener noreferrer' } }),
    th: (tagName, attribs) => ({ tagName, attribs: { ...attribs, scope: 'col' } }),
  },
};

/** Its first heading, when it begins with one of the first level, and the rest. */
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

/** The sanitiser escapes what is left, and whoever shows a heading elsewhere will escape it again. */
const unescape = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** Some runs of `_` take the parser time by the square of their length. */
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
        // A level that is left out is a gap in the outline of whoever has it read aloud.
        const depth = Math.max(2, Math.min(given, depthBefore + 1));
        depthBefore = depth;
        const inner = this.parser.parseInline(tokens);
        const text = unescape(sanitizeHtml(inner, { allowedTags: [] }));
        const base = `${idPrefix}${slugify(text, 'section')}`;
        let id = base;
        for (let nth = 2; taken.has(id); nth += 1) id = `${base}-${nth}`;
        taken.add(id);
        headings.push({ id, depth, text });
        return `<h${depth} id="${id}">${inner}</h${depth}>\n`;
      },
      // Nothing is loaded from elsewhere, so a picture becomes a link to it.
      image: ({ href, text }) => textOf(html`<a href="${href}">${text || href}</a>`),
    },
  });
  const body = sanitizeHtml(marked.parse(plain(markdown)) as string, ALLOWED);
  return { body: raw(body), headings };
}
