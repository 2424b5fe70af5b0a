/** Shortens and cleans texts of any language and script. All of it takes time in proportion to what is kept. */

const ELLIPSIS = '…';

/** These scripts put no spaces between words, so a text may be cut between any two of their characters. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
/** A character that belongs to the one before it: an accent, a vowel sign, a part of an emoji. */
const ATTACHED = /^[\p{M}\u200d\ufe0f\u{1f3fb}-\u{1f3ff}]$/u;
const SPACE = /^\s$/u;
const SEPARATOR = /^[\s,;:(/-]$/u;

/** @returns the characters of a text as JSON Schema counts them, `most` at the most */
export const charactersOf = (text: string, most: number): string[] => [...text.slice(0, 2 * most)].slice(0, most);

/**
 * Shortens a text to `max` characters: between two words, with an ellipsis. A single word that is longer than that is
 * cut, because there is no other place.
 */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = charactersOf(text, max + 1);
  if (characters.length <= max) return text;
  if (max < 2) return characters.slice(0, max).join('');
  let end = max - 1;
  const isBreak = (at: number) => {
    const [before = '', after = ''] = characters.slice(at - 1, at + 1);
    if (ATTACHED.test(after) || before === '\u200d') return false;
    return SPACE.test(after) || SPACE.test(before) || UNSPACED.test(before) || UNSPACED.test(after);
  };
  while (end > 0 && !isBreak(end)) end -= 1;
  if (end === 0) end = max - 1;
  while (end > 1 && SEPARATOR.test(characters[end - 1] ?? '')) end -= 1;
  return characters.slice(0, end).join('').toWellFormed() + ELLIPSIS;
}

/** Puts a text on one line. */
export const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** @returns whether a text ends like a sentence, so that another sentence may stand before it */
export const isSentence = (text: string): boolean => /[.?!”…。]$/u.test(text);

/** @returns whether there is something to read in it: a letter or a digit of any script */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

const LEADING_MARKS = /^[\s#>*+•-]+/u;
const LINK = /\[([^[\]]*)\]\([^()]*\)/g;
const MARKS = /[*`<>|~\\]/g;

/** Removes what Markdown and HTML would read as markup. @param line of at most some hundred characters */
export const withoutMarkup = (line: string): string =>
  inOneLine(line.replace(LINK, '$1').replace(LEADING_MARKS, '').replace(MARKS, ' '));

const MAX_SLUG = 40;

/** Makes a slug. @returns '' for a text without a Latin letter or a digit */
export function slugFrom(text: string): string {
  const words = text
    .slice(0, 200)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .split(' ')
    .filter(Boolean);
  let slug = '';
  for (const word of words) {
    if (slug !== '' && slug.length + 1 + word.length > MAX_SLUG) break;
    slug = slug === '' ? word.slice(0, MAX_SLUG) : `${slug}-${word}`;
  }
  return slug;
}

/** @returns a number that is the same for the same text, and evenly spread */
export function seedFrom(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < Math.min(text.length, 1_000); at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return (hash ^ (hash >>> 15)) >>> 0;
}
