/**
 * Limits how much of a model's reply is read. A server that honours the number of tokens asked for stays far below; one
 * that does not is cut off, because whatever it sends is held until the reply is whole.
 */
import type { Config } from '../core/config.ts';
import type { BodyLimits, LimitedFetch } from '../egress/limits.ts';
import { tooLong } from './failures.ts';
import { withinHold } from './held-output.ts';
import { joining, type Words } from './joined-events.ts';
import type { ModelCall } from './types.ts';

const MB = 1_024 * 1_024;
/** On the wire each token may be an event of its own, with the reply so far, padding and all its ids around it. */
const WIRE_BYTES = 2_048;
const LINES = 8;
/**
 * A line may need so many bytes for each token, since one event can have all of a reply, or repeat all of the request.
 */
const LINE_BYTES = 128;
const REPEATED = 4;
/** This much is allowed whatever was asked for. */
const ANYWAY = { bytes: MB, lineBytes: MB / 2, lines: 10_000, characters: 4_096 };
/**
 * A token stands for at most so many characters on average: some are long runs of spaces, but no reply is made of
 * those.
 */
const CHARACTERS = 32;

export interface ReplyLimits extends Pick<ModelCall, 'maxOutputTokens' | 'timeoutMs'> {
  maxReplyBytes: number;
  /** It is told the words of a reply as they come, where the answer is a stream of events that are text. */
  hear: (words: Words) => void;
}

export const replyLimits = (
  { maxOutputTokens, timeoutMs }: Pick<ModelCall, 'maxOutputTokens' | 'timeoutMs'>,
  { MODEL_MAX_REPLY_MB }: Pick<Config, 'MODEL_MAX_REPLY_MB'>,
): Omit<ReplyLimits, 'hear'> => ({ maxOutputTokens, timeoutMs, maxReplyBytes: MODEL_MAX_REPLY_MB * MB });

/** Makes a `fetch` for a provider of the SDK: each answer, a refusal too, is limited by what was asked for. */
export const replyFetch = (fetch: LimitedFetch, limits: ReplyLimits): typeof globalThis.fetch =>
  ((url: string | URL, init?: RequestInit) => {
    if (typeof init?.body !== 'string') return fetch(url, init, limitsOf(limits, 0));
    const body = withinHold(init.body, limits.maxOutputTokens);
    return fetch(url, { ...init, body }, limitsOf(limits, body.length));
  }) as typeof globalThis.fetch;

function limitsOf({ maxOutputTokens, timeoutMs, maxReplyBytes, hear }: ReplyLimits, requestBytes: number): BodyLimits {
  const wanted = ANYWAY.bytes + maxOutputTokens * WIRE_BYTES + requestBytes * REPEATED;
  const maxBytes = Math.min(wanted, maxReplyBytes);
  return {
    maxBytes,
    totalMs: timeoutMs,
    gather: joining(hear),
    lines: {
      maxBytes: Math.min(maxBytes, ANYWAY.lineBytes + maxOutputTokens * LINE_BYTES + requestBytes * REPEATED),
      maxCount: ANYWAY.lines + maxOutputTokens * LINES,
    },
    raisedBy: {
      size: wanted > maxReplyBytes ? 'MODEL_MAX_REPLY_MB' : 'MODEL_MAX_OUTPUT_TOKENS',
      time: 'MODEL_TIMEOUT',
    },
  };
}

/** @returns a function that counts what is written of a reply as it comes, and throws ModelFailure model_reply_too_long */
export function createReplyCounter({ maxOutputTokens, resolved }: Pick<ModelCall, 'maxOutputTokens' | 'resolved'>) {
  const most = ANYWAY.characters + maxOutputTokens * CHARACTERS;
  let characters = 0;
  return ({ of, text }: Words): void => {
    if (of === 'reasoning') return;
    characters += text.length;
    if (characters > most)
      throw tooLong(resolved, `it has more than ${most} characters; MODEL_MAX_OUTPUT_TOKENS sets how much is taken`);
  };
}
