/**
 * Models of servers that speak OpenAI's chat protocol. With each model of theirs the SDK makes the schema of what it reads
 * anew, which takes longer than all else of a call, and more memory. So one serves all calls of a model of this name: it knows no
 * server and no key, which are those of the call that it is used in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { withCalls } from './changed-options.ts';
import type { JsonMode } from './json-modes.ts';
import { messageExtras } from './message-extras.ts';

export interface Server {
  baseUrl: URL;
  headers: Record<string, string>;
  fetch: typeof globalThis.fetch;
  /** Makes of the body of a request what this server takes. */
  transformRequestBody?: (body: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

const current = new AsyncLocalStorage<Server>();
function server(): Server {
  const found = current.getStore();
  if (!found) throw new Error('a model of a compatible server is used outside a call');
  return found;
}

/** Workspaces name models as they like. */
const MOST = 200;
const models = new Map<string, LanguageModelV4>();

async function modelFor(name: string, mode: JsonMode): Promise<LanguageModelV4> {
  const { OpenAICompatibleChatLanguageModel } = await import('@ai-sdk/openai-compatible');
  const key = `${mode} ${name}`;
  const model =
    models.get(key) ??
    new OpenAICompatibleChatLanguageModel(name, {
      provider: 'openai-compatible.chat',
      url({ path }) {
        const url = new URL(server().baseUrl);
        url.pathname = url.pathname.replace(/\/?$/, path);
        return url.href;
      },
      headers: () => server().headers,
      fetch: (url, init) => server().fetch(url, init),
      includeUsage: true,
      supportsStructuredOutputs: mode === 'json_schema',
      metadataExtractor: messageExtras,
      transformRequestBody: (body) => server().transformRequestBody?.(body) ?? body,
    });
  // What was used last is the last to go.
  models.delete(key);
  models.set(key, model);
  for (const oldest of models.keys()) {
    if (models.size <= MOST) break;
    models.delete(oldest);
  }
  return model;
}

/** @param at where the model is called, with the key of this call */
export async function compatibleModel(name: string, mode: JsonMode, at: Server): Promise<LanguageModelV4> {
  return withCalls(await modelFor(name, mode), (ask, options) => current.run(at, ask, options));
}

/** An address may have a user with a password, and a query (`?api-version=`), neither of which can stand before a path. */
export function addressed(address: string, apiKey: string | undefined): Pick<Server, 'baseUrl' | 'headers'> {
  const baseUrl = new URL(address);
  const { username, password } = baseUrl;
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  Object.assign(baseUrl, { username: '', password: '' });
  if (apiKey !== undefined) return { baseUrl, headers: { authorization: `Bearer ${apiKey}` } };
  return { baseUrl, headers: username ? { authorization: `Basic ${basic}` } : {} };
}
