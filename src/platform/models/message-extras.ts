/**
 * What servers of the chat protocol send with a message beside its text and its calls, and want back with it: OpenRouter's
 * `reasoning_details`, and the `extra_content` of Google's addresses. The SDK carries one field of it alone
 * (`extra_content.google.thought_signature` of a call).
 */
import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { JSONObject } from '@ai-sdk/provider';
import { fieldsOf, isRecord } from '../core/record.ts';
import type { Opaque } from './types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Under this name the SDK puts fields of its own accord into the message, or into the call, that it sends. */
const SENT_AS = 'openaiCompatible';
/** Under this name a reply tells of them. */
const TOLD_AS = 'messageExtras';

interface Extras {
  message: Fields;
  /** By the id that the server gave to the call. */
  calls: Record<string, Fields>;
}

/** Collects the extras of a streamed reply. */
export const messageExtras: MetadataExtractor = {
  // Replies are asked for as streams.
  extractMetadata: () => Promise.resolve(undefined),
  createStreamExtractor() {
    const details: Fields[] = [];
    const extras: Extras = { message: {}, calls: {} };
    return {
      processChunk(chunk) {
        const [choice] = listOf(fieldsOf(chunk).choices);
        const delta = fieldsOf(fieldsOf(choice).delta);
        for (const detail of listOf(delta.reasoning_details)) if (isRecord(detail)) addDetail(details, detail);
        if (isRecord(delta.extra_content)) extras.message = { extra_content: delta.extra_content };
        for (const call of listOf(delta.tool_calls).map(fieldsOf)) {
          const content = fieldsOf(call.extra_content);
          const isOfSdk = typeof fieldsOf(content.google).thought_signature === 'string';
          if (typeof call.id === 'string' && Object.keys(content).length > 0 && !isOfSdk)
            extras.calls[call.id] = { extra_content: content };
        }
      },
      buildMetadata() {
        if (details.length > 0) extras.message = { ...extras.message, reasoning_details: details };
        const isEmpty = Object.keys({ ...extras.message, ...extras.calls }).length === 0;
        return !isEmpty && isJson(extras) ? { [TOLD_AS]: extras } : undefined;
      },
    };
  },
};

/** All that is collected was JSON when it came. */
const isJson = (value: unknown): value is JSONObject => isRecord(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Adds a fragment. A thought comes in fragments of one `type` and `index`, the last of which may have a signature and no
 * text; an encrypted one comes whole, and may have the index of the thought before it.
 */
function addDetail(details: Fields[], fragment: Fields): void {
  const at = details.findLastIndex(({ type, index }) => type === fragment.type && index === fragment.index);
  const before = details[at];
  if (!before || 'data' in fragment) {
    details.push(fragment);
    return;
  }
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(fragment)) {
    const isWritten = (name === 'text' || name === 'summary') && typeof value === 'string';
    if (isWritten) merged[name] = `${typeof before[name] === 'string' ? before[name] : ''}${value}`;
    else if (value !== null) merged[name] = value;
  }
  details[at] = merged;
}

/** @returns the extras in the metadata with which a reply ends: of the message, and of a call by its id */
export function extrasIn(metadata: unknown): { ofMessage?: Opaque; ofCall: (id: string) => Opaque | undefined } {
  const { message, calls } = fieldsOf(fieldsOf(metadata)[TOLD_AS]);
  const sent = (fields: unknown): Opaque | undefined => {
    const some = fieldsOf(fields);
    return Object.keys(some).length > 0 ? { [SENT_AS]: some } : undefined;
  };
  const ofMessage = sent(message);
  return { ...(ofMessage && { ofMessage }), ofCall: (id) => sent(fieldsOf(calls)[id]) };
}

/** @returns the extras of a message among what was given with its thoughts */
export const extrasOfMessage = (opaque: Opaque | undefined): Fields | undefined => opaque?.[SENT_AS];

/** Names calls by the ids that the product gave them, since a detail belongs to the call whose id it has. */
export function renameCalls(opaque: Opaque, ids: ReadonlyMap<string, string>): Opaque {
  const { reasoning_details: details, ...rest } = opaque[SENT_AS] ?? {};
  if (!Array.isArray(details)) return opaque;
  const renamed = details.map((detail: Fields) => {
    const id = typeof detail.id === 'string' ? ids.get(detail.id) : undefined;
    return id === undefined ? detail : { ...detail, id };
  });
  return { ...opaque, [SENT_AS]: { ...rest, reasoning_details: renamed } };
}
