/** Keeps what a model thought, and what its provider wants back with it, as they come in the stream of a reply. */
import { storableText } from '../core/storable.ts';
import { extrasIn } from './message-extras.ts';
import type { StreamPart } from './sdk.ts';
import type { ModelReply, Opaque, Reasoning } from './types.ts';

type Told = Opaque | undefined;

/**
 * @returns what the provider gave with a part. Gemini's compatible address sends its signature under the name of the SDK's
 * provider, and the SDK reads it under `google`.
 */
export function opaqueIn({ providerMetadata: told }: { providerMetadata?: Told | undefined }): { opaque?: Opaque } {
  if (!told) return {};
  const [signature] = Object.values(told).flatMap(({ thoughtSignature }) => thoughtSignature ?? []);
  return { opaque: signature === undefined ? told : { ...told, google: { thoughtSignature: signature } } };
}

export function createThoughts() {
  const thoughts: Reasoning[] = [];
  /** By the id that the stream has for it, which may be used again for another one later. */
  const open = new Map<string, Reasoning>();
  const begin = (id: string): Reasoning => {
    const thought: Reasoning = { text: '' };
    thoughts.push(thought);
    open.set(id, thought);
    return thought;
  };
  let extras = extrasIn(undefined);
  return {
    hear(part: StreamPart): void {
      if (part.type === 'finish') extras = extrasIn(part.providerMetadata);
      if (part.type !== 'reasoning-start' && part.type !== 'reasoning-delta' && part.type !== 'reasoning-end') return;
      const thought = (part.type !== 'reasoning-start' && open.get(part.id)) || begin(part.id);
      if (part.type === 'reasoning-delta') thought.text += part.delta;
      Object.assign(thought, opaqueIn(part));
    },

    /** @returns the reply with what was thought before it, and what its provider wants back */
    within(reply: ModelReply): ModelReply {
      const told = thoughts.filter(({ text, opaque }) => text !== '' || opaque);
      if (extras.ofMessage) told.push({ text: told.pop()?.text ?? '', opaque: extras.ofMessage });
      const toolCalls = reply.toolCalls.map((call) => {
        const opaque = extras.ofCall(call.callId);
        return opaque ? { ...call, opaque: { ...call.opaque, ...opaque } } : call;
      });
      const reasoning = told.map((each) => ({ ...each, text: storableText(each.text) }));
      return { ...reply, toolCalls, ...(reasoning.length > 0 && { reasoning }) };
    },
  };
}
