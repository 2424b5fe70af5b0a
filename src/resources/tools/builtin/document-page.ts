/** Cuts documents into answers, as a model reads them: whole pages where they fit, and where to go on. */
import type { ReadUnits } from '../../../platform/documents/documents-thread.ts';
import { ToolError } from '../model.ts';
import { PAGE_LENGTH, pageOf } from './text-page.ts';

export interface UnitRange {
  first: number;
  last: number;
}

/** @param pages such as `3`, `3-7` or `3-` */
export function rangeOf(pages: string): UnitRange {
  const [first = '', last = first] = pages.split('-');
  const range = { first: Number(first), last: last === '' ? Infinity : Number(last) };
  if (range.first < 1 || range.last < range.first) throw new ToolError(`pages: ${pages} is no range, as 3 or 3-7 is`);
  return range;
}

/** @param offset in the first of the units */
export function documentPage({ unit, count, texts }: ReadUnits, { first, last }: UnitRange, offset: number) {
  if (unit === null) {
    const [text = ''] = texts;
    return { ...pageOf(text, offset), total_characters: text.length };
  }
  if (first > count) throw new ToolError(`it has ${count} ${unit}${count === 1 ? '' : 's'}, and no ${unit} ${first}`);
  const end = Math.min(last, count);
  const titleOf = (number: number) => `--- ${unit} ${number} of ${count} ---\n`;
  const [text = '', ...others] = texts;
  const start = pageOf(text === '' ? NO_TEXT : text, offset);
  let content = titleOf(first) + start.content;
  let read = first;
  let room = PAGE_LENGTH - jsonLength(content);
  if (start.next_offset === null) {
    for (const other of others) {
      const more = `\n\n${titleOf(read + 1)}${other === '' ? NO_TEXT : other}`;
      room -= jsonLength(more);
      if (room < 0 || read >= end) break;
      content += more;
      read += 1;
    }
  }
  const next = start.next_offset === null ? read + 1 : first;
  return {
    content,
    unit,
    pages: read === first ? String(first) : `${first}-${read}`,
    total_pages: count,
    next_pages: next <= end ? (next === end ? String(next) : `${next}-${end}`) : null,
    next_offset: start.next_offset,
  };
}

const NO_TEXT = '(no text: it may be a picture)';

/** Line breaks and the like take two characters in JSON. */
const jsonLength = (text: string): number => JSON.stringify(text).length - 2;
