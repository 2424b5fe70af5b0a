/** Draws a simple picture where a step gave no usable SVG. The same words always give the same picture. */
import { itemAt, present } from '../../../../platform/core/present.ts';
import { readableOn, seeded } from './colours.ts';
import { html, type Markup } from './markup.ts';
import { readDrawing, type Drawing } from './svg.ts';

const hue = (random: () => number) => Math.floor(random() * 360);
/** The hues, in degrees, of skies at noon, in the morning and at dusk. */
const SKIES = [200, 30, 340, 255, 175];

/** Converts a hue in degrees, with saturation and lightness in per cent, to a hex colour. */
function hsl(h: number, s: number, l: number): string {
  const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    const value = l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Draws a landscape of 800 by 600: sky, sun, hills and trees. */
export function landscape(seed: string): Drawing {
  const random = seeded(seed);
  const sky = hsl(itemAt(SKIES, Math.floor(random() * SKIES.length)), 62, 87);
  const green = 85 + random() * 60;
  const sun = { x: 120 + random() * 560, y: 110 + random() * 110, r: 46 + random() * 34 };
  const hill = (level: number, lightness: number) => {
    const y = 330 + level * 75;
    const [a, b, c] = [random(), random(), random()].map((each) => y - 70 + each * 110);
    const path = `M0 ${a} C 200 ${present(b) - 60}, 330 ${present(c) + 60}, 480 ${y} S 720 ${present(a) - 40}, 800 ${b} V 600 H 0 Z`;
    return html`<path d="${path}" fill="${hsl(green + level * 10, 36, lightness)}" />`;
  };
  const tree = (nth: number) => {
    const x = 60 + nth * 150 + random() * 80;
    const y = 480 + random() * 60;
    const size = 34 + random() * 26;
    const crown = hsl(green + 8 + nth * 6, 40, 32);
    return html`<rect x="${x - 5}" y="${y - size}" width="10" height="${size + 24}" rx="4" fill="#6b4a32" /><circle
        cx="${x}"
        cy="${y - size - 12}"
        r="${size}"
        fill="${crown}"
      />`;
  };
  const inner = html`<rect width="800" height="600" fill="${sky}" /><circle
      cx="${sun.x}"
      cy="${sun.y}"
      r="${sun.r}"
      fill="${hsl(44, 95, 68)}"
    />${[hill(0, 68), hill(1, 56), hill(2, 46)]}${[0, 1, 2, 3, 4].map(tree)}`;
  return { viewBox: '0 0 800 600', inner };
}

const BADGES: readonly ((fill: string, edge: string) => Markup)[] = [
  (fill, edge) => html`<circle cx="100" cy="100" r="88" fill="${fill}" stroke="${edge}" stroke-width="8" />`,
  (fill, edge) =>
    html`<rect x="14" y="14" width="172" height="172" rx="44" fill="${fill}" stroke="${edge}" stroke-width="8" />`,
  (fill, edge) =>
    html`<path
      d="M100 10 L178 55 V145 L100 190 L22 145 V55 Z"
      fill="${fill}"
      stroke="${edge}"
      stroke-width="8"
      stroke-linejoin="round"
    />`,
  (fill, edge) =>
    html`<path
      d="M100 178 C 20 118, 12 70, 40 42 C 64 20, 92 34, 100 58 C 108 34, 136 20, 160 42 C 188 70, 180 118, 100 178 Z"
      fill="${fill}"
      stroke="${edge}"
      stroke-width="8"
    />`,
];

/** Draws a face on a badge of 200 by 200. */
export function badge(seed: string): Drawing {
  const random = seeded(seed);
  const h = hue(random);
  const fill = hsl(h, 74, 64);
  const line = readableOn(fill, hsl(h, 60, 16));
  const shape = itemAt(BADGES, Math.floor(random() * BADGES.length));
  const gap = 24 + random() * 12;
  const size = 8 + random() * 4;
  const eye = (x: number) => html`<circle cx="${x}" cy="92" r="${size}" fill="${line}" />`;
  const cheek = (x: number) => html`<circle cx="${x}" cy="112" r="9" fill="${hsl(350, 85, 74)}" />`;
  const bend = 12 + random() * 18;
  const mouth = html`<path
    d="M80 118 Q 100 ${118 + bend} 120 118"
    fill="none"
    stroke="${line}"
    stroke-width="7"
    stroke-linecap="round"
  />`;
  const inner = html`${shape(fill, hsl(h, 60, 30))}${[100 - gap, 100 + gap].map(eye)}${[62, 138].map(cheek)}${mouth}`;
  return { viewBox: '0 0 200 200', inner };
}

/** @returns the drawing that a step made, or where that cannot be used, one that is made from its words */
export const drawingOr = (
  svg: string | undefined,
  idPrefix: string,
  fallback: (seed: string) => Drawing,
  seed: string,
): Drawing => readDrawing(svg ?? '', idPrefix) ?? fallback(seed);
