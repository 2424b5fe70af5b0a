/**
 * Mistral takes ids of tool calls of nine letters and digits only, and refuses the whole request for another. Ours say turn
 * and place, so they are told to it in such a form, which is the same in every turn.
 */
import { createHash } from 'node:crypto';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { withOptions } from './changed-options.ts';

const LENGTH = 9;

const shortId = (id: string): string =>
  createHash('sha256').update(id).digest('base64url').replace(/[-_]/g, '').slice(0, LENGTH);

const inParts = <Part extends object>(parts: readonly Part[]): Part[] =>
  parts.map((part) =>
    'toolCallId' in part && typeof part.toolCallId === 'string'
      ? { ...part, toolCallId: shortId(part.toolCallId) }
      : part,
  );

const shortened = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role === 'assistant') return { ...message, content: inParts(message.content) };
    return message.role === 'tool' ? { ...message, content: inParts(message.content) } : message;
  });

export const withShortCallIds = (model: LanguageModelV4): LanguageModelV4 =>
  withOptions(model, (options) => ({ ...options, prompt: shortened(options.prompt) }));
