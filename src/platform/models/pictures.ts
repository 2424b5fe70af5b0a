/** Shows pictures to models that see: with the result of the tool that read them. */
import type { ModelMessage } from 'ai';
import { described } from './catalogue.ts';
import {
  isWithoutProvider,
  type Catalogue,
  type ModelCall,
  type ModelCredentials,
  type ResolvedModel,
  type ShownPicture,
} from './types.ts';

/**
 * What the catalogue says; of a server of one's own whoever names it says so. Of any other it is not known, and a picture
 * that it takes for text would cost a book's worth of tokens.
 */
export const seesPictures = (
  { provider, model }: Pick<ResolvedModel, 'provider' | 'model'>,
  credentials: ModelCredentials,
  catalogue: Catalogue,
): boolean =>
  !isWithoutProvider(provider) &&
  ((provider === 'openai-compatible' && credentials[provider]?.sees === true) ||
    described(model, provider, catalogue).sees);

/** Providers count a picture by its pixels. */
const PIXELS_OF_A_TOKEN = 750;

/** @returns what pictures count for, which no tokenizer tells */
export const pictureTokens = (pictures: ModelCall['pictures']): number =>
  [...(pictures?.values() ?? [])]
    .flat()
    .reduce((sum, { width, height }) => sum + Math.ceil((width * height) / PIXELS_OF_A_TOKEN), 0);

/** @returns the messages, in which results of tools have their pictures beside them */
export function withPictures(
  messages: readonly ModelMessage[],
  { resolved, credentials, pictures = new Map() }: Pick<ModelCall, 'resolved' | 'credentials' | 'pictures'>,
): ModelMessage[] {
  if (pictures.size === 0) return [...messages];
  const { provider, model } = resolved;
  const isDated = provider === 'azure-openai' && credentials[provider]?.apiVersion !== undefined;
  if (provider === 'openai-compatible' || provider === 'mistral' || isDated) {
    const between = MISTRALS.test(model) ? [READ] : [];
    return messages.flatMap((message) => followed(message, pictures, between));
  }
  return messages.map((message): ModelMessage => {
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      const read = part.type === 'tool-result' ? pictures.get(part.toolCallId) : undefined;
      return read && part.type === 'tool-result' ? { ...part, output: besides(part.output, read) } : part;
    });
    return { ...message, content };
  });
}

/** These refuse "role 'user' after role 'tool'", wherever they are served. https://github.com/zed-industries/zed/pull/31736 */
const MISTRALS = /(?:mis|magis|devs|minis|codes)tral|pixtral/i;
const READ: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: 'I look at the pictures.' }] };

/**
 * In the chat protocol a result of a tool is text: its pictures follow, as if a person had sent them.
 * @param between stand before them
 */
function followed(
  message: ModelMessage,
  pictures: ReadonlyMap<string, readonly ShownPicture[]>,
  between: readonly ModelMessage[],
): ModelMessage[] {
  if (message.role !== 'tool') return [message];
  const shown = message.content.flatMap((part) => {
    const read = part.type === 'tool-result' ? pictures.get(part.toolCallId) : undefined;
    return (read ?? []).map(asFile);
  });
  if (shown.length === 0) return [message];
  const text = `The pictures that were read, in their order:`;
  return [message, ...between, { role: 'user', content: [{ type: 'text', text }, ...shown] }];
}

const asFile = ({ mediaType, bytes }: ShownPicture) => ({
  type: 'file' as const,
  data: { type: 'data' as const, data: bytes.toString('base64') },
  mediaType,
});

const besides = (output: unknown, pictures: readonly ShownPicture[]) => ({
  type: 'content' as const,
  value: [{ type: 'text' as const, text: JSON.stringify(valueOf(output)) }, ...pictures.map(asFile)],
});

const valueOf = (output: unknown): unknown =>
  typeof output === 'object' && output !== null && 'value' in output ? output.value : output;
