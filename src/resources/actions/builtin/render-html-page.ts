/** Renders an article as a web page: it takes Markdown and makes one styled, self-contained HTML file. */
import { z } from 'zod';
import type { Action } from './action.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { drawingOr, landscape } from './rendering/illustration.ts';
import { MarkdownPart, renderMarkdown, splitTitle } from './rendering/markdown.ts';
import { html } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { findPart, requirePart, Words } from './rendering/sources.ts';
import { drawingMarkup } from './rendering/svg.ts';

const Listing = z.object({ meta_title: Words, meta_description: Words });
const Cover = z.object({ svg: z.string(), alt: Words });

const CSS = `
main{max-width:43rem;margin:0 auto;padding:clamp(1.25rem,5vw,4rem) 1.25rem 6rem;font-size:1.125rem}
header h1{font-size:clamp(2rem,6vw,3.25rem);letter-spacing:-.025em;margin:0 0 1rem}
.lead{font-size:1.25rem;opacity:.8;margin:0 0 2rem}
.cover{margin:0 0 2.5rem;border-radius:1rem;overflow:hidden}
.cover svg{display:block;width:100%;height:auto}
nav{border-left:4px solid var(--accent);padding:.25rem 0 .25rem 1.25rem;margin:0 0 2.5rem;font-size:1rem}
nav p{margin:0 0 .25rem;font-weight:700}
nav ol{margin:0;padding-left:1.2rem}
h2{font-size:1.6rem;letter-spacing:-.015em;margin:3rem 0 .75rem}
h3{font-size:1.25rem;margin:2rem 0 .5rem}
blockquote{margin:1.5rem 0;padding-left:1.25rem;border-left:4px solid var(--accent);font-style:italic}
pre{overflow-x:auto;padding:1rem;border-radius:.5rem;background:color-mix(in srgb,var(--ink) 7%,transparent);font-size:.95rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre code{font-size:1em}
table{display:block;overflow-x:auto;border-collapse:collapse}
th,td{padding:.5rem .75rem;text-align:left;border-bottom:1px solid color-mix(in srgb,var(--ink) 20%,transparent)}
hr{border:0;border-top:1px solid color-mix(in srgb,var(--ink) 20%,transparent);margin:2.5rem 0}
@media print{nav{display:none}main{max-width:none;padding:0}h2,h3{break-after:avoid}}
`;

export const renderHtmlPage: Action = {
  name: 'render_html_page',
  description:
    'Renders Markdown as one self-contained, responsive and printable HTML page, with contents, and with the cover ' +
    '{svg, alt} and the listing {meta_title, meta_description} of earlier steps where there are any.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const text = requirePart(context, 'text of the page', 'content', MarkdownPart);
    const listing = findPart(context, Listing);
    const cover = findPart(context, Cover);
    const { title: written, rest } = splitTitle(text.content);
    const title = text.title ?? written ?? context.project.title;
    const { body, headings } = renderMarkdown(rest, 'section-');
    const chapters = headings.filter(({ depth }) => depth === 2);
    const drawing = cover && drawingOr(cover.svg, 'cover-', landscape, `${title} ${cover.alt}`);

    const markup = html`<main>
      <article>
        <header>
          <h1>${title}</h1>
          ${listing && html`<p class="lead">${listing.meta_description}</p>`}
        </header>
        ${drawing && html`<figure class="cover">${drawingMarkup(drawing, cover.alt)}</figure>`}
        ${
          chapters.length > 2 &&
          html`<nav aria-label="Contents">
            <p>Contents</p>
            <ol>
              ${chapters.map((each) => html`<li><a href="#${each.id}">${each.text}</a></li>`)}
            </ol>
          </nav>`
        }
        ${body}
      </article>
    </main>`;
    const document = page({
      title: listing?.meta_title ?? title,
      description: listing?.meta_description,
      language: languageOf(context.project),
      palette: paletteOf(context),
      css: CSS,
      body: markup,
    });
    return fileOf(context, 'text/html', document);
  },
};
