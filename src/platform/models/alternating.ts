/**
 * Chat templates of many models (Gemma, Mistral, Llama 2) refuse two messages of the user in a row, which a conversation has
 * if a turn failed or was cancelled: "Conversation roles must alternate user/assistant/user/assistant/...".
 */
import type { ModelMessage } from 'ai';

/** Joins texts that the user sent without an answer between them. A text stays a text, since not every server takes parts. */
export const alternating = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.reduce<ModelMessage[]>((joined, message) => {
    const before = joined.at(-1);
    const isJoined = before?.role === 'user' && message.role === 'user';
    if (!isJoined || typeof before.content !== 'string' || typeof message.content !== 'string')
      return [...joined, message];
    return [...joined.slice(0, -1), { ...message, content: `${before.content}\n\n${message.content}` }];
  }, []);
