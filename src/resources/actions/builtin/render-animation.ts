/** Renders a motion graphic from its storyboard: scenes of words and moving shapes, timed by CSS, in one HTML file. */
import { z } from 'zod';
import { itemAt } from '../../../platform/core/present.ts';
import type { Action } from './action.ts';
import { paletteOf, seeded, type Palette } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { html, type Markup } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { requirePart, Words } from './rendering/sources.ts';

const SHAPES = ['circles', 'bars', 'waves', 'grid'] as const;
const MOTIONS = ['rise', 'slide', 'zoom', 'fade'] as const;

const Scene = z.object({
  heading: Words,
  caption: z.string().default(''),
  duration_s: z.number().min(0.5).max(60),
  shape: z.enum(SHAPES).default('circles'),
  motion: z.enum(MOTIONS).default('rise'),
});
type Scene = z.output<typeof Scene>;
const Storyboard = z.object({ scenes: z.array(Scene).min(1).max(40) });

const STAGES = { landscape: [1920, 1080], square: [1080, 1080], portrait: [1080, 1920] } as const;
type Stage = (typeof STAGES)[keyof typeof STAGES];

const NIGHT: Palette = { background: '#10162a', ink: '#f6f3ea', accent: '#ff8a4c' };

const stageOf = (format: unknown): Stage =>
  format === 'square' || format === 'portrait' ? STAGES[format] : STAGES.landscape;

/**
 * Breaks a text into at most `most` lines of at most `max` characters. The last line is cut where the text is longer.
 */
function wrap(text: string, max: number, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < max) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word.slice(0, max));
  }
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `${itemAt(lines, most - 1).slice(0, max - 1)}…`];
}

/** Draws moving shapes behind the words; each begins a little after the one before. */
function shapesOf({ shape, heading }: Scene, [width, height]: Stage): Markup[] {
  const random = seeded(heading);
  return Array.from({ length: 9 }, (_, nth) => {
    const x = ((nth + 0.5) / 9) * width;
    const y = random() * height;
    const size = 40 + random() * 160;
    const style = html`style="--n:${nth}" fill-opacity="${(0.14 + random() * 0.24).toFixed(2)}"`;
    switch (shape) {
      case 'circles':
        return html`<circle class="piece" ${style} cx="${x}" cy="${y}" r="${size}" />`;
      case 'bars':
        return html`<rect
          class="piece bar"
          ${style}
          x="${x - 40}"
          y="${height - y * 0.6}"
          width="80"
          height="${y * 0.6}"
          rx="12"
        />`;
      case 'waves':
        return html`<path
          class="piece wave"
          ${style}
          d="M0 ${height - nth * 55} q ${width / 4} ${-size} ${width / 2} 0 t ${width / 2} 0 V ${height} H 0 Z"
        />`;
      case 'grid':
        return html`<rect
          class="piece"
          ${style}
          x="${x - size / 2}"
          y="${(nth % 3) * (height / 3) + height / 6 - size / 2}"
          width="${size}"
          height="${size}"
          rx="${size / 6}"
        />`;
    }
  });
}

function wordsOf({ heading, caption }: Scene, [width, height]: Stage): Markup {
  const big = Math.round(width / 15);
  const small = Math.round(big * 0.48);
  const lines = wrap(heading, width < 1_200 ? 18 : 22, 4);
  const captions = wrap(caption, width < 1_200 ? 36 : 50, 3);
  const block = lines.length * big * 1.15 + (captions.length > 0 ? big * 0.4 + captions.length * small * 1.35 : 0);
  const top = (height - block) / 2 + big;
  const below = top + lines.length * big * 1.15 - big * 0.25;
  const at = (text: string, y: number, size: number, nth: number) =>
    html`<text
      class="line"
      style="--n:${nth}"
      x="${width / 2}"
      y="${Math.round(y)}"
      font-size="${size}"
      font-weight="${size === big ? 750 : 450}"
      >${text}</text
    >`;
  return html`${lines.map((line, nth) => at(line, top + nth * big * 1.15, big, nth))}${captions.map((line, nth) =>
    at(line, below + small + nth * small * 1.35, small, lines.length + nth),
  )}`;
}

/** @returns a heading with a full stop, unless it ends its sentence itself */
const ended = (heading: string): string => (/[.?!…]$/.test(heading) ? heading : `${heading}.`);

const percent = (part: number) => `${Math.round(part * 10_000) / 100}%`;

/** Shows each scene for its share of the whole loop, and gives it a quarter of a second to appear and to vanish. */
function timing(scenes: readonly Scene[]): { css: string; total: number } {
  const total = scenes.reduce((sum, { duration_s }) => sum + duration_s, 0);
  const fade = 0.25 / total;
  let at = 0;
  const rules = scenes.map(({ duration_s }, index) => {
    const start = at / total;
    at += duration_s;
    const end = at / total;
    const name = `scene-${index + 1}`;
    const come = index === 0 ? '0%' : `0%,${percent(start)}{opacity:0}${percent(start + fade)}`;
    const go = index === scenes.length - 1 ? `${percent(1 - fade / 4)}{opacity:1}100%` : `${percent(end)},100%`;
    const visible = index === scenes.length - 1 ? '' : `,${percent(end - fade)}`;
    return (
      `@keyframes ${name}{${come}${visible}{opacity:1}${go}{opacity:0}}` +
      `#${name}{animation:${name} ${total}s linear infinite;--start:${start * total}s}`
    );
  });
  return { css: rules.join('\n'), total };
}

