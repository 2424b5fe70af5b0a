/** What a model is shown: the one place where a run's record becomes a prompt. */
import type { ModelMessage } from 'ai';
import type { RecordedToolCall, RunInTurn } from '../src/resources/runs/store/turns.ts';

export const systemPrompt = (
  { prompt, sessionPrompt }: { prompt: string; sessionPrompt: string },
  isConversation: boolean,
): string => [prompt, ...(isConversation && sessionPrompt ? [sessionPrompt] : [])].join('\n\n');

/** A value a model may read: long ones are cut, and say so. */
const MAX_RESULT_LENGTH = 64_000;
export function presentable(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null';
  if (text.length <= MAX_RESULT_LENGTH) return value === undefined ? null : value;
  return { truncated: true, total_length: text.length, text: text.slice(0, MAX_RESULT_LENGTH).toWellFormed() };
}

/** The messages of the next call: earlier exchanges, the prompt, then each turn's reply followed by its tool results. */
export function transcript(
  run: Pick<RunInTurn, 'messages' | 'toolCalls'>,
  earlier: readonly { prompt: string; output: string }[],
): ModelMessage[] {
  const messages: ModelMessage[] = earlier.flatMap(({ prompt, output }): ModelMessage[] => [
    { role: 'user', content: prompt },
    { role: 'assistant', content: output },
  ]);
  for (const { turn, role, content } of run.messages) {
    if (role === 'user') messages.push({ role, content: content as string });
    if (role !== 'assistant') continue;
    messages.push({ role, content: content as Extract<ModelMessage, { role: 'assistant' }>['content'] });
    const results = run.toolCalls.filter((call) => call.turn === turn);
    if (results.length > 0) messages.push({ role: 'tool', content: results.map(toolResult) });
  }
  return messages;
}

const toolResult = ({
  callId,
  tool,
  status,
  result,
}: Pick<RecordedToolCall, 'callId' | 'tool' | 'status' | 'result'>) => ({
  type: 'tool-result' as const,
  toolCallId: callId,
  toolName: tool,
  output:
    status === 'succeeded'
      ? { type: 'json' as const, value: result as never }
      : { type: 'error-json' as const, value: (result ?? { error: 'no result' }) as never },
});
