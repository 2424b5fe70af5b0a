/**
 * What Anthropic would bill for requests of its messages API: what it reads from its cache, and what it writes to it, as
 * follows from the marks and the bytes of each. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
import { createHash } from 'node:crypto';
import { fieldsOf } from '../../../src/platform/core/record.ts';

/** A shorter beginning is not kept. */
const LEAST_TOKENS = 1_024;
/** From a mark it looks so many blocks back for what it has. */
const LOOK_BACK = 20;

/** US dollars for a million tokens of Claude Haiku 4.5. */
export const PRICE = { input: 1, write: 1.25, read: 0.1, output: 5 };

export interface BilledTokens {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

const inputOf = (tokens: BilledTokens): number =>
  tokens.input_tokens + tokens.cache_creation_input_tokens + tokens.cache_read_input_tokens;

export const costOf = (tokens: BilledTokens): number =>
  (tokens.input_tokens * PRICE.input +
    tokens.cache_creation_input_tokens * PRICE.write +
    tokens.cache_read_input_tokens * PRICE.read +
    tokens.output_tokens * PRICE.output) /
  1_000_000;

export const costWithoutCache = (tokens: BilledTokens): number =>
  (inputOf(tokens) * PRICE.input + tokens.output_tokens * PRICE.output) / 1_000_000;

export const tokensOf = (value: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4);

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** @returns all that a model is told, in the order in which it is: tools, system text, messages, each with its mark */
export function blocksOf(body: Record<string, unknown>): { block: unknown; isMarked: boolean }[] {
  const messages = listOf(body.messages)
    .map(fieldsOf)
    .flatMap(({ role, content }) => listOf(content).map((block) => ({ role, ...fieldsOf(block) })));
  return [...listOf(body.tools), ...listOf(body.system), ...messages].map((each) => {
    const { cache_control: mark, ...block } = fieldsOf(each);
    return { block, isMarked: mark !== undefined };
  });
}

/** @returns a function that bills one request after another */
export function createAnthropicBills() {
  const kept = new Set<string>();
  return (body: Record<string, unknown>, reply: unknown): BilledTokens => {
    const hash = createHash('sha256');
    let sum = 0;
    const prefixes = blocksOf(body).map(({ block, isMarked }) => {
      sum += tokensOf(block);
      return { isMarked, tokens: sum, id: hash.update(JSON.stringify(block)).copy().digest('hex') };
    });
    const marks = prefixes.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    if (marks.length > 4) throw new Error(`there are ${marks.length} marks, and Anthropic takes 4`);
    const found = marks.map((mark) =>
      prefixes.slice(Math.max(0, mark - LOOK_BACK + 1), mark + 1).findLast(({ id }) => kept.has(id)),
    );
    const read = Math.max(0, ...found.map((each) => each?.tokens ?? 0));
    const toKeep = marks
      .flatMap((mark) => prefixes.slice(mark, mark + 1))
      .filter(({ tokens }) => tokens >= LEAST_TOKENS);
    for (const { id } of toKeep) kept.add(id);
    const through = Math.max(read, toKeep.at(-1)?.tokens ?? 0);
    return {
      input_tokens: sum - through,
      cache_creation_input_tokens: through - read,
      cache_read_input_tokens: read,
      output_tokens: tokensOf(reply),
    };
  };
}
