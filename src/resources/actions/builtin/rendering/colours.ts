/** Makes colours that models chose safe to read: text has enough contrast, whatever the palette is. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { itemAt, take } from '../../../../platform/core/present.ts';
import type { ActionContext } from '../action.ts';
import { findPart } from './sources.ts';

const Hex = z.string().regex(/^#[0-9a-f]{6}$/i);

export interface Palette {
  background: string;
  ink: string;
  accent: string;
}

const PLAIN: Palette = { background: '#fdfcf9', ink: '#1f2430', accent: '#2f5dd0' };
/** The contrast that WCAG 2 asks of text in normal size. */
const READABLE = 4.5;

function luminance(hex: string): number {
  const [r, g, b] = take(
    [1, 3, 5].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }),
    3,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @returns the contrast of two colours, from 1 (the same colour) to 21 (black on white) */
export function contrast(a: string, b: string): number {
  const [light, dark] = take(
    [luminance(a), luminance(b)].sort((x, y) => y - x),
    2,
  );
  return (light + 0.05) / (dark + 0.05);
}

/** @returns the wanted colour where it can be read on the background, otherwise black or white */
export function readableOn(background: string, wanted = '#ffffff'): string {
  if (contrast(background, wanted) >= READABLE) return wanted;
  return contrast(background, '#000000') >= contrast(background, '#ffffff') ? '#000000' : '#ffffff';
}

/** @param fallback is the palette of a document whose pipeline chose none */
export function paletteOf(
  context: Pick<ActionContext, 'inputs' | 'artifacts' | 'instructions'>,
  fallback = PLAIN,
): Palette {
  const Part = z.object({ palette: z.object({ background: Hex, ink: Hex, accent: Hex }) });
  const { background, ink, accent } = findPart(context, Part)?.palette ?? fallback;
  return { background, ink: readableOn(background, ink), accent };
}

/** @returns a generator of numbers from 0 up to 1 that gives the same sequence for the same text */
export function seeded(text: string): () => number {
  const bytes = createHash('sha256').update(text).digest();
  let at = 0;
  return () => itemAt(bytes, at++ % bytes.length) / 256;
}
