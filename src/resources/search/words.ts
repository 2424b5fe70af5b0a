/**
 * What is asked for, as Postgres asks its index for it. The index has the words of each document as the configuration `simple` finds
 * them (`sql/search_words.sql`), so nothing is known of languages, and a word is found by its beginning.
 */
import { isOneOf } from '../../platform/core/one-of.ts';
import { OPEN_STATUSES } from '../runs/model.ts';
import type { SearchKind, SearchStatus } from './model.ts';

/** A query of text search, and the words that are to be seen in what it finds. */
export interface WordQuery {
  /** A `tsquery`; null where nothing is asked for. */
  tsquery: string | null;
  /** In small letters and digits alone. */
  words: readonly string[];
}

/** The words of a query beyond these are not looked for. */
const MOST_WORDS = 24;
/** A shorter word stands for itself: too many begin with it. */
const SHORTEST_BEGINNING = 3;

/** Quoted texts, and what stands between spaces; each with a minus where it must not be there. */
const ASKED = /(-?)(?:"([^"]*)"?|(\S+))/g;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Postgres takes the beginning of such a word for a number, and the rest for a word of its own. */
const BEGINS_WITH_NUMBER = /^(\d+e\d+)(\p{L}.*)$/u;

/** All that is asked for must be there. What has several words, such as `a-b.c` or a quoted text, must stand together. */
export function parseWords(q: string): WordQuery {
  const parts: string[] = [];
  const shown: string[] = [];
  let count = 0;
  for (const [, minus, quoted, bare] of q.normalize('NFC').toLowerCase().matchAll(ASKED)) {
    const words = wordsOf(quoted ?? bare ?? '').slice(0, MOST_WORDS - count);
    if (words.length === 0) continue;
    count += words.length;
    const isWhole = quoted !== undefined;
    const lexemes = words.map((word, i) =>
      !isWhole && i === words.length - 1 && word.length >= SHORTEST_BEGINNING ? `'${word}':*` : `'${word}'`,
    );
    parts.push(`${minus ? '!' : ''}(${lexemes.join(' <-> ')})`);
    if (!minus) shown.push(...words);
  }
  return { tsquery: parts.length > 0 ? parts.join(' & ') : null, words: [...new Set(shown)] };
}

/** A UUID that is cut off within a group: too many words begin with so little of it. */
const CUT_UUID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){0,3})-[0-9a-f]{1,2}$/;

const wordsOf = (text: string): string[] =>
  (text.replace(CUT_UUID, '$1').match(WORD) ?? []).flatMap((word) => {
    const [, number, rest] = BEGINS_WITH_NUMBER.exec(word) ?? [];
    return number === undefined || rest === undefined ? [word] : [number, rest];
  });

export interface Marks {
  customerId: string;
  kinds: readonly SearchKind[];
  status?: SearchStatus | undefined;
  agent?: string | undefined;
}

const quote = (lexeme: string): string => `'${lexeme.replace(/['\\]/g, '$&$&')}'`;

/**
 * The marks of a document, which `search_marks` puts among its words: no word begins like one. So one look into the index finds the
 * documents of one workspace.
 */
export function markQuery({ customerId, kinds, status, agent }: Marks): string {
  return [
    quote(`@${customerId}`),
    `(${kinds.map((kind) => quote(`#${kind}`)).join(' | ')})`,
    ...(status === undefined ? [] : [quote(`%${isOneOf(OPEN_STATUSES, status) ? 'open' : status}`)]),
    ...(agent === undefined ? [] : [quote(`~${agent}`)]),
  ].join(' & ');
}

export interface TextPart {
  text: string;
  /** It is one of the words that were asked for, or begins with it. */
  hit: boolean;
}

/** @returns a pattern of Postgres for the first of these words in a text; null where there is none to be seen */
export const patternOf = (words: readonly string[]): string | null =>
  words.length === 0
    ? null
    : `(^|[^[:alnum:]])(${words.map((word) => (word.length < SHORTEST_BEGINNING ? `${word}([^[:alnum:]]|$)` : word)).join('|')})`;

/** @returns the text in parts, of which those are hits that a word begins with and that were asked for */
export function markHits(text: string, words: readonly string[]): TextPart[] {
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  const parts: TextPart[] = [];
  let end = 0;
  const add = (to: number, hit: boolean) => {
    if (to > end) parts.push({ text: text.slice(end, to), hit });
    end = Math.max(end, to);
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const small = word.toLowerCase();
    const asked = longestFirst.find(
      (each) => small === each || (each.length >= SHORTEST_BEGINNING && small.startsWith(each)),
    );
    if (asked === undefined) continue;
    add(index, false);
    add(index + asked.length, true);
  }
  add(text.length, false);
  return parts;
}
