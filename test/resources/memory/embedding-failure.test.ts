/** What a caller of the memory sees when the provider of embeddings fails. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Problem } from '../../../src/platform/core/problem.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { requireVectorsOf } from '../../../src/resources/memory/re-embed.ts';
import { createMemoryService, type MemoryService } from '../../../src/resources/memory/service.ts';
import { createMemoryStore } from '../../../src/resources/memory/store/index.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { refuse, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { TEST_SECRETS } from '../../support/service/service.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let provider: OpenAiServer;
let memory: MemoryService;

let caller: Caller;
beforeAll(async () => {
  provider = await startOpenAiServer();
  provider.otherwise(refuse(401, { message: 'no such key: sk-canary' }));
  database = await openTestDatabase();
  caller = await makeWorkspace(database.db, 'acc_no_vectors');
  const config = loadConfig({
    ...TEST_SECRETS,
    DATABASE_URL: database.url,
    EMBEDDING_PROVIDER: 'openai-compatible',
    EMBEDDING_MODEL: 'some-model',
    EMBEDDING_DIMENSIONS: '512',
    OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'sk-canary',
    OPENAI_COMPATIBLE_MODEL: 'chat',
  });
  const models = createModels(config, { log: createLog({ level: 'silent', pretty: false }) });
  await requireVectorsOf(database.db, models.embedding);
  memory = createMemoryService({
    store: createMemoryStore(database.db),
    workspaces: createWorkspaceStore(database.db, TENANT_DATA),
    otp: { gate: () => Promise.reject(new Error('no test here confirms anything')) },
    models,
    isBuiltinSkill: () => false,
    publicVisibility: false,
  });
});
afterAll(async () => {
  await database.close();
  await provider.close();
});

// Guards: a failure of the embedding provider is a 502 with its reason and without the key, and no entry is stored
// without a vector.
test('is a 502, and nothing is kept', async () => {
  const failure = expect.objectContaining({ code: 'embedding_failed', status: 502 });
  const error = await memory.create('no-vectors', { type: 'note', content: 'x' }).catch((thrown: unknown) => thrown);
  expect(error).toEqual(failure);
  expect((error as Problem).detail).toMatch(/^embedding_failed: /);
  expect((error as Problem).detail).not.toContain('canary');
  await expect(
    memory.list(caller, { q: 'x', limit: 5, agent: undefined, type: undefined, scope: undefined }),
  ).rejects.toEqual(failure);
  expect(await memory.stats('no-vectors')).toMatchObject({ total: 0 });
});
