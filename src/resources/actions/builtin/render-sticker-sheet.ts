/**
 * Lays stickers out on one A4 sheet, as an SVG that a print shop can take: a grid with dashed cut lines, in
 * millimetres.
 */
import { z } from 'zod';
import type { Action } from './action.ts';
import { fileOf } from './rendering/file.ts';
import { badge, drawingOr } from './rendering/illustration.ts';
import { html, textOf } from './rendering/markup.ts';
import { requirePart, Words } from './rendering/sources.ts';
import { drawingMarkup } from './rendering/svg.ts';

const Pack = z.object({
  stickers: z
    .array(z.object({ name: Words, svg: z.string().default(''), alt: Words.optional() }))
    .min(1)
    .max(48),
});

/** The size of A4 in millimetres. */
const SHEET = { width: 210, height: 297 };
const MARGIN = 12;
const HEADER = 16;
const LABEL = 7;
const BLEED = 3;

/** Chooses the number of columns that gives the largest squares. */
function gridOf(count: number): { columns: number; cell: number } {
  const width = SHEET.width - 2 * MARGIN;
  const height = SHEET.height - 2 * MARGIN - HEADER;
  const grids = Array.from({ length: count }, (_, index) => {
    const columns = index + 1;
    return { columns, cell: Math.min(width / columns, height / Math.ceil(count / columns) - LABEL) };
  });
  return grids.reduce((best, grid) => (grid.cell > best.cell ? grid : best));
}

const clip = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max - 1).trimEnd()}…`);

export const renderStickerSheet: Action = {
  name: 'render_sticker_sheet',
  description:
    'Lays out stickers [{name, svg, alt}] on one A4 sheet in SVG, with cut lines. Each drawing is cleaned of all that ' +
    'is not a shape; one that is no SVG gets a badge drawn from its name.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const { stickers } = requirePart(context, 'stickers to lay out', 'stickers', Pack);
    const { columns, cell } = gridOf(stickers.length);
    const left = (SHEET.width - columns * cell) / 2;
    const pieces = stickers.map(({ name, svg, alt }, index) => {
      const x = left + (index % columns) * cell;
      const y = MARGIN + HEADER + Math.floor(index / columns) * (cell + LABEL);
      const size = cell - 2 * BLEED;
      const place = { x: x + 2 * BLEED, y: y + 2 * BLEED, width: cell - 4 * BLEED, height: cell - 4 * BLEED };
      const drawing = drawingOr(svg, `sticker-${index + 1}-`, badge, `${index} ${name}`);
      const letters = Math.floor(cell / 1.9);
      return html`<g>
        <rect
          x="${x + BLEED}"
          y="${y + BLEED}"
          width="${size}"
          height="${size}"
          rx="${size / 8}"
          fill="#ffffff"
          stroke="#e0218a"
          stroke-width=".35"
          stroke-dasharray="2 1.4"
        />
        ${drawingMarkup(drawing, alt ?? name, place)}
        <text x="${x + cell / 2}" y="${y + cell + 2}" font-size="3.4" text-anchor="middle">${clip(name, letters)}</text>
      </g> `;
    });
    const { title } = context.project;
    const markup = html`<?xml version="1.0" encoding="UTF-8"?>
      <svg
        xmlns="http://www.w3.org/2000/svg"
        viewBox="0 0 ${SHEET.width} ${SHEET.height}"
        width="${SHEET.width}mm"
        height="${SHEET.height}mm"
        font-family="Helvetica, Arial, sans-serif"
        fill="#222222"
      >
        <title>${title}</title>
        <desc>${stickers.length} stickers on A4. Dashed lines are cut lines.</desc>
        <rect width="100%" height="100%" fill="#ffffff" />
        <text x="${left + BLEED}" y="${MARGIN + 6}" font-size="7" font-weight="700">${clip(title, 48)}</text>
        <text x="${left + BLEED}" y="${MARGIN + 12}" font-size="3.4">
          ${stickers.length} stickers. Cut along the dashed lines.
        </text>
        ${pieces}
      </svg> `;
    return fileOf(context, 'image/svg+xml', textOf(markup));
  },
};
