/** Counts tokens without holding up other requests: long texts are counted in a thread. */
import { runInThread, ThreadLimitError, type Job } from '../threads/threads.ts';
import { countPieces, countTokens, isCounted, keepCounts, piecesOf, totalOf } from './tokens.ts';

export type CountTokens = (text: string) => number | Promise<number>;

/**
 * A text with fewer characters takes a few milliseconds at most: words take a fifth of one, random signs of all scripts
 * ten.
 */
const SMALL = 4_000;
const job: Job<string[], number[]> = {
  module: new URL('./tokens.ts', import.meta.url),
  name: 'countPieces',
  title: 'counting tokens',
  timeoutMs: 10_000,
};

/** What was counted before counts as nothing: of a long text that has grown, its end is counted here. */
export async function countTokensOf(text: string): Promise<number> {
  if (text.length <= SMALL) return countTokens(text);
  const pieces = piecesOf(text);
  const unknown = pieces.filter((piece) => !isCounted(piece));
  if (unknown.join('').length <= SMALL) return totalOf(text, countPieces(pieces));
  try {
    const counts = await runInThread(job, pieces);
    keepCounts(pieces, counts);
    return totalOf(text, counts);
  } catch (error) {
    if (!(error instanceof ThreadLimitError)) throw error;
    // No text has more tokens than bytes: what is held or charged by this is never too little.
    return Buffer.byteLength(text);
  }
}
