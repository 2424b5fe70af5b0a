/** Finds in the outputs of earlier steps what a reply can use again: fields, list items, an outline, a whole document. */
import { isRecord } from '../../core/record.ts';
import { noteOnMarkdown, PLACEHOLDER_MARK, PLACEHOLDER_NOTE, withoutNote } from './notice.ts';
import type { UpstreamOutput } from './step-prompt.ts';
import { clip, hasWords, inOneLine, isSentence } from './words.ts';

type Upstream = readonly UpstreamOutput[];

const MOST_ITEMS = 60;
/** A reply must stay below 4,096 tokens. No text has more tokens than bytes, and most have a third of them. */
const MOST_BYTES = 9_000;

/** Names of lists whose items another list continues, one by one. */
const CONTINUED: ReadonlyMap<string, readonly string[]> = new Map([
  ['slides', ['messages']],
  ['notes', ['slides']],
  ['scenes', ['lines', 'pages']],
  ['answers', ['exercises']],
  ['evidence', ['facts']],
  ['questions', ['doubts']],
  ['stickers', ['stickers']],
  ['sections', ['sections', 'chapters']],
]);
/** Fields that say what an item is called, the best first. */
const LABELS = ['title', 'name', 'heading', 'message', 'line', 'statement', 'question'];
const DOCUMENTS = ['content', 'body', 'markdown', 'article', 'readme', 'text'];
const OUTLINES = ['sections', 'chapters', 'parts', 'outline'];

export const findField = (upstream: Upstream, name: string): string | undefined => {
  for (const { value } of upstream) {
    const found = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof found === 'string' && hasWords(found)) return withoutNote(found);
  }
  return undefined;
};

/** @returns the items that the items of a list of this name stand beside; undefined if there are none */
export function findItems(upstream: Upstream, listName: string): unknown[] | undefined {
  const names = CONTINUED.get(listName) ?? [];
  for (const { value } of upstream) {
    if (!isRecord(value)) continue;
    const found = names.map((name) => (Object.hasOwn(value, name) ? value[name] : undefined)).find(Array.isArray);
    if (found && found.length > 0) return found.slice(0, MOST_ITEMS);
  }
  return undefined;
}

/** @returns what an item is called: the text itself, or the field that names it */
export function labelOf(item: unknown): string | undefined {
  const given = isRecord(item) ? LABELS.map((name) => item[name]).find((value) => typeof value === 'string') : item;
  return typeof given === 'string' && hasWords(given) ? inOneLine(withoutNote(given)) : undefined;
}

interface OutlineSection {
  heading: string;
  point: string;
  evidence: string;
}
export interface Outline {
  opening: string;
  sections: OutlineSection[];
  ending: string;
}

const MOST_SECTIONS = 6;
const oneLine = (value: unknown, max: number): string =>
  typeof value === 'string' ? clip(inOneLine(withoutNote(value)), max) : '';

/** @returns undefined if no earlier step made an outline */
export function findOutline(upstream: Upstream): Outline | undefined {
  for (const { value } of upstream) {
    if (!isRecord(value)) continue;
    const list = OUTLINES.map((name) => value[name]).find(Array.isArray);
    const sections = (list ?? []).slice(0, MOST_SECTIONS).flatMap((item) => {
      const heading = labelOf(item);
      const fields: Record<string, unknown> = isRecord(item) ? item : {};
      const section = { point: oneLine(fields.point, 400), evidence: oneLine(fields.evidence, 200) };
      return heading ? [{ heading: clip(heading, 120), ...section }] : [];
    });
    if (sections.length > 0) {
      return { opening: oneLine(value.opening, 400), sections, ending: oneLine(value.ending, 400) };
    }
  }
  const document = findDocument(upstream);
  const headings = document
    .split('\n')
    .filter((line) => line.startsWith('## ') && hasWords(line))
    .slice(0, MOST_SECTIONS);
  if (headings.length < 2) return undefined;
  const sections = headings.map((line) => ({ heading: oneLine(line.slice(3), 120), point: '', evidence: '' }));
  return { opening: '', sections, ending: '' };
}

