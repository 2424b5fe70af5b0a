/** Calls of models that a provider on loopback answers. */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { ModelFailure, type ModelCall, type Models } from '../../../src/platform/models/types.ts';
import * as provider from '../../support/fakes/openai-server.ts';

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

export function call(given: Partial<ModelCall> = {}) {
  const credentials = given.credentials ?? models.credentials();
  return models.call({
    resolved: models.resolve({ model: 'auto', prompt: 'hello' }, credentials),
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
export async function failureOf(given: Partial<ModelCall> = {}): Promise<ModelFailure> {
  const outcome = await call(given).then(
    (reply) => ({ reply }),
    (error: unknown) => ({ error }),
  );
  expect(outcome).toEqual({ error: expect.any(ModelFailure) });
  return (outcome as { error: ModelFailure }).error;
}

export const searchTool = {
  name: 'mcp.files.search',
  description: 'finds files',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

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
