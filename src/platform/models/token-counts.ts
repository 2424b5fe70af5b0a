/** Counts tokens without holding up other requests: long texts are counted in a thread. */
import { runInThread, ThreadLimitError, type Job } from '../threads/threads.ts';
import { countTokens } from './tokens.ts';

export type CountTokens = (text: string) => number | Promise<number>;

/**
 * A text with fewer characters takes a few milliseconds at most: words take a fifth of one, random signs of all scripts
 * ten.
 */
const SMALL = 4_000;
const job: Job<string, number> = {
  module: new URL('./tokens.ts', import.meta.url),
  name: 'countTokens',
  title: 'counting tokens',
  timeoutMs: 10_000,
};

export async function countTokensOf(text: string): Promise<number> {
  if (text.length <= SMALL) return countTokens(text);
  return runInThread(job, text).catch((error: unknown) => {
    if (!(error instanceof ThreadLimitError)) throw error;
    // No text has more tokens than bytes: what is held or charged by this is never too little.
    return Buffer.byteLength(text);
  });
}
