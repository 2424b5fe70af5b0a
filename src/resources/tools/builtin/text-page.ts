/** Cuts long texts into pages, as a model reads them. */
import { z } from 'zod';
import { ToolError } from '../model.ts';

/** Counted in characters of the JSON form: what is longer would be cut on its way to the model. */
export const PAGE_LENGTH = 60_000;

export const Offset = z
  .number()
  .int()
  .min(0)
  .max(1_000_000_000)
  .default(0)
  .describe('Where to begin, in characters: next_offset of the page before');

/** @throws ToolError where the text ends before the offset */
export function pageOf(text: string, offset: number): { content: string; next_offset: number | null } {
  if (offset > text.length) throw new ToolError(`offset ${offset} is past the end: it has ${text.length} characters`);
  const content = startOf(text.slice(offset, offset + PAGE_LENGTH), PAGE_LENGTH);
  const next = offset + content.length;
  return { content: content.toWellFormed(), next_offset: next < text.length ? next : null };
}

/**
 * @returns as much as fits when it is written as JSON, where a line break takes two characters; no character is cut in
 * two
 */
function startOf(text: string, room: number): string {
  let end = 0;
  for (const character of text) {
    room -= JSON.stringify(character).length - 2;
    if (room < 0) break;
    end += character.length;
  }
  // The second half of a surrogate pair would be on the next page.
  const isCut = end === text.length && /[\ud800-\udbff]$/.test(text) && end > 1;
  return text.slice(0, isCut ? end - 1 : end);
}
