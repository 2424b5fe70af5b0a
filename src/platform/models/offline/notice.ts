/**
 * Marks what the offline model writes as a placeholder. Every reply carries one of these marks, so that nobody takes it
 * for the work of a real model.
 */

/** Says what a reader has in front of them, and what brings a real model. It is the first line of every text. */
export const PLACEHOLDER_NOTE =
  'Placeholder text: no model was called; set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_COMPATIBLE_BASE_URL ' +
  'to have a real model write it.';

/** Begins a field of JSON that has room for a sentence, if no field of the value holds a document. */
export const PLACEHOLDER_MARK = 'Placeholder: no model was called.';

/** Programs recognize a text of the offline model by this. */
const TEXT_PREFIX = '[offline model] ';
const QUOTE_PREFIX = '> ';

/** Puts the note on top of a text reply. */
export const noteOnText = (body: string): string => `${TEXT_PREFIX}${PLACEHOLDER_NOTE}\n\n${body}`;

/** Puts the note on top of a Markdown document. */
export const noteOnMarkdown = (body: string): string => `${QUOTE_PREFIX}${PLACEHOLDER_NOTE}\n\n${body}`;

/** Removes the note or the mark from a text of an earlier step, so that a reply that quotes it has one and not two. */
export function withoutNote(text: string): string {
  let rest = text.trimStart();
  for (const prefix of [TEXT_PREFIX, QUOTE_PREFIX]) {
    if (rest.startsWith(prefix + PLACEHOLDER_NOTE)) rest = rest.slice(prefix.length);
  }
  for (const mark of [PLACEHOLDER_NOTE, PLACEHOLDER_MARK]) {
    if (rest.startsWith(mark)) return rest.slice(mark.length).trimStart();
  }
  return rest;
}
