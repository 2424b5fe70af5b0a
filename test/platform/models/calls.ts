/** Calls of models that a provider on loopback answers. */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import {
  ModelFailure,
  type ModelCall,
  type ModelReply,
  type Models,
  type ResolvedModel,
} from '../../../src/platform/models/types.ts';
import { modelMessages } from '../../../src/resources/agent-context/transcript.ts';
import { requestedCalls, spoken } from '../../../activities/turn-record.ts';
import * as provider from '../../support/fakes/openai-server.ts';
import type { Wire } from '../../support/model-wires/capabilities/wire.ts';
import { addSchema } from '../../support/model-wires/fixture.ts';

export const KEY = 'canary-key-4711-do-not-show';

const secret = 'only-for-this-test-only';

export const log = createLog({ level: 'silent', pretty: false });

export let server: provider.OpenAiServer;

export let models: Models;

export const configFor = (env: Record<string, string>) =>
  loadConfig({
    DATABASE_URL: 'postgres://localhost/x',
    SESSION_SECRET: secret,
    ADMIN_SECRET: secret,
    SECRETS_KEY: secret,
    ...env,
  });

export const user = (content: string): ModelMessage => ({ role: 'user', content });

export function call(given: Partial<ModelCall> = {}, asked = models) {
  const credentials = given.credentials ?? asked.credentials();
  return asked.call({
    resolved: asked.resolve({ model: 'auto', prompt: 'hello' }, credentials),
    credentials,
    messages: [user('hello')],
    system: 'You are helpful.',
    tools: [],
    maxOutputTokens: 100,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...given,
  });
}

/** The failure of a call; a call that succeeds fails the test. */
export async function failureOf(given: Partial<ModelCall> = {}, asked = models): Promise<ModelFailure> {
  const outcome = await call(given, asked).then(
    (reply) => ({ reply }),
    (error: unknown) => ({ error }),
  );
  expect(outcome).toEqual({ error: expect.any(ModelFailure) });
  return (outcome as { error: ModelFailure }).error;
}

/** The record of a run whose first turn this was, once its calls have their results: 4, 5 and so on. */
export async function recordOf(reply: ModelReply, resolved: ResolvedModel) {
  const calls = await requestedCalls(1, reply, []);
  const content = spoken(reply, calls, resolved);
  const messages = [
    { turn: 0, role: 'user' as const, content: 'What is 2 + 2?' },
    { turn: 1, role: 'assistant' as const, content: JSON.parse(JSON.stringify(content)) },
  ];
  const toolCalls = calls.map((each, at) => ({ ...each, status: 'succeeded' as const, result: 4 + at }));
  return { messages, toolCalls };
}

/** What the model is told in the turn after it. */
export const toldNext = async (reply: ModelReply, resolved: ResolvedModel): Promise<ModelMessage[]> =>
  modelMessages(await recordOf(reply, resolved), [], resolved);

export const searchTool = {
  name: 'mcp.files.search',
  description: 'finds files',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

/** Models of three providers, all of them at the address of the one; a server of one's own has `local-1`. */
export function anyProvider() {
  const any = createModels(
    configFor({
      ANTHROPIC_BASE_URL: server.baseUrl,
      OPENAI_BASE_URL: server.baseUrl,
      OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'local-1',
    }),
    { log },
  );
  return { models: any, credentials: any.credentials({ anthropic: KEY, openai: KEY }) };
}

const BASES = ['ANTHROPIC', 'OPENAI', 'GOOGLE', 'VERTEX', 'BEDROCK', 'AZURE_OPENAI', 'MISTRAL', 'OPENAI_COMPATIBLE'];

/** A deployment with the settings of a provider, all addresses of which are the provider here, and calls of its model. */
export function wired({ env, model }: Pick<Wire, 'env' | 'model'>) {
  const bases = Object.fromEntries(BASES.map((name) => [`${name}_BASE_URL`, server.baseUrl]));
  const own = createModels(configFor({ ...bases, ...env }), { log });
  const credentials = own.credentials();
  const resolved = own.resolve({ model, prompt: '', enforce: true }, credentials);
  const given = { credentials, resolved, system: 'Add.', tools: [addTool], maxOutputTokens: 2_000 };
  const ask = (more: Partial<ModelCall> = {}) => call({ ...given, messages: [user('What is 2 + 2?')], ...more }, own);
  return { models: own, given, ask };
}
const addTool = { name: 'add', description: 'adds', parameters: addSchema };

/** Before the tests of a file: the provider, and models that are asked there. */
export function useProvider(): void {
  beforeAll(async () => {
    server = await provider.startOpenAiServer();
    models = createModels(
      configFor({
        OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
        OPENAI_COMPATIBLE_API_KEY: KEY,
        OPENAI_COMPATIBLE_MODEL: 'local-1',
      }),
      { log },
    );
  });

  afterEach(() => server.reset());

  afterAll(() => server.close());
}
