/** What is sent to a provider for a call. */
import type { JSONSchema7 } from 'ai';
import type { JsonMode } from './json-modes.ts';
import { withPictures } from './pictures.ts';
import { cached } from './prompt-cache.ts';
import type { CallOptions, SdkModel } from './sdk.ts';
import { toWire, type WireTools } from './tool-names.ts';
import type { ModelCall } from './types.ts';

interface Telling {
  tools: WireTools;
  mode: JsonMode;
  /** The model fetches these by itself. */
  supportedUrls: Awaited<SdkModel['supportedUrls']>;
}

export async function requestOf(
  call: ModelCall,
  { tools: declared, mode, supportedUrls }: Telling,
): Promise<CallOptions> {
  const { convertToLanguageModelPrompt, standardizePrompt } = await import('ai/internal');
  const system = systemOf(call) || undefined;
  const messages = withPictures(toWire(call.messages, declared), call);
  const prompt = await standardizePrompt({ ...(system && { system }), messages });
  const tools = toolsOf(declared);
  const request: CallOptions = {
    prompt: await convertToLanguageModelPrompt({ prompt, supportedUrls, download: undefined }),
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }),
    maxOutputTokens: call.maxOutputTokens,
    responseFormat: mode === 'text' ? undefined : responseFormat(call),
    ...(call.effort && { reasoning: REASONING[call.effort] }),
    providerOptions: providerOptions(call),
  };
  return cached(request, call);
}

/** The SDK's words, of which each provider's package makes its own: a budget of tokens, a level, or nothing. */
const REASONING = { none: 'none', low: 'low', medium: 'medium', high: 'high', max: 'xhigh' } as const;

export const responseFormat = ({ outputSchema }: Pick<ModelCall, 'outputSchema'>): CallOptions['responseFormat'] =>
  outputSchema ? { type: 'json', schema: outputSchema as JSONSchema7 } : undefined;

/** Not every server takes a schema on the wire, so that it is also said in words. */
const systemOf = ({ system, outputSchema }: ModelCall): string =>
  outputSchema
    ? `${system}\n\nAnswer with one JSON value and nothing else. It must validate against this JSON Schema:\n${JSON.stringify(outputSchema)}`
    : system;

const toolsOf = (declared: WireTools): NonNullable<CallOptions['tools']> =>
  [...declared].map(([name, { description, schema }]) => ({
    type: 'function',
    name,
    description,
    inputSchema: schema as JSONSchema7,
  }));

/**
 * What each provider is told besides. Strict mode stays off because a tenant's schema seldom meets its rules; the caller
 * validates what comes. Nothing is left at the provider, which gives its reasoning to take along instead.
 */
const providerOptions = ({ cacheKey }: ModelCall): CallOptions['providerOptions'] => ({
  openai: { strictJsonSchema: false, store: false, ...(cacheKey && { promptCacheKey: cacheKey }) },
  openaiCompatible: { strictJsonSchema: false },
});
