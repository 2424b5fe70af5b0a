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
  if (text.length > MOST) return Math.ceil((countTokens(text.slice(0, MOST)) * text.length) / MOST);
  const encoding = encodingOfAll();
  if (text.length <= PIECE) return encoding.countTokens(text, AS_TEXT);
  let total = 0;
  for (let at = 0; at < text.length; at += PIECE) total += countPiece(encoding, text.slice(at, at + PIECE));
  return total;
}

/**
 * Counts are kept, because system prompts and tool declarations are the same call after call, and counting them was
 * most of an offline call.
 */
const counted = new Map<string, number>();
const MAX_COUNTED = 1_000;

function countPiece({ countTokens: count }: typeof Encoding, piece: string): number {
  const known = counted.get(piece);
  if (known !== undefined) return known;
  const tokens = count(piece, AS_TEXT);
  if (counted.size >= MAX_COUNTED) counted.clear();
  counted.set(piece, tokens);
  return tokens;
}
