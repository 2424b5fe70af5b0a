/**
 * Providers take letters, digits, `_` and `-` in a tool's name, 64 at most; the product's names have dots
 * (`mcp.github.search`). A name goes out in a form that providers take and comes back as it was.
 */
import type { ModelMessage } from 'ai';
import { sha256 } from '../core/crypto.ts';

const MAX_LENGTH = 64;

/**
 * The result is the same for every call, so that a transcript's earlier calls match the declared tools. Names that fit
 * stay as they are.
 */
export function wireName(tool: string): string {
  const safe = tool.replace(/[^\w-]/g, '_');
  if (safe === tool && tool.length <= MAX_LENGTH) return tool;
  // The digest keeps `a.b` and `a_b` apart.
  return `${safe.slice(0, MAX_LENGTH - 9)}_${sha256(tool).slice(0, 8)}`;
}

/** @returns the messages with tool names that providers take */
export const toWire = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map((message) => {
    if ((message.role !== 'assistant' && message.role !== 'tool') || typeof message.content === 'string')
      return message;
    const content = message.content.map((part) =>
      'toolName' in part ? { ...part, toolName: wireName(part.toolName) } : part,
    );
    return { ...message, content } as ModelMessage;
  });
