/** Reads a prompt for the offline model: what is asked, what happened since, and what came before. */
import type { Prompt } from '../sdk.ts';

interface ToolOutcome {
  callId: string;
  tool: string;
  input: unknown;
  /** The text, or JSON where the tool gave a value. */
  result: string;
}

export interface Transcript {
  system: string;
  /** The last user message. */
  request: string;
  /** Earlier user messages of the conversation, the oldest first. */
  earlier: string[];
  /** Calls since the request that have a result, in the order of the results. */
  outcomes: ToolOutcome[];
  /** Counts the tool calls in the whole prompt; the ids of the next calls continue from here. */
  callCount: number;
  /** The whole prompt as one text, whose tokens are counted as input. */
  text: string;
}

type ToolResult = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

function textOfResult({ output }: ToolResult): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return `denied: ${output.reason ?? 'no reason given'}`;
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n');
  }
}

export function readTranscript(prompt: Prompt): Transcript {
  const read: Transcript = { system: '', request: '', earlier: [], outcomes: [], callCount: 0, text: '' };
  const asked: string[] = [];
  let calls = new Map<string, { tool: string; input: unknown }>();
  const parts: string[] = [];

  const readResult = (part: ToolResult) => {
    const result = textOfResult(part);
    parts.push(result);
    const call = calls.get(part.toolCallId);
    if (call) read.outcomes.push({ callId: part.toolCallId, ...call, result });
  };

  for (const message of prompt) {
    if (message.role === 'system') {
      read.system += read.system ? `\n${message.content}` : message.content;
      parts.push(message.content);
    } else if (message.role === 'user') {
      const text = message.content.map((part) => (part.type === 'text' ? part.text : `(${part.mediaType})`)).join('\n');
      asked.push(text);
      parts.push(text);
      // Calls for an earlier request say nothing about this one.
      calls = new Map();
      read.outcomes = [];
    } else if (message.role === 'tool') {
      for (const part of message.content) if (part.type === 'tool-result') readResult(part);
    } else {
      for (const part of message.content) {
        if (part.type === 'tool-call') {
          read.callCount += 1;
          calls.set(part.toolCallId, { tool: part.toolName, input: part.input });
          parts.push(part.toolName, JSON.stringify(part.input));
        } else if (part.type === 'tool-result') readResult(part);
        else if (part.type === 'text' || part.type === 'reasoning') parts.push(part.text);
      }
    }
  }
  read.request = asked.pop() ?? '';
  read.earlier = asked;
  read.text = parts.join('\n');
  return read;
}
