/**
 * Draws a simple picture as SVG: a background, a few shapes, and the title on a plate. The same words and number give the
 * same picture. Attributes stand in single quotes, which JSON does not have to escape.
 */
import { charactersOf, clip, hasWords, inOneLine, seedFrom } from './words.ts';

export interface DrawingWish {
  /** It is written into the picture. */
  title: string;
  /** `sticker`: a square with a badge and nothing behind it. */
  kind: 'cover' | 'page' | 'sticker';
  /** Tells several drawings of one result apart. */
  nth: number;
  /** It is one of several, and says which. */
  isNumbered: boolean;
}

interface Colours {
  ground: string;
  far: string;
  near: string;
  light: string;
}

const COLOURS: readonly Colours[] = [
  { ground: '#dcebf2', far: '#8fb8a8', near: '#4f8a78', light: '#f3c969' },
  { ground: '#f6e7d7', far: '#e0a98a', near: '#b5694f', light: '#fff3c9' },
  { ground: '#e7e3f4', far: '#a79bd0', near: '#6a5ba3', light: '#f5d98b' },
  { ground: '#e3f1e1', far: '#a5cf8f', near: '#5e9b52', light: '#ffe08a' },
  { ground: '#fbe3e4', far: '#e59aa0', near: '#b85664', light: '#fff0c2' },
  { ground: '#dff1f3', far: '#7fc0c9', near: '#2f7f8c', light: '#ffd9a0' },
];
const INK = '#22303c';
const SIZES = { cover: [1600, 900], page: [800, 600], sticker: [200, 200] } as const;
/** The width of a character, as a share of the font's size. */
const WIDE = 1.05;
const NARROW = 0.62;
const FULL_WIDTH =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]$/u;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeXml = (text: string): string =>
  // XML has no place for control characters.
  text
    .toWellFormed()
    .replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? '');

/** Writes markup with lengths rounded, which otherwise may have a tail of fifteen digits. */
const shape = (strings: TemplateStringsArray, ...values: (string | number)[]): string =>
  strings.reduce((text, next, at) => {
    const value = values[at - 1] ?? '';
    return text + (typeof value === 'number' ? Math.round(value * 10) / 10 : value) + next;
  });

const widthOf = (text: string): number =>
  charactersOf(text, 200).reduce((sum, character) => sum + (FULL_WIDTH.test(character) ? WIDE : NARROW), 0);

/** Breaks a text into lines that fit. A word that is longer than a line is broken too. */
function wrap(text: string, widest: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(`${line} ${word}`) <= widest) {
      lines[lines.length - 1] = `${line} ${word}`;
      continue;
    }
    let rest = charactersOf(word, 200);
    while (widthOf(rest.join('')) > widest) {
      let fitting = rest.length - 1;
      while (fitting > 1 && widthOf(rest.slice(0, fitting).join('')) > widest) fitting -= 1;
      lines.push(rest.slice(0, fitting).join(''));
      rest = rest.slice(fitting);
    }
    if (rest.length > 0) lines.push(rest.join(''));
  }
  return lines;
}

/** The place for a title, and the sizes of type to try, the largest first. */
interface Plate {
  x: number;
  middle: number;
  width: number;
  height: number;
  sizes: readonly number[];
  /** The size of the word below the title. */
  small: number;
}

const LEADING = 1.2;

/** Chooses the largest type in which a title fits on its plate, and shortens a title that fits in none. */
function setTitle(title: string, { width, height, sizes, small }: Plate): { lines: string[]; size: number } {
  const smallest = sizes.at(-1) ?? small;
  const mostLines = (size: number) => Math.floor((height - small * 1.6) / (size * LEADING));
  for (const size of sizes) {
    const lines = wrap(title, width / size);
    const isWhole = title.split(' ').every((word) => widthOf(word) <= width / size);
    if (lines.length <= mostLines(size) && (isWhole || size === smallest)) return { lines, size };
  }
  for (let most = 60; most > 4; most -= 4) {
    const lines = wrap(clip(title, most), width / smallest);
    if (lines.length <= mostLines(smallest)) return { lines, size: smallest };
  }
  return { lines: wrap(clip(title, 4), width / smallest).slice(0, 1), size: smallest };
}

function textAt(text: string, x: number, y: number, size: number, weight: number): string {
  const place = `x='${x}' y='${Math.round(y)}' font-size='${size}' font-weight='${weight}'`;
  return `<text ${place} text-anchor='middle' font-family='sans-serif' fill='${INK}'>${escapeXml(text)}</text>`;
}

/** Draws the title and below it the word that says what this picture is. */
function titleMarkup(title: string, mark: string, plate: Plate): string {
  const { x, middle, small } = plate;
  const { lines, size } = setTitle(title, plate);
  const top = middle - (lines.length * size * LEADING + small * 1.6) / 2 + size * 0.9;
  const rows = lines.map((line, at) => textAt(line, x, top + at * size * LEADING, size, 700));
  const last = top + (lines.length - 1) * size * LEADING;
  return [...rows, textAt(mark, x, last + small * 1.9, small, 400)].join('');
}

