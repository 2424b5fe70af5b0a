/** Shows pictures to models that see: with the result of the tool that read them. */
import type { ModelMessage } from 'ai';
import { MODELS } from './catalogue.ts';
import type { ModelCall, ModelCredentials, ResolvedModel, ShownPicture } from './types.ts';

/**
 * Models of Anthropic see, and so does every one of OpenAI that the catalogue has. Of a server of one's own whoever names
 * it says so. Of any other it is not known, and a picture that it takes for text would cost a book's worth of tokens.
 */
export const seesPictures = (
  { provider, model }: Pick<ResolvedModel, 'provider' | 'model'>,
  credentials: ModelCredentials,
): boolean =>
  provider === 'anthropic' ||
  (provider === 'openai-compatible' && credentials[provider]?.sees === true) ||
  (provider === 'openai' &&
    MODELS.some(({ id, ...known }) => known.provider === provider && (model === id || model.startsWith(`${id}-20`))));

/** Providers count a picture by its pixels. */
const PIXELS_OF_A_TOKEN = 750;

/** @returns what pictures count for, which no tokenizer tells */
export const pictureTokens = (pictures: ModelCall['pictures']): number =>
  [...(pictures?.values() ?? [])].reduce(
    (sum, { width, height }) => sum + Math.ceil((width * height) / PIXELS_OF_A_TOKEN),
    0,
  );

/** @returns the messages, in which results of tools have their picture beside them */
export function withPictures(
  messages: readonly ModelMessage[],
  { resolved, pictures = new Map() }: Pick<ModelCall, 'resolved' | 'pictures'>,
): ModelMessage[] {
  if (pictures.size === 0) return [...messages];
  if (resolved.provider === 'openai-compatible') return messages.flatMap((message) => followed(message, pictures));
  return messages.map((message): ModelMessage => {
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      const picture = part.type === 'tool-result' ? pictures.get(part.toolCallId) : undefined;
      return picture && part.type === 'tool-result' ? { ...part, output: besides(part.output, picture) } : part;
    });
    return { ...message, content };
  });
}

/** In the chat protocol a result of a tool is text: its pictures follow, as if a person had sent them. */
function followed(message: ModelMessage, pictures: ReadonlyMap<string, ShownPicture>): ModelMessage[] {
  if (message.role !== 'tool') return [message];
  const shown = message.content.flatMap((part) => {
    const picture = part.type === 'tool-result' ? pictures.get(part.toolCallId) : undefined;
    return picture ? [{ type: 'image' as const, image: picture.bytes, mediaType: picture.mediaType }] : [];
  });
  if (shown.length === 0) return [message];
  const text = `The pictures that were read, in their order:`;
  return [message, { role: 'user', content: [{ type: 'text', text }, ...shown] }];
}

const besides = (output: unknown, { mediaType, bytes }: ShownPicture) => ({
  type: 'content' as const,
  value: [
    { type: 'text' as const, text: JSON.stringify(valueOf(output)) },
    { type: 'image-data' as const, data: bytes.toString('base64'), mediaType },
  ],
});

const valueOf = (output: unknown): unknown =>
  typeof output === 'object' && output !== null && 'value' in output ? output.value : output;