const CSS = `
body{display:grid;place-items:center;min-height:100vh;background:#000;color:#fff}
main{width:100%;display:grid;justify-items:center;gap:1rem;padding:1rem}
h1{font-size:1rem;font-weight:500;margin:0;opacity:.8}
.stage{display:block;width:auto;max-width:100%;height:auto;max-height:84vh;border-radius:.5rem}
.stage text{font-family:ui-sans-serif,system-ui,"Segoe UI",Roboto,Arial,sans-serif;text-anchor:middle;letter-spacing:-.015em}
.scene{opacity:0}
.piece,.line{transform-box:fill-box;transform-origin:center;animation:var(--total) cubic-bezier(.2,.7,.2,1) infinite backwards;animation-delay:calc(var(--start) + var(--n)*90ms)}
.piece{animation-name:drift}
.bar{transform-origin:bottom;animation-name:grow}
.wave{animation-name:well}
.rise .line{animation-name:rise}.slide .line{animation-name:slide}.zoom .line{animation-name:zoom}.fade .line{animation-name:fade}
button{min-height:44px;padding:.5rem 1.25rem;border:1px solid #ffffff80;border-radius:.5rem;background:#1a1a1a;color:#fff;font:inherit;cursor:pointer}
.paused *{animation-play-state:paused!important}
.transcript{max-width:44rem;width:100%;font-size:1rem}
@media (prefers-reduced-motion:reduce){.stage *{animation:none!important}.scene:last-of-type{opacity:1}button{display:none}}
`;

/** Lets the entrance of a scene take 0.7 s of the loop, whatever the length of the loop is. */
function entrances(total: number): string {
  const moved = percent(Math.min(0.9, 0.7 / total));
  const slow = percent(Math.min(0.9, 2.5 / total));
  const enter = (name: string, from: string, until = moved) =>
    `@keyframes ${name}{0%{${from}}${until},100%{opacity:1;transform:none}}`;
  return [
    enter('rise', 'opacity:0;transform:translateY(60px)'),
    enter('slide', 'opacity:0;transform:translateX(-60px)'),
    enter('zoom', 'opacity:0;transform:scale(.7)'),
    enter('fade', 'opacity:0'),
    enter('drift', 'transform:translateY(80px) scale(.6)', slow),
    enter('well', 'transform:translateY(260px)', slow),
    enter('grow', 'transform:scaleY(0)', slow),
  ].join('\n');
}

const SCRIPT = `
const stage = document.querySelector('.stage');
const button = document.querySelector('button');
button.addEventListener('click', () => {
  button.textContent = stage.classList.toggle('paused') ? 'Play' : 'Pause';
});
`;

export const renderAnimation: Action = {
  name: 'render_animation',
  description:
    'Animates a storyboard, scenes [{heading, caption, duration_s, shape, motion}], as SVG with CSS in one HTML file ' +
    'that loops, can be paused, has a transcript and stands still where motion is not wanted. The parameter format ' +
    'chooses landscape, square or portrait.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const { scenes } = requirePart(context, 'storyboard', 'scenes', Storyboard);
    const { title, params } = context.project;
    const stage = stageOf(params.format);
    const [width, height] = stage;
    const palette = paletteOf(context, NIGHT);
    const { css, total } = timing(scenes);
    const groups = scenes.map(
      (scene, index) =>
        html`<g id="scene-${index + 1}" class="scene ${scene.motion}">
          <g fill="${palette.accent}">${shapesOf(scene, stage)}</g>
          <g fill="${palette.ink}">${wordsOf(scene, stage)}</g>
        </g> `,
    );
    const body = html`<main>
      <h1>${title}</h1>
      <svg
        class="stage"
        xmlns="http://www.w3.org/2000/svg"
        viewBox="0 0 ${width} ${height}"
        width="${width}"
        height="${height}"
        role="img"
        aria-label="Animation: ${title}. Its words are in the transcript."
      >
        <rect width="100%" height="100%" fill="${palette.background}" />
        ${groups}
      </svg>
      <button type="button">Pause</button>
      <details class="transcript">
        <summary>Transcript</summary>
        <ol>
          ${scenes.map(({ heading, caption, duration_s }) => html`<li>${ended(heading)} ${caption} (${Number(duration_s.toFixed(1))} s)</li>`)}
        </ol>
      </details>
    </main>`;
    const style = `:root{--total:${total}s}${CSS}${entrances(total)}${css}`;
    const language = languageOf(context.project);
    return fileOf(context, 'text/html', page({ title, language, palette, css: style, body, script: SCRIPT }));
  },
};
