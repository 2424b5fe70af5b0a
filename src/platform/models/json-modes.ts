/**
 * How a server of the OpenAI protocol is asked for JSON. Not every one takes each way: LM Studio refuses `json_object`,
 * DeepSeek `json_schema`, some models either. The first that is taken is remembered; the schema is said in words as well.
 */
import { ModelFailure, type ModelCall, type ModelReply, type ResolvedModel } from './types.ts';

const MODES = ['json_schema', 'json_object', 'text'] as const;
export type JsonMode = (typeof MODES)[number];

/** By server and model, for as long as the process lives. */
const taken = new Map<string, number>();

/** @param ask is called again where the server refused the way, which costs nothing */
export async function inJsonMode(
  {
    outputSchema,
    resolved,
    credentials,
    tools,
  }: Pick<ModelCall, 'outputSchema' | 'resolved' | 'credentials' | 'tools'>,
  ask: (mode: JsonMode) => Promise<ModelReply>,
): Promise<ModelReply> {
  if (outputSchema && isSaidInWords(resolved.provider, tools.length > 0)) return ask('text');
  if (!outputSchema || resolved.provider !== 'openai-compatible') return ask('json_schema');
  const server = `${credentials['openai-compatible']?.baseUrl} ${resolved.model}`;
  for (let at = taken.get(server) ?? 0; ; at += 1) {
    const [mode = 'text'] = MODES.slice(at);
    try {
      const reply = await ask(mode);
      taken.set(server, at);
      return reply;
    } catch (error) {
      if (mode === 'text' || !isAboutMode(error)) throw error;
    }
  }
}

/** Gemini and Mistral take tools or a shape; for Bedrock the SDK would make a tool of the shape. */
const isSaidInWords = (provider: ResolvedModel['provider'], hasTools: boolean): boolean =>
  provider === 'amazon-bedrock' ||
  (hasTools && (provider === 'google' || provider === 'google-vertex' || provider === 'mistral'));

const ABOUT_MODE =
  /response[ _]?format|json[ _](schema|object|mode)|structured[ _]output|grammar|requested parameters/i;
const isAboutMode = (error: unknown): boolean =>
  error instanceof ModelFailure && error.code === 'model_refused_request' && ABOUT_MODE.test(error.message);
