/**
 * Checks each number that a provider sends before anything is counted, charged or waited for by it. A provider or a
 * gateway may send anything: a negative count would give money back, and one that no column holds would lose the record
 * of a paid call.
 */
import { fieldsOf, isRecord } from '../core/record.ts';
import type { SdkUsage } from './sdk.ts';
import type { ResolvedModel, TokenUsage } from './types.ts';

/** No model takes or writes as many tokens in a call. The price of so many still fits into the columns for money. */
const MAX_TOKENS = 1_000_000_000;
/** No wait is longer, whatever a number says: it goes into a column and into a timer. */
export const MAX_RETRY_AFTER_MS = 86_400_000;
/** No call costs as much. */
const MAX_USD = 10_000;
/** The last second of the year 9999. */
const MAX_UNIX_S = 253_402_300_799;

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max;

type Counts = { readonly [Count in keyof TokenUsage]?: number | undefined };

/**
 * @param usage what the SDK says that a provider reported
 * @returns the counts that can be believed; the caller counts the others. A count of 0 says nothing, because no prompt
 * and no reply is empty. Parts are told with the count that they are parts of, which holds them.
 */
export function reportedUsage(
  { inputTokens: input, outputTokens: output, raw }: SdkUsage,
  { provider }: Pick<ResolvedModel, 'provider'>,
  headers?: Headers,
): Partial<TokenUsage> {
  // DeepSeek has a name of its own for what was read, and OpenRouter one for what was written.
  const hit = input.cacheRead || raw?.prompt_cache_hit_tokens;
  const written = input.cacheWrite ?? Number(fieldsOf(raw?.prompt_tokens_details).cache_write_tokens ?? 0);
  const billedUsd = provider === 'openai-compatible' ? billedByGateway(raw, headers) : undefined;
  return {
    ...(billedUsd !== undefined && { billedUsd }),
    ...told({ inputTokens: input.total }, { cacheReadTokens: Number(hit ?? 0), cacheWriteTokens: written }),
    ...told({ outputTokens: output.total }, { reasoningTokens: output.reasoning }),
  };
}

type Headers = Readonly<Record<string, string>>;

/** OpenRouter and LiteLLM tell it in the usage of the last event; LiteLLM in a header where a reply comes whole. */
function billedByGateway(raw: SdkUsage['raw'], headers: Headers = {}): number | undefined {
  const { cost, is_byok: isOwnKey, cost_details: details } = fieldsOf(raw);
  // With a key of one's own OpenRouter bills its fee alone, and the provider bills the rest.
  const rest = isOwnKey === true ? fieldsOf(details).upstream_inference_cost : 0;
  if (isAmount(cost) && isAmount(rest)) return cost + rest;
  // LiteLLM sends the headers of a stream before it knows what that will cost, so that 0 says nothing there.
  const header = Number(headers['x-litellm-response-cost'] ?? 0);
  return isAmount(header) && header > 0 ? header : undefined;
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < MAX_USD;

const isBelievable = (count: number | undefined): count is number => count !== 0 && isCount(count, MAX_TOKENS);
const believable = (counts: Counts) => Object.entries(counts).filter(([, count]) => isBelievable(count));

/** @param whole one count @param parts of it */
function told(whole: Counts, parts: Counts): Partial<TokenUsage> {
  const [known] = believable(whole);
  if (!known) return {};
  const within = believable(parts);
  const sum = within.reduce((total, [, count]) => total + count, 0);
  return Object.fromEntries([known, ...(sum <= known[1] ? within : [])]);
}

/** A line without such a name has no number that anything is counted by. */
export const COUNTING = /_tokens"|TokenCount"|"created(_at)?"/;

/**
 * Makes each number of an event one that the SDK can add up: a count of tokens that is no count becomes 0, and so does a
 * time.
 * @returns whether a number was changed, in place: in the event itself, or in the reply that it tells of
 */
export const checkNumbers = (event: unknown): boolean =>
  [event, fieldsOf(event).response, fieldsOf(event).message]
    .filter(isRecord)
    .map((holder) => [
      ...['created', 'created_at'].map((name) => check(holder, name, MAX_UNIX_S)),
      checkUsage(holder.usage),
      checkUsage(holder.usageMetadata),
    ])
    .flat()
    .some((isChanged) => isChanged);

/** Details of a usage are within it. */
function checkUsage(usage: unknown): boolean {
  if (Array.isArray(usage)) return usage.map(checkUsage).includes(true);
  if (!isRecord(usage)) return false;
  return Object.entries(usage)
    .map(([name, value]) => (/_tokens$|tokenCount$/i.test(name) ? check(usage, name, MAX_TOKENS) : checkUsage(value)))
    .some((isChanged) => isChanged);
}

function check(holder: Record<string, unknown>, name: string, max: number): boolean {
  const value = holder[name];
  if (value === undefined || isCount(value, max)) return false;
  holder[name] = 0;
  return true;
}

/** Says whether a direction can be made of the numbers of an embedding, whose length is not too large to be told. */
export const isVector = (values: readonly number[]): boolean => Number.isFinite(Math.hypot(...values));

/**
 * Reads how long a provider asks to wait: `retry-after-ms`, or `retry-after` as seconds or an HTTP date.
 * @returns milliseconds from now, at most `MAX_RETRY_AFTER_MS`; undefined where it says nothing that can be read
 */
export function retryAfterMsIn(headers: Record<string, string> = {}, now = Date.now()): number | undefined {
  const asked = [read(headers['retry-after-ms'], 1, now), read(headers['retry-after'], 1_000, now)];
  const ms = asked.find((each) => each !== undefined);
  return ms === undefined ? undefined : Math.min(Math.max(0, Math.round(ms)), MAX_RETRY_AFTER_MS);
}

/** @param unitMs how long one of the number lasts */
function read(value: string | undefined, unitMs: number, now: number): number | undefined {
  const said = value?.trim() ?? '';
  const ms = /^\d+(\.\d+)?$/.test(said) ? Number(said) * unitMs : /[a-z]/i.test(said) ? Date.parse(said) - now : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
