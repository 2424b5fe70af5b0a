/** A reply as it is kept: what one model alone is told again, and what people are shown. */
import { isRecord } from '../core/record.ts';
import type { Opaque, ResolvedModel } from './types.ts';

/** Of a recorded reply. */
export type RecordedPart =
  | { type: 'text'; text: string }
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

/** @returns the parts as the model is told them: thoughts only to the one that had them */
export const toldTo = (parts: readonly RecordedPart[], name: string) =>
  parts.flatMap((part): object[] => {
    if (part.type === 'text') return [part];
    const { opaque, by, ...told } = part;
    if (by !== name) return part.type === 'reasoning' ? [] : [told];
    return [{ ...told, ...(opaque && { providerOptions: opaque }) }];
  });

/** @returns the parts as people are shown them */
export const withoutOpaque = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part: unknown) => (isRecord(part) ? omit(part) : part)) : content;
const omit = ({ opaque: _, by: __, ...shown }: Record<string, unknown>) => shown;
