/** A reply as it is kept: what one model alone is told again, and what people are shown. */
import { fieldsOf, isRecord } from '../core/record.ts';
import { extrasOfMessage } from './message-extras.ts';
import type { Opaque, ResolvedModel } from './types.ts';

/** Of a recorded reply. */
export type RecordedPart =
  | { type: 'text'; text: string; isCutOff?: true; fault?: string }
  | ({ type: 'reasoning'; text: string } & OfModel)
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input: unknown } & OfModel);

/** What one model said, and it alone is told again. */
interface OfModel {
  opaque?: Opaque;
  /** `modelName` of it. */
  by?: string;
}

export const modelName = ({ provider, model }: Pick<ResolvedModel, 'provider' | 'model'>): string =>
  `${provider}/${model}`;

/** @returns the message as the model is told it: thoughts only to the one that had them */
export function toldTo(parts: readonly RecordedPart[], name: string) {
  const ofMessage = parts
    .map((part) => (part.type === 'reasoning' && part.by === name ? part.opaque : undefined))
    .filter((opaque) => extrasOfMessage(opaque))
    .at(-1);
  // The details of a thought have its text as well.
  const isTwice = extrasOfMessage(ofMessage)?.reasoning_details !== undefined;
  const content = parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: part.type, text: part.text }];
    const { opaque, by, ...told } = part;
    if (by !== name) return part.type === 'reasoning' ? [] : [told];
    if (part.type === 'reasoning' && (opaque === ofMessage || isTwice))
      return isTwice || part.text === '' ? [] : [told];
    return [{ ...told, ...(opaque && { providerOptions: opaque }) }];
  });
  return { content, ...(ofMessage && { providerOptions: ofMessage }) };
}

/** A text that was cut off by the limit of output tokens goes on in the next turn, which is asked for in these words. */
export const GO_ON =
  'Your answer was cut off by the limit of output tokens. Go on exactly where it ends: repeat nothing, and say nothing about it.';

const partsOf = (content: unknown) => (Array.isArray(content) ? content.map(fieldsOf) : []);

/** @returns the text of a reply that was cut off; undefined of any other */
export const cutOffText = (content: unknown): string | undefined => {
  const text = partsOf(content).find(({ isCutOff }) => isCutOff === true)?.text;
  return typeof text === 'string' ? text : undefined;
};

/** @returns why a reply is not of the schema that its run asks for; undefined of any other */
export const faultOf = (content: unknown): string | undefined => {
  const fault = partsOf(content).find((part) => part.fault !== undefined)?.fault;
  return typeof fault === 'string' ? fault : undefined;
};

/** @returns what is said to a reply that is not yet the answer, to have the rest or a better one */
export function askedForMore(content: unknown): string | undefined {
  if (cutOffText(content) !== undefined) return GO_ON;
  const fault = faultOf(content);
  return fault && `That is not an answer of the schema that was asked for: ${fault}\nAnswer again, with all of it.`;
}

/** @returns the parts as people are shown them */
export const withoutOpaque = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part: unknown) => (isRecord(part) ? omit(part) : part)) : content;
const omit = ({ opaque: _, by: __, ...shown }: Record<string, unknown>) => shown;
