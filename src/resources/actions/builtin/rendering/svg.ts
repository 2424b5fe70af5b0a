/**
 * Turns drawings that a model made into markup that may stand in a page beside others.
 *
 * Only static shapes are let through: no script, no style sheet, no link, no foreign content, and nothing that is
 * loaded from elsewhere. Ids get a prefix, because a gradient called "a" in two drawings of one page would be one
 * gradient.
 */
import { itemAt, present } from '../../../../platform/core/present.ts';
import { html, plain, raw, type Markup } from './markup.ts';
import { sanitizer } from './sanitizer.ts';

const MAX_LENGTH = 300_000;

const TAGS = (
  'svg g defs symbol use path rect circle ellipse line polyline polygon text tspan title desc ' +
  'linearGradient radialGradient stop clipPath mask pattern'
).split(' ');
const SHAPE = /<(path|rect|circle|ellipse|line|polyline|polygon|text|use)\b/;

const ATTRIBUTES = (
  'id viewBox preserveAspectRatio x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points width height transform href ' +
  'fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit ' +
  'stroke-dasharray stroke-dashoffset opacity color clip-path clip-rule mask offset stop-color stop-opacity ' +
  'gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits patternUnits ' +
  'patternContentUnits patternTransform vector-effect paint-order visibility display font-family font-size ' +
  'font-weight font-style text-anchor dominant-baseline letter-spacing word-spacing dx dy rotate textLength lengthAdjust'
).split(' ');
const ALLOWED = new Set(ATTRIBUTES);

const NUMBER = /^\s*[-+]?[\d.]+(?:e[-+]?\d+)?(?:px)?\s*$/i;
const VIEW_BOX = /^\s*[-+\d.e]+([\s,]+[-+\d.e]+){3}\s*$/i;

/** Turns the declarations of a `style` attribute into the attributes that they stand for. */
const fromStyle = (style = ''): [string, string][] =>
  style.split(';').flatMap((declaration): [string, string][] => {
    const [name, ...value] = declaration.split(':');
    return value.length === 0
      ? []
      : [
          [
            present(name).trim(),
            value
              .join(':')
              .replace(/!important/i, '')
              .trim(),
          ],
        ];
  });

function safeAttributes(given: Record<string, string>, prefix: string): Record<string, string> {
  const local = (id: string) => `${prefix}${id.replace(/[^\w.-]/g, '_')}`;
  const { style, 'xlink:href': xlink, ...rest } = given;
  const pairs = [...Object.entries(xlink ? { href: xlink, ...rest } : rest), ...fromStyle(style)];
  return Object.fromEntries(
    pairs.flatMap(([name, value]): [string, string][] => {
      if (!ALLOWED.has(name)) return [];
      if (name === 'id') return [[name, local(value)]];
      const reference = /^\s*(?:url\(\s*["']?)?#([^"')\s]+)["']?\s*(?:\)\s*)?$/.exec(value);
      if (name === 'href') return reference ? [[name, `#${local(itemAt(reference, 1))}`]] : [];
      if (/url\s*\(|\\|expression|javascript:/i.test(value)) {
        return reference && /^\s*url\(/i.test(value) ? [[name, `url(#${local(itemAt(reference, 1))})`]] : [];
      }
      return [[name, value]];
    }),
  );
}

/** Falls back on `width` and `height` where the viewBox is missing or cannot be used. */
function viewBoxOf({ viewBox, width, height }: Record<string, string>): string {
  if (viewBox && VIEW_BOX.test(viewBox)) return viewBox.trim();
  const isSized = width && height && NUMBER.test(width) && NUMBER.test(height);
  return isSized ? `0 0 ${Number.parseFloat(width)} ${Number.parseFloat(height)}` : '0 0 100 100';
}

export interface Drawing {
  viewBox: string;
  inner: Markup;
}

/** @returns undefined where the text holds no drawing */
export function readDrawing(text: string, prefix: string): Drawing | undefined {
  // Models put code fences and explanations around the drawing.
  const start = text.search(/<svg[\s>]/);
  const end = text.lastIndexOf('</svg>') + '</svg>'.length;
  if (start < 0 || end < start || end - start > MAX_LENGTH) return undefined;
  let root: Record<string, string> | undefined;
  const clean = sanitizer()(plain(text.slice(start, end)), {
    allowedTags: TAGS,
    allowedAttributes: { '*': ATTRIBUTES },
    allowedSchemesAppliedToAttributes: [],
    disallowedTagsMode: 'completelyDiscard',
    selfClosing: [],
    transformTags: {
      '*': (tagName, attribs) => {
        root ??= attribs;
        return { tagName, attribs: safeAttributes(attribs, prefix) };
      },
    },
    parser: { xmlMode: true, lowerCaseTags: false, lowerCaseAttributeNames: false },
  });
  const [, inner] = /^<svg[^>]*>([^]*)<\/svg>$/.exec(clean.trim()) ?? [];
  return inner && SHAPE.test(inner) ? { viewBox: viewBoxOf(root ?? {}), inner: raw(inner) } : undefined;
}

interface Placement {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** @param label describes the drawing to those who do not see it; a drawing without one is decoration */
export function drawingMarkup({ viewBox, inner }: Drawing, label: string | null, at?: Placement): Markup {
  const place = at && html` x="${at.x}" y="${at.y}" width="${at.width}" height="${at.height}"`;
  const name = label === null ? html` aria-hidden="true"` : html` role="img" aria-label="${label}"`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" ${place}${name}>${inner}</svg>`;
}
