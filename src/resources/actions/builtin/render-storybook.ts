/**
 * Renders a picture book as one HTML file that can also be printed: a cover, then a scene and a few lines on each page.
 */
import { z } from 'zod';
import type { Action } from './action.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { drawingOr, landscape } from './rendering/illustration.ts';
import { html } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { findPart, requirePart, Words } from './rendering/sources.ts';
import { drawingMarkup } from './rendering/svg.ts';

const Story = z.object({
  title: Words.optional(),
  pages: z
    .array(z.object({ text: Words }))
    .min(1)
    .max(60),
});
/** The scenes are in the order of the pages. */
const Scenes = z.object({ scenes: z.array(z.object({ svg: z.string(), alt: Words })) });

const PAPER = { background: '#fff8ec', ink: '#2b2440', accent: '#e0694f' };

const CSS = `
body{font-family:"Iowan Old Style","Palatino Linotype",Palatino,Georgia,serif}
main{max-width:min(60rem,calc(70vh*4/3 + 2.5rem));min-width:min(100%,24rem);margin:0 auto;padding:1.25rem}
.leaf{margin:0 0 2rem;border-radius:1.5rem;overflow:hidden;background:#fff;color:#221c33;box-shadow:0 1rem 3rem color-mix(in srgb,var(--ink) 14%,transparent)}
.leaf svg{display:block;width:100%;height:auto;background:color-mix(in srgb,var(--accent) 10%,#fff)}
.words{padding:1.5rem clamp(1.5rem,6vw,4rem) 2rem;font-size:clamp(1.25rem,3vw,1.7rem);line-height:1.55;text-wrap:pretty}
.words p{margin:0 0 .6em}
.number{text-align:center;font-size:1rem;opacity:.65}
.cover{text-align:center}
h1{font-size:clamp(2.25rem,8vw,4.5rem);letter-spacing:-.02em;margin:2rem 1.5rem}
h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.end{text-align:center;font-style:italic;font-size:1.5rem;padding:2rem 0 4rem}
@media print{@page{size:A4 landscape;margin:1cm}body{print-color-adjust:exact}main{max-width:none;padding:0}
.leaf{break-after:page;break-inside:avoid;box-shadow:none;margin:0;border-radius:0;height:188mm;display:grid;grid-template-columns:172mm 1fr;align-items:center}
.leaf svg{background:none}.words{padding:0 0 0 9mm;font-size:16pt;line-height:1.45}
.cover h1{font-size:40pt;margin:0 0 0 9mm}.leaf:last-of-type{break-after:auto}.end{display:none}}
`;

const paragraphs = (text: string) => text.split(/\n\s*\n|\n/).filter((line) => line.trim());

export const renderStorybook: Action = {
  name: 'render_storybook',
  description:
    'Renders a picture book from pages [{text}] and scenes [{svg, alt}] in the same order. A scene that is missing or ' +
    'is no SVG is drawn from the words of its page. The second scene is the cover too.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const story = requirePart(context, 'pages of the story', 'pages', Story);
    const scenes = findPart(context, Scenes)?.scenes ?? [];
    const title = story.title ?? context.project.title;
    const leaves = story.pages.map(({ text }, index) => {
      const scene = scenes[index];
      const drawing = drawingOr(scene?.svg, `scene-${index + 1}-`, landscape, `${title} ${index}`);
      return html`<section class="leaf" aria-labelledby="page-${index + 1}">
        <h2 id="page-${index + 1}">Page ${index + 1}</h2>
        ${drawingMarkup(drawing, scene?.alt ?? `Illustration of page ${index + 1}`)}
        <div class="words">
          ${paragraphs(text).map((line) => html`<p>${line}</p>`)}
          <p class="number">${index + 1}</p>
        </div>
      </section> `;
    });
    const body = html`<main>
      <header class="leaf cover">
        ${drawingMarkup(drawingOr((scenes[1] ?? scenes[0])?.svg, 'cover-', landscape, title), null)}
        <h1>${title}</h1>
      </header>
      ${leaves}
      <p class="end">The end</p>
    </main>`;
    const language = languageOf(context.project);
    const document = page({ title, language, palette: paletteOf(context, PAPER), css: CSS, body });
    return fileOf(context, 'text/html', document);
  },
};
