/**
 * A model provider over the wire whose mind is the offline model: the same prompts with the same directives, asked for
 * through the OpenAI protocol, so that the link between worker and model can be broken like every other.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOfflineModel } from '../../../src/platform/models/offline.ts';
import type { CallOptions, Prompt } from '../../../src/platform/models/sdk.ts';
import { countTokens } from '../../../src/platform/models/tokens.ts';
import { answer, callTools, refuse, startOpenAiServer, type ChatRequest, type OpenAiServer } from './openai-server.ts';

const MODEL = 'proof-model';
/** As `MODEL_PRICES` reads it: what is not priced cannot be charged to a wallet. */
const PRICES = { [MODEL]: { input_usd_per_mtok: 1, output_usd_per_mtok: 5 } };

/**
 * By which a service asks it.
 * @param folder where the prices are kept
 */
export async function modelSettings(baseUrl: string, folder: string): Promise<Record<string, string>> {
  const prices = join(folder, 'prices.json');
  await writeFile(prices, JSON.stringify(PRICES));
  return { OPENAI_COMPATIBLE_BASE_URL: baseUrl, OPENAI_COMPATIBLE_MODEL: MODEL, MODEL_PRICES: prices };
}

interface WireMessage {
  role: string;
  content?: string | { text?: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** @param isRefusing asked with each call: whether it is to be refused, so that nothing tries it again */
export async function startModelProvider(isRefusing = () => false): Promise<OpenAiServer> {
  const server = await startOpenAiServer();
  const mind = createOfflineModel(countTokens);
  server.otherwise((response, request) => {
    if (isRefusing()) return refuse(400, { message: 'not today' })(response, request);
    void mind.doGenerate(asked(request)).then(
      ({ content }) => {
        const calls = content.flatMap((part) =>
          part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, arguments: part.input }] : [],
        );
        const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        (calls.length > 0 ? callTools(...calls) : answer(text))(response, request);
      },
      (error: Error & { statusCode?: number }) =>
        refuse(error.statusCode ?? 500, { message: error.message })(response, request),
    );
    // Nobody looks at them again, and a proof makes thousands.
    server.requests.length = 0;
  });
  return server;
}

/** The service says a schema in words too, as not every server takes one on the wire; this one reads it there. */
const SCHEMA = /\n\nAnswer with one JSON value[^\n]*JSON Schema:\n(\{.*\})$/s;

function asked({ body }: ChatRequest): CallOptions {
  const messages = body.messages as WireMessage[];
  const system = messages.find(({ role }) => role === 'system');
  const schema = SCHEMA.exec(textOf(system?.content))?.[1];
  const tools = body.tools?.map(({ function: { name } }) => ({ type: 'function' as const, name, inputSchema: {} }));
  return {
    prompt: messages.map(read),
    ...(tools && { tools }),
    ...(schema && { responseFormat: { type: 'json', schema: JSON.parse(schema) as object } }),
  };
}

const textOf = (content: WireMessage['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');

function read({ role, content, tool_calls = [], tool_call_id = '' }: WireMessage): Prompt[number] {
  const text = textOf(content);
  switch (role) {
    case 'system':
      return { role, content: text.replace(SCHEMA, '') };
    case 'assistant':
      return {
        role,
        content: [
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
          ...tool_calls.map(({ id, function: { name, arguments: args } }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input: JSON.parse(args) as unknown,
          })),
        ],
      };
    case 'tool': {
      const output = { type: 'text' as const, value: text };
      return { role, content: [{ type: 'tool-result', toolCallId: tool_call_id, toolName: '', output }] };
    }
    default:
      return { role: 'user', content: [{ type: 'text', text }] };
  }
}