/** Shortens a document between two paragraphs, so that the reply that returns it stays short. */
function shortened(document: string): string {
  if (Buffer.byteLength(document) <= MOST_BYTES) return document;
  let size = 0;
  const kept: string[] = [];
  for (const paragraph of document.split('\n\n')) {
    size += Buffer.byteLength(paragraph) + 2;
    if (size > MOST_BYTES) break;
    kept.push(paragraph);
  }
  const start = kept.length > 0 ? kept.join('\n\n') : clip(document, MOST_BYTES / 3);
  return `${start}\n\n(The rest is left out, because the offline model keeps its replies short.)`;
}

/** @returns the latest text that an earlier step wrote, without the note; '' if there is none */
export function findDocument(upstream: Upstream): string {
  for (const { value } of upstream) {
    const text = isRecord(value)
      ? DOCUMENTS.map((name) => value[name]).find((each) => typeof each === 'string')
      : value;
    const isFile = isRecord(value) && typeof value.content_type === 'string' && value.content_type !== 'text/markdown';
    if (typeof text === 'string' && hasWords(text) && !isFile) return shortened(withoutNote(text));
  }
  return '';
}

/** Joins objects that have the same single list, such as the files of two steps. */
function joined(values: readonly unknown[]): unknown {
  const [first] = values;
  if (values.length < 2 || !isRecord(first)) return first;
  const [name, ...others] = Object.keys(first);
  if (name === undefined || others.length > 0) return first;
  const items = values
    .toReversed()
    .flatMap((value) => (isRecord(value) && Array.isArray(value[name]) ? value[name] : []));
  const seen = new Set<string>();
  return { [name]: items.filter((item) => seen.size < seen.add(JSON.stringify(item)).size) };
}

/**
 * @param fits tells whether a value has the shape that the reply must have
 * @param from an editor returns what a phase made; other steps what a step of their own phase made
 * @returns the value to return as it is, undefined if there is none or it is too large
 */
export function findWhole(
  upstream: Upstream,
  fits: (value: unknown) => boolean,
  from: readonly UpstreamOutput['from'][],
): unknown {
  const values = upstream.filter((each) => from.includes(each.from) && isRecord(each.value)).map(({ value }) => value);
  const fitting = values.filter(fits);
  const steps = upstream.filter((each) => each.from === 'step' && fitting.includes(each.value)).length;
  const whole = joined(steps > 1 ? fitting.slice(0, steps) : fitting.slice(0, 1));
  if (whole === undefined || !fits(whole)) return undefined;
  const text = JSON.stringify(whole);
  return Buffer.byteLength(text) <= MOST_BYTES ? whole : undefined;
}

const isMarked = (value: unknown): boolean => {
  const text = JSON.stringify(value);
  return text.includes(PLACEHOLDER_NOTE) || text.includes(PLACEHOLDER_MARK);
};

/** Puts the mark before the first sentence in a value. @returns undefined if there is none */
function withMark(value: unknown): unknown {
  if (typeof value === 'string') return isSentence(value) ? `${PLACEHOLDER_MARK} ${value}` : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const marked = withMark(item);
    if (marked === undefined) continue;
    return Array.isArray(value) ? value.with(Number(key), marked) : { ...value, [key]: marked };
  }
  return undefined;
}

/**
 * Marks a value that is returned as it is. A person may have written it, so it is returned without a mark rather than
 * changed in a way that the schema forbids.
 */
export function markWhole(value: unknown, fits: (value: unknown) => boolean): unknown {
  if (isMarked(value) || !isRecord(value)) return value;
  const name = DOCUMENTS.find((each) => typeof value[each] === 'string');
  const noted = name === undefined ? undefined : { ...value, [name]: noteOnMarkdown(String(value[name])) };
  return [noted, withMark(value)].find((each) => each !== undefined && fits(each)) ?? value;
}
