/**
 * Renders a landing page from its copy. Its sections come in the order in which a doubtful reader thinks, and it asks
 * for one action.
 */
import { z } from 'zod';
import { ActionError, type Action, type ActionContext } from './action.ts';
import { paletteOf, readableOn } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { html, type Markup } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { requirePart, Words } from './rendering/sources.ts';

const Block = z.object({ title: Words, text: Words });
const Copy = z.object({
  hero: z.object({ headline: Words, subline: Words, button: Words, reassurance: z.string().optional() }),
  benefits: z.array(Block).min(1).max(12),
  steps: z.array(Block).max(8).default([]),
  questions: z
    .array(z.object({ question: Words, answer: Words }))
    .max(20)
    .default([]),
  closing: z.object({ headline: Words, text: Words }),
  meta_title: Words,
  meta_description: Words,
});

const CSS = `
.wrap{max-width:68rem;margin:0 auto;padding:0 1.25rem}
section{padding:clamp(3rem,8vw,6rem) 0}
.hero{text-align:center;padding-top:clamp(4rem,12vw,8rem);background:linear-gradient(color-mix(in srgb,var(--accent) 8%,var(--background)),var(--background))}
.brand{margin:0 0 1.5rem;font-weight:700;font-size:1.1rem}
h1{font-size:clamp(2.25rem,7vw,4.25rem);letter-spacing:-.035em;margin:0 auto 1.25rem;max-width:18ch}
.subline{font-size:clamp(1.1rem,2.5vw,1.4rem);max-width:38rem;margin:0 auto 2rem;opacity:.85}
.button{display:inline-block;min-height:44px;padding:.9rem 1.75rem;border-radius:.75rem;background:var(--accent);color:var(--on-accent);font-weight:700;font-size:1.1rem;text-decoration:none}
.button:hover{filter:brightness(1.08)}
.small{font-size:.95rem;opacity:.75;margin:1rem 0 0}
h2{font-size:clamp(1.6rem,4vw,2.4rem);letter-spacing:-.025em;margin:0 0 2rem;text-align:center}
h3{font-size:1.2rem;margin:0 0 .5rem}
.grid{display:grid;gap:1.25rem;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));list-style:none;margin:0;padding:0}
.card{padding:1.75rem;border-radius:1rem;border:1px solid color-mix(in srgb,var(--ink) 14%,transparent);background:color-mix(in srgb,var(--ink) 3%,var(--background))}
.card p{margin:0;opacity:.85}
.number{display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;margin-bottom:1rem;background:var(--ink);color:var(--background);font-weight:700}
details{max-width:46rem;margin:0 auto;border-bottom:1px solid color-mix(in srgb,var(--ink) 18%,transparent)}
summary{cursor:pointer;padding:1.1rem 0;font-weight:650;font-size:1.1rem}
details p{margin:0 0 1.25rem;opacity:.85}
.closing{text-align:center;background:color-mix(in srgb,var(--accent) 8%,var(--background))}
.closing p{max-width:38rem;margin:0 auto 2rem}
`;

/** @throws ActionError for an address to which a button must not lead */
function destinationOf({ params }: ActionContext['project']): string {
  const url = params.call_to_action_url;
  if (
    typeof url !== 'string' ||
    !URL.canParse(url) ||
    !['https:', 'http:', 'mailto:'].includes(new URL(url).protocol)
  ) {
    throw new ActionError('missing address of the button: the parameter "call_to_action_url" must be an https address');
  }
  return new URL(url).href;
}

const card = ({ title, text }: z.output<typeof Block>, before: Markup | null = null) =>
  html`<li class="card">
    ${before}
    <h3>${title}</h3>
    <p>${text}</p>
  </li>`;

export const renderLandingPage: Action = {
  name: 'render_landing_page',
  description:
    'Renders the copy of a landing page (hero, benefits, steps, questions, closing, meta_title, meta_description) as ' +
    'one self-contained HTML page in the palette of earlier steps. Its button leads to the parameter call_to_action_url.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const copy = requirePart(context, 'copy of the page', 'hero', Copy);
    const palette = paletteOf(context);
    const name = context.project.params.product_name;
    const button = html`<a class="button" href="${destinationOf(context.project)}">${copy.hero.button}</a>`;
    const numbered = copy.steps.map((step, index) =>
      card(step, html`<span class="number" aria-hidden="true">${index + 1}</span>`),
    );
    const body = html`<main>
      <section class="hero">
        <div class="wrap">
          ${typeof name === 'string' && html`<p class="brand">${name}</p>`}
          <h1>${copy.hero.headline}</h1>
          <p class="subline">${copy.hero.subline}</p>
          ${button} ${copy.hero.reassurance && html`<p class="small">${copy.hero.reassurance}</p>`}
        </div>
      </section>
      <section aria-labelledby="benefits">
        <div class="wrap">
          <h2 id="benefits">What you get</h2>
          <ul class="grid">
            ${copy.benefits.map((benefit) => card(benefit))}
          </ul>
        </div>
      </section>
      ${
        numbered.length > 0 &&
        html`<section aria-labelledby="steps">
          <div class="wrap">
            <h2 id="steps">How it works</h2>
            <ol class="grid">
              ${numbered}
            </ol>
          </div>
        </section>`
      }
      ${
        copy.questions.length > 0 &&
        html`<section aria-labelledby="questions">
          <div class="wrap">
            <h2 id="questions">Questions and answers</h2>
            ${copy.questions.map(
              ({ question, answer }) =>
                html`<details>
                  <summary>${question}</summary>
                  <p>${answer}</p>
                </details>`,
            )}
          </div>
        </section>`
      }
      <section class="closing" aria-labelledby="closing">
        <div class="wrap">
          <h2 id="closing">${copy.closing.headline}</h2>
          <p>${copy.closing.text}</p>
          ${button}
        </div>
      </section>
    </main>`;
    const document = page({
      title: copy.meta_title,
      description: copy.meta_description,
      language: languageOf(context.project),
      palette,
      css: `:root{--on-accent:${readableOn(palette.accent)}}${CSS}`,
      body,
    });
    return fileOf(context, 'text/html', document);
  },
};
