/**
 * What a server of chat completions that caches by itself, as OpenAI does, would bill for its requests: it reads the longest
 * beginning that it has seen, in steps of 128 tokens from 1,024 on. https://platform.openai.com/docs/guides/prompt-caching
 */
import { listOf, tokensOf, type BilledTokens } from './anthropic-bills.ts';

const LEAST_TOKENS = 1_024;
const STEP = 128;

/** @returns all that a model is told, in the order in which it is: tools, then messages */
export const toldInChat = (body: Record<string, unknown>): string[] =>
  [...listOf(body.tools), ...listOf(body.messages)].map((each) => JSON.stringify(each));

/** @returns a function that bills one request after another */
export function createChatBills() {
  const seen: string[][] = [];
  return (body: Record<string, unknown>, reply: unknown): BilledTokens => {
    const told = toldInChat(body);
    const tokens = (pieces: readonly string[]) => Math.ceil(Buffer.byteLength(pieces.join('')) / 4);
    const same = Math.max(0, ...seen.map((before) => tokens(told.slice(0, alikeIn(before, told)))));
    const read = same < LEAST_TOKENS ? 0 : Math.floor(same / STEP) * STEP;
    seen.push(told);
    return {
      input_tokens: tokens(told) - read,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: read,
      output_tokens: tokensOf(reply),
    };
  };
}

/** @returns how many pieces both begin with */
export function alikeIn(before: readonly string[], after: readonly string[]): number {
  const differs = before.findIndex((piece, at) => piece !== after[at]);
  return differs === -1 ? before.length : differs;
}
