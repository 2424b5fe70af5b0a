/** Renders a slide deck as one HTML file. Arrow keys turn the slides, and printing gives each slide a page. */
import { z } from 'zod';
import type { Action } from './action.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { html, type Markup } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { findPart, requirePart, Words } from './rendering/sources.ts';

const Slide = z.object({ title: Words, points: z.array(Words).max(8).default([]), takeaway: Words.optional() });
const Deck = z.object({ slides: z.array(Slide).min(1).max(60) });
/** The speaker's notes come from a step of their own and are in the order of the slides. */
const Notes = z.object({ notes: z.array(z.object({ text: Words })) });

const CSS = `
html{scroll-snap-type:y mandatory}
.slide{position:relative;min-height:100vh;min-height:100svh;scroll-snap-align:start;display:flex;flex-direction:column;justify-content:center;padding:clamp(2rem,min(7vw,6vh),7rem) clamp(2rem,7vw,7rem);border-bottom:1px solid color-mix(in srgb,var(--ink) 12%,transparent)}
.slide::before{content:"";position:absolute;left:0;top:0;bottom:0;width:.6rem;background:var(--accent)}
.slide>*{max-width:min(72rem,86vw);width:100%;margin-left:auto;margin-right:auto}
h1{font-size:clamp(2.6rem,9vw,7rem);line-height:1.05;letter-spacing:-.035em;margin-top:0;margin-bottom:0}
h2{font-size:clamp(1.8rem,min(5.2vw,8.4vh),4.6rem);line-height:1.12;letter-spacing:-.025em;margin-top:0;margin-bottom:1.5rem}
ul{font-size:clamp(1.15rem,min(2.7vw,4.6vh),2.4rem);line-height:1.35;padding-left:1.2em;margin-top:0}
li{margin-bottom:.5em}
li::marker{color:var(--accent)}
.takeaway{font-size:clamp(1.15rem,min(2.5vw,4.2vh),2.2rem);line-height:1.35;font-weight:650;border-top:3px solid var(--accent);padding-top:1rem;margin-top:1rem}
.count{position:absolute;right:2rem;bottom:1.5rem;width:auto;font-size:.95rem;opacity:.7;margin:0}
details{margin-top:1.5rem;font-size:1rem}
details>p{max-width:65ch;white-space:pre-line}
summary{cursor:pointer;opacity:.75}
@media print{@page{size:A4 landscape;margin:0}.slide{min-height:0;height:100vh;break-after:page;break-inside:avoid;border:0}details{display:none}}
`;

const SCRIPT = `
const slides = [...document.querySelectorAll('.slide')];
const current = () => slides.reduce((best, slide, index) =>
  Math.abs(slide.getBoundingClientRect().top) < Math.abs(slides[best].getBoundingClientRect().top) ? index : best, 0);
const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -Infinity, End: Infinity };
addEventListener('keydown', (event) => {
  if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || event.target.closest('summary, a')) return;
  event.preventDefault();
  slides[Math.min(slides.length - 1, Math.max(0, current() + steps[event.key]))].scrollIntoView();
});
`;

const slideMarkup = (number: number, count: number, content: Markup) =>
  html`<section class="slide" aria-label="Slide ${number} of ${count}" tabindex="-1">
    ${content}
    <p class="count">${number} / ${count}</p>
  </section> `;

export const renderSlides: Action = {
  name: 'render_slides',
  description:
    'Renders slides [{title, points, takeaway}] as an HTML deck with a title slide, turned with the arrow keys and ' +
    'printable, in the palette of earlier steps and with the notes [{text}] of another step below each slide.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const { slides } = requirePart(context, 'slides to show', 'slides', Deck);
    const notes = findPart(context, Notes)?.notes ?? [];
    const count = slides.length + 1;
    const body = html`<main>
      ${slideMarkup(1, count, html`<h1>${context.project.title}</h1>`)}${slides.map(
        ({ title, points, takeaway }, index) => {
          const note = notes[index];
          return slideMarkup(
            index + 2,
            count,
            html`<h2>${title}</h2>
              ${
                points.length > 0 &&
                html`<ul>
                  ${points.map((point) => html`<li>${point}</li>`)}
                </ul>`
              }
              ${takeaway && html`<p class="takeaway">${takeaway}</p>`}
              ${
                note &&
                html`<details>
                  <summary>Speaker notes</summary>
                  <p>${note.text}</p>
                </details>`
              }`,
          );
        },
      )}
    </main>`;
    const document = page({
      title: context.project.title,
      language: languageOf(context.project),
      palette: paletteOf(context),
      css: CSS,
      body,
      script: SCRIPT,
    });
    return fileOf(context, 'text/html', document);
  },
};
