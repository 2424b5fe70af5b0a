/** Tells what a provider bills for a call that comes to no reply, and counts it where the provider does not say. */
import { pictureTokens } from './pictures.ts';
import { reportedUsage } from './provider-numbers.ts';
import type { StreamPart } from './sdk.ts';
import { countTokensOf } from './token-counts.ts';
import { isWithoutProvider, type ModelCall, type TokenUsage } from './types.ts';

/** A server that reports no usage would otherwise be free. */
export const countInput = async ({
  system,
  messages,
  pictures,
  tools,
}: Pick<ModelCall, 'system' | 'messages' | 'pictures' | 'tools'>): Promise<number> =>
  (await countTokensOf(system + JSON.stringify(messages) + JSON.stringify(tools))) + pictureTokens(pictures);

/** Listens to the stream of a call. */
export interface UsageListener {
  hear(words: string): void;
  part(part: StreamPart): void;
  /**
   * @param hungUp the service ended the call, so that the provider may have been at work without a word
   * @returns undefined where nothing is billed: there was no connection, an error was the answer, or nobody bills
   */
  billed(hungUp: boolean): Promise<TokenUsage | undefined>;
}

export function listenForUsage(
  call: Pick<ModelCall, 'resolved' | 'system' | 'messages' | 'pictures' | 'tools'>,
): UsageListener {
  const pieces: string[] = [];
  let hasBegun = false;
  let reported: Partial<TokenUsage> = {};
  return {
    hear(words) {
      pieces.push(words);
      hasBegun = true;
    },
    part(part) {
      if (part.type === 'finish') reported = reportedUsage(part.usage, call.resolved);
      else if (!/^(text|reasoning|tool-input)-start$/.test(part.type)) return;
      hasBegun = true;
    },
    async billed(hungUp) {
      if (isWithoutProvider(call.resolved.provider) || (!hasBegun && !hungUp)) return undefined;
      const [inputTokens, outputTokens] = await Promise.all([countInput(call), countTokensOf(pieces.join(''))]);
      return { inputTokens, outputTokens, ...reported };
    },
  };
}
