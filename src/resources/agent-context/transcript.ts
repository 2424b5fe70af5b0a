/** Makes what a model is shown: this is the one place where a run's record becomes a prompt. */
import type { ModelMessage } from 'ai';
import { fieldsOf } from '../../platform/core/record.ts';
import { askedForMore, modelName, toldTo, type RecordedPart } from '../../platform/models/recorded-parts.ts';
import type { ResolvedModel } from '../../platform/models/types.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';
import { PICTURE_NOTES, type PicturesOfRun } from './pictures.ts';

export const systemPrompt = (
  { prompt, sessionPrompt }: { prompt: string; sessionPrompt: string },
  isConversation: boolean,
): string => [prompt, ...(isConversation && sessionPrompt ? [sessionPrompt] : [])].join('\n\n');

interface Utterance {
  role: 'user' | 'assistant';
  content: unknown;
  /** The results of the tools that an assistant called. */
  results: RunInTurn['toolCalls'];
}

type Recorded = Pick<RunInTurn, 'messages' | 'toolCalls'>;
/** The output is null if the run ended without one. */
type Exchanges = readonly { prompt: string; output: string | null }[];

/** Gives earlier exchanges of the conversation, the prompt, then each turn's reply with the results of its tools. */
export const utterances = ({ messages, toolCalls }: Recorded, earlier: Exchanges): Utterance[] => [
  ...earlier.flatMap(({ prompt, output }): Utterance[] => [
    { role: 'user', content: prompt, results: [] },
    ...(output === null ? [] : [{ role: 'assistant' as const, content: output, results: [] }]),
  ]),
  ...messages.flatMap(({ turn, role, content }): Utterance[] => {
    if (role === 'user') return [{ role, content, results: [] }];
    if (role !== 'assistant') return [];
    const said: Utterance = { role, content, results: toolCalls.filter((call) => call.turn === turn) };
    const more = askedForMore(content);
    return more === undefined ? [said] : [said, { role: 'user', content: more, results: [] }];
  }),
];

/** Whether a model is shown a picture is known only when it is asked. */
const noted = (result: unknown, note: keyof typeof PICTURE_NOTES | undefined): unknown =>
  note === undefined ? result : { ...fieldsOf(result), picture: PICTURE_NOTES[note] };

/** @returns the messages of the next call */
export const modelMessages = (
  run: Recorded,
  earlier: Exchanges,
  model: Pick<ResolvedModel, 'provider' | 'model'>,
  pictures: PicturesOfRun['notes'] = new Map(),
): ModelMessage[] =>
  utterances(run, earlier).flatMap(({ role, content, results }): ModelMessage[] => [
    {
      role,
      ...(Array.isArray(content) ? toldTo(content as RecordedPart[], modelName(model)) : { content }),
    } as ModelMessage,
    ...(results.length > 0
      ? [{ role: 'tool' as const, content: results.map((call) => toolResult(call, pictures)) }]
      : []),
  ]);

const toolResult = (
  { callId, tool, status, result }: RunInTurn['toolCalls'][number],
  pictures: PicturesOfRun['notes'],
) => ({
  type: 'tool-result' as const,
  toolCallId: callId,
  toolName: tool,
  output:
    status === 'succeeded'
      ? { type: 'json' as const, value: noted(result, pictures.get(callId)) as never }
      : { type: 'error-json' as const, value: (result ?? { error: 'no result' }) as never },
});
