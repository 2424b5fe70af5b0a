/** Keeps what a model thought, and what its provider wants back with it, as they come in the stream of a reply. */
import type { TextStreamPart, ToolSet } from 'ai';
import { storableText } from '../core/storable.ts';
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
  const thoughts = new Map<string, Reasoning>();
  return {
    hear(part: TextStreamPart<ToolSet>): void {
      if (part.type !== 'reasoning-start' && part.type !== 'reasoning-delta' && part.type !== 'reasoning-end') return;
      const before = thoughts.get(part.id) ?? { text: '' };
      const text = before.text + (part.type === 'reasoning-delta' ? part.text : '');
      const { opaque = before.opaque } = opaqueIn(part);
      thoughts.set(part.id, { text, ...(opaque && { opaque }) });
    },

    told(): Pick<ModelReply, 'reasoning'> {
      const told = [...thoughts.values()].filter(({ text, opaque }) => text !== '' || opaque);
      return told.length > 0 ? { reasoning: told.map((each) => ({ ...each, text: storableText(each.text) })) } : {};
    },
  };
}
