/** Renders a worksheet to print: exercises with room to write, and the answer key on a page of its own. */
import { z } from 'zod';
import type { Action } from './action.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { html, type Markup } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { findPart, requirePart, Words } from './rendering/sources.ts';

const Exercise = z.object({
  kind: z.enum(['short_answer', 'multiple_choice', 'true_false', 'open']).default('short_answer'),
  question: Words,
  options: z.array(Words).max(8).default([]),
  points: z.number().min(0).max(100).default(1),
});
type Exercise = z.output<typeof Exercise>;
const Exercises = z.object({ exercises: z.array(Exercise).min(1).max(60) });
/** The answers are in the order of the exercises. */
const Key = z.object({ answers: z.array(z.object({ answer: Words, explanation: z.string().optional() })).min(1) });
const Reading = z.object({ passage: z.object({ title: Words, text: Words }) });

const PAPER = { background: '#ffffff', ink: '#1c1c1c', accent: '#1f6f63' };

const CSS = `
main{max-width:50rem;margin:0 auto;padding:1.5rem 1.5rem 4rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 2rem;align-items:end;justify-content:space-between;border-bottom:3px solid var(--accent);padding-bottom:.75rem;margin-bottom:1.5rem}
h1{font-size:1.9rem;margin:0;flex:1 1 20rem}
.fields{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;margin:0}
.fields span{display:inline-block;border-bottom:1px solid currentColor;min-width:9rem}
.passage{border:1px solid color-mix(in srgb,var(--ink) 25%,transparent);border-left:5px solid var(--accent);border-radius:.5rem;padding:1rem 1.25rem;margin:0 0 1.75rem}
.passage h2,.key h2{margin-top:0}
.passage p:last-child{margin-bottom:0}
.exercises{list-style:none;margin:0;padding:0}
.exercises>li{display:grid;grid-template-columns:2.25rem 1fr auto;gap:.25rem .75rem;margin:0 0 1.6rem;break-inside:avoid}
.no{display:grid;place-items:center;width:2rem;height:2rem;border-radius:50%;border:2px solid var(--accent);font-weight:700}
.question{margin:.1rem 0 .4rem}
.points{font-size:.9rem;white-space:nowrap;opacity:.75}
.room{grid-column:2/-1}
.rule{height:2.1rem;border-bottom:1px solid color-mix(in srgb,var(--ink) 45%,transparent)}
.options{list-style:none;margin:0;padding:0;display:grid;gap:.4rem 1.5rem;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr))}
.options li::before{content:"";display:inline-block;width:1em;height:1em;border:1.5px solid currentColor;border-radius:.2em;margin-right:.6em;vertical-align:-.1em}
.key{margin-top:4rem;padding-top:2rem;border-top:3px dashed color-mix(in srgb,var(--ink) 30%,transparent);break-before:page}
.key ol{padding-left:2.4rem}
.key li,.passage{break-inside:avoid}
.key p{margin:0 0 .75rem;opacity:.8}
@media print{@page{size:A4;margin:16mm}main{max-width:none;padding:0}.key{margin-top:0;border-top:0;padding-top:0}}
`;

const LINES = { short_answer: 1, open: 5 } as const;

function room({ kind, options }: Exercise): Markup {
  if (kind === 'true_false')
    return html`<ul class="options">
      <li>True</li>
      <li>False</li>
    </ul>`;
  if (kind === 'multiple_choice' && options.length > 0) {
    return html`<ul class="options">
      ${options.map((option) => html`<li>${option}</li>`)}
    </ul>`;
  }
  const lines = LINES[kind === 'open' ? kind : 'short_answer'];
  return html`${Array.from({ length: lines }, () => html`<div class="rule"></div>`)}`;
}

export const renderWorksheet: Action = {
  name: 'render_worksheet',
  description:
    'Renders exercises [{kind, question, options, points}] as a printable worksheet with a reading passage ' +
    '{title, text} where there is one, and answers [{answer, explanation}] of another step as a key on its own page.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const { exercises } = requirePart(context, 'exercises', 'exercises', Exercises);
    const { answers } = requirePart(context, 'answer key', 'answers', Key);
    const passage = findPart(context, Reading)?.passage;
    const { title } = context.project;
    const total = exercises.reduce((sum, { points }) => sum + points, 0);
    const items = exercises.map(
      (exercise, index) =>
        html`<li>
          <span class="no" aria-hidden="true">${index + 1}</span>
          <p class="question">${exercise.question}</p>
          <span class="points">${exercise.points} ${exercise.points === 1 ? 'point' : 'points'}</span>
          <div class="room">${room(exercise)}</div>
        </li> `,
    );
    const body = html`<main>
      <header>
        <h1>${title}</h1>
        <p class="fields"><span>Name:</span> <span>Date:</span> <span>Score: &nbsp;&nbsp;&nbsp; / ${total}</span></p>
      </header>
      ${
        passage &&
        html`<section class="passage">
          <h2>${passage.title}</h2>
          ${passage.text.split(/\n+/).map((line) => html`<p>${line}</p>`)}
        </section>`
      }
      <ol class="exercises">
        ${items}
      </ol>
      <section class="key" aria-labelledby="key">
        <h2 id="key">Answer key</h2>
        <ol>
          ${answers
            .slice(0, exercises.length)
            .map(
              ({ answer, explanation }) =>
                html`<li><strong>${answer}</strong>${explanation && html`<p>${explanation}</p>`}</li>`,
            )}
        </ol>
      </section>
    </main>`;
    const language = languageOf(context.project);
    return fileOf(context, 'text/html', page({ title, language, palette: paletteOf(context, PAPER), css: CSS, body }));
  },
};
