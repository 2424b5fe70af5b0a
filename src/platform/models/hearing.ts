/**
 * Hears the words of a reply, each of them once: early, where they are read from the wire as they come, else from what the SDK
 * makes of them. They are counted, and told to whoever reads along.
 */
import type { Words } from './joined-events.ts';
import { createReplyCounter } from './reply-limits.ts';
import type { StreamPart } from './sdk.ts';
import { answerIn, createThinkFilter } from './think-tags.ts';
import type { ModelCall } from './types.ts';
import type { UsageListener } from './usage-without-reply.ts';

/** A provider with a parser of its own leaves no reasoning in the text. */
const leavesThinking = ({ resolved }: Pick<ModelCall, 'resolved'>): boolean =>
  resolved.provider === 'openai-compatible';

export interface Hearing {
  /** @throws ModelFailure model_reply_too_long */
  early(words: Words): void;
  /** @throws ModelFailure model_reply_too_long */
  part(part: StreamPart): void;
  /**
   * Tells what was not told yet, unless the SDK read something else.
   * @param text all of it
   * @returns the answer in it
   */
  end(text: string): string;
}

export function createHearing(call: ModelCall, listener: UsageListener): Hearing {
  const count = createReplyCounter(call);
  const take = leavesThinking(call) ? createThinkFilter() : (piece: string) => piece;
  let isEarly = false;
  let told = '';
  const tell = (text: string): void => {
    if (text === '') return;
    told += text;
    call.onText?.(text);
  };
  const hear = (words: Words): void => {
    listener.hear(words.text);
    count(words);
    if (words.of === 'text') tell(take(words.text));
  };
  return {
    early(words) {
      isEarly = true;
      hear(words);
    },
    part(part) {
      listener.part(part);
      if (isEarly || !('delta' in part)) return;
      const of = OF_PART[part.type];
      if (of) hear({ of, text: part.delta });
    },
    end(text) {
      const answer = leavesThinking(call) ? answerIn(text) : text;
      if (answer.startsWith(told)) tell(answer.slice(told.length));
      return answer;
    },
  };
}

const OF_PART: Readonly<Record<string, Words['of']>> = {
  'text-delta': 'text',
  'reasoning-delta': 'reasoning',
  'tool-input-delta': 'arguments',
};
