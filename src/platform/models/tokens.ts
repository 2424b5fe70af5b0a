/**
 * Token counts by a real tokenizer: one encoding for every model. Counts of other vendors differ by some percent,
 * which is near enough for estimates; what a call did use is what its provider reports.
 */
import type * as Encoding from 'gpt-tokenizer/encoding/cl100k_base';
import { whenUsed } from '../core/when-used.ts';

/**
 * Texts are counted in pieces of so many characters: a run without spaces costs time by the square of its length, and
 * texts come from strangers.
 */
const PIECE = 1_000;
/** The text `<|endoftext|>` is counted as text; by default the tokenizer throws on it. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

const encodingOfAll = whenUsed<typeof Encoding>('gpt-tokenizer/encoding/cl100k_base');

/** So many characters are counted; beyond them a text is taken to go on as it began. */
const MOST = 200_000;

/** Counts tokens. The encoding (50 ms, 23 MB) is loaded when it is first asked for. */
export function countTokens(text: string): number {
  if (text.length <= PIECE) return encodingOfAll().countTokens(text, AS_TEXT);
  return totalOf(text, countPieces(piecesOf(text)));
}

/** @returns the pieces that are counted of a long text */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < Math.min(text.length, MOST); at += PIECE) pieces.push(text.slice(at, at + PIECE));
  return pieces;
}

/** @param counts those of its pieces */
export function totalOf(text: string, counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return text.length > MOST ? Math.ceil((total * text.length) / MOST) : total;
}

/**
 * Counts are kept, because each request of a run begins with the one before, and system prompts and tool declarations are
 * the same call after call.
 */
const counted = new Map<string, number>();
const MAX_COUNTED = 4_000;

export const isCounted = (piece: string): boolean => counted.has(piece);

export function countPieces(pieces: readonly string[]): number[] {
  const counts = pieces.map((piece) => counted.get(piece) ?? encodingOfAll().countTokens(piece, AS_TEXT));
  keepCounts(pieces, counts);
  return counts;
}

export function keepCounts(pieces: readonly string[], counts: readonly number[]): void {
  if (counted.size + pieces.length > MAX_COUNTED) counted.clear();
  for (const [at, piece] of pieces.entries()) {
    const count = counts[at];
    // A copy: a part of a text keeps all of the text in memory.
    if (count !== undefined && !counted.has(piece))
      counted.set(Buffer.from(piece, 'utf16le').toString('utf16le'), count);
  }
}