/** Four kinds of ground for the picture of a page. */
const SCENES: readonly ((width: number, height: number, seed: number, colours: Colours) => string)[] = [
  (w, h, seed, { far, near }) => {
    const peak = Math.round(w * (0.25 + (seed % 5) * 0.1));
    return (
      shape`<path d='M0 ${h * 0.7} Q${peak} ${h * 0.4} ${w} ${h * 0.68} V${h} H0 Z' fill='${far}'/>` +
      shape`<path d='M0 ${h * 0.85} Q${w - peak} ${h * 0.66} ${w} ${h * 0.88} V${h} H0 Z' fill='${near}'/>`
    );
  },
  (w, h, seed, { far, near }) =>
    [0, 1, 2, 3, 4]
      .map((at) => {
        const tall = Math.round(h * (0.16 + ((seed >>> at) % 4) * 0.06));
        const fill = at % 2 === 0 ? near : far;
        return shape`<rect x='${w * 0.04 + at * w * 0.19}' y='${h - tall}' width='${w * 0.15}' height='${tall}' rx='${w * 0.01}' fill='${fill}'/>`;
      })
      .join(''),
  (w, h, seed, { far, near }) =>
    [0, 1, 2, 3]
      .map((at) => {
        const fill = at % 2 === 0 ? far : near;
        return shape`<circle cx='${w * (0.12 + at * 0.25)}' cy='${h * 0.95}' r='${Math.round(h * (0.14 + ((seed >>> at) % 3) * 0.04))}' fill='${fill}'/>`;
      })
      .join(''),
  (w, h, seed, { far, near }) => {
    const dip = h * (0.04 + (seed % 4) * 0.01);
    return [0.74, 0.86]
      .map((at, index) => {
        const wave = shape`M0 ${h * at} q${w / 8} ${-dip} ${w / 4} 0 t${w / 4} 0 t${w / 4} 0 t${w / 4} 0 V${h} H0 Z`;
        return shape`<path d='${wave}' fill='${index === 0 ? far : near}'/>`;
      })
      .join('');
  },
];

const BADGES: readonly ((fill: string, edge: string) => string)[] = [
  (fill, edge) => shape`<circle cx='100' cy='100' r='88' fill='${fill}' stroke='${edge}' stroke-width='6'/>`,
  (fill, edge) =>
    shape`<rect x='14' y='14' width='172' height='172' rx='40' fill='${fill}' stroke='${edge}' stroke-width='6'/>`,
  (fill, edge) =>
    shape`<path d='M100 12 L180 56 V144 L100 188 L20 144 V56 Z' fill='${fill}' stroke='${edge}' stroke-width='6'/>`,
  (fill, edge) => shape`<ellipse cx='100' cy='100' rx='92' ry='82' fill='${fill}' stroke='${edge}' stroke-width='6'/>`,
];

const STICKER_PLATE: Plate = { x: 100, middle: 128, width: 124, height: 72, sizes: [24, 19, 15, 12], small: 10 };

const pick = <Item>(list: readonly Item[], at: number, fallback: Item): Item => list[at % list.length] ?? fallback;

export function drawSvg({ title, kind, nth, isNumbered }: DrawingWish): string {
  const name = hasWords(title) ? inOneLine(title) : 'Untitled';
  const mark = isNumbered ? `Placeholder, picture ${nth + 1}` : 'Placeholder';
  const seed = seedFrom(name) + nth;
  const [width, height] = SIZES[kind];
  const colours = pick(COLOURS, seed, COLOURS[0]!);
  const frame = `xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ${width} ${height}'`;
  if (kind === 'sticker') {
    const badge = pick(BADGES, seed + nth, BADGES[0]!)(colours.light, colours.near);
    const eyes = [78, 122].map((x) => shape`<circle cx='${x}' cy='62' r='7' fill='${INK}'/>`).join('');
    const mouth = shape`<path d='M82 78 Q100 ${86 + (seed % 10)} 118 78' fill='none' stroke='${INK}' stroke-width='5'/>`;
    return `<svg ${frame}>${badge}${eyes}${mouth}${titleMarkup(name, mark, STICKER_PLATE)}</svg>`;
  }
  const unit = height / 100;
  const sun = shape`<circle cx='${Math.round(width * (0.14 + (seed % 4) * 0.24))}' cy='${unit * 16}' r='${unit * 9}' fill='${colours.light}'/>`;
  const scene = pick(SCENES, seed + nth, SCENES[0]!)(width, height, seed, colours);
  const plate = shape`<rect x='${width * 0.15}' y='${unit * 30}' width='${width * 0.7}' height='${unit * 36}' rx='${unit * 3}' fill='#ffffff' fill-opacity='0.88'/>`;
  const sizes = [9, 7.5, 6, 4.8].map((size) => Math.round(size * unit));
  const words = titleMarkup(name, mark, {
    x: width / 2,
    middle: unit * 48,
    width: width * 0.62,
    height: unit * 33,
    sizes,
    small: Math.round(unit * 4),
  });
  return `<svg ${frame}><rect width='${width}' height='${height}' fill='${colours.ground}'/>${sun}${scene}${plate}${words}</svg>`;
}
