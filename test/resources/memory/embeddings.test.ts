/** Which model the vectors are of: providers over real HTTP, what a start makes of another one, and going over to it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { ConfigError, loadConfig } from '../../../src/platform/core/config.ts';
import { first, last } from '../../../src/platform/core/present.ts';
import { createEmbedder } from '../../../src/platform/models/embed.ts';
import { PACKAGED } from '../../../src/platform/models/embed-packaged.ts';
import { reEmbed, requireVectorsOf } from '../../../src/resources/memory/re-embed.ts';
import { createMemoryStore, type MemoryStore } from '../../../src/resources/memory/store/index.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { embeddings, refuse, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startTestService, TEST_SECRETS } from '../../support/service/service.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server?.close());
afterEach(() => server.reset());

const KEY = 'sk-a-key-of-the-tests';
const ofOpenAi = () => ({
  EMBEDDING_PROVIDER: 'openai',
  EMBEDDING_MODEL: 'text-embedding-3-small',
  EMBEDDING_DIMENSIONS: '4',
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: server.baseUrl,
});
const ofCompatible = () => ({
  EMBEDDING_PROVIDER: 'openai-compatible',
  EMBEDDING_MODEL: 'nomic',
  EMBEDDING_DIMENSIONS: '4',
  OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
});
function embedderOf(env: Record<string, string>) {
  const config = loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://none', ...env });
  return createEmbedder(config, { openai: config.OPENAI_API_KEY });
}
/** By length: what differs in it differs here. */
const vectorOf = (text: string): number[] => [text.length, 3, 0, 4];

describe('a provider', () => {
  // Guards: texts come back as unit vectors in their order, from one request with the size and the key.
  test('embeds through OpenAI', async () => {
    server.script(embeddings(vectorOf));
    const vectors = await embedderOf(ofOpenAi()).embed(['', 'abc', 'abcdefghijkl']);
    expect(vectors.map((vector) => Math.hypot(...vector))).toEqual(vectors.map(() => expect.closeTo(1, 6)));
    expect(vectors[2]).toEqual([12, 3, 0, 4].map((value) => expect.closeTo(value / 13, 6)));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: 'text-embedding-3-small', dimensions: 4, input: ['.', 'abc', 'abcdefghijkl'] },
    });
  });

  // Guards: a server with a fixed size is not asked for one, and must give the size of the setting.
  test('holds a compatible server to the size', async () => {
    server.script(
      embeddings(vectorOf),
      embeddings(() => [1, 2, 3]),
    );
    const { embed } = embedderOf(ofCompatible());
    await expect(embed(['abc'])).resolves.toHaveLength(1);
    expect(first(server.requests).body).not.toHaveProperty('dimensions');
    await expect(embed(['abc'])).rejects.toMatchObject({
      code: 'model_malformed_reply',
      message: expect.stringContaining('a vector of 3 numbers where EMBEDDING_DIMENSIONS says 4'),
    });
  });

  // Guards: a refusal of the provider has a name and contains no key.
  test('names what a provider refused', async () => {
    server.script(refuse(401, { message: `Incorrect API key: ${KEY}` }));
    const failure = await embedderOf(ofOpenAi())
      .embed(['abc'])
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'ModelFailure', code: 'model_auth_failed' });
    expect((failure as Error).message).not.toContain(KEY);
  });

  // Guards: a missing setting is named when the process starts.
  test.each(['EMBEDDING_MODEL', 'EMBEDDING_DIMENSIONS', 'OPENAI_API_KEY'])('needs %s', (name) => {
    expect(() => embedderOf({ ...ofOpenAi(), [name]: '' })).toThrow(`${name}: is not set`);
  });
});

describe('the stored vectors', () => {
  let database: TestDatabase;
  let store: MemoryStore;
  let customerId: string;
  beforeAll(async () => {
    database = await openTestDatabase();
    store = createMemoryStore(database.db);
    ({ customerId } = await makeWorkspace(database.db, 'acc_vectors'));
  });
  afterAll(() => database?.close());

  const other = { model: 'openai:other', dimensions: 4 };
  const reads = () => true;
  const embed = async (texts: readonly string[]) => texts.map((text) => vectorOf(text));
  const add = async (...contents: string[]) => {
    for (const content of contents) {
      await database.db.rows(sql`
        insert into memory_entries (customer_id, type, content, embedding)
        select ${customerId}, 'note', ${content},
          (select array_agg(1)::vector from generate_series(1, (
            select atttypmod from pg_attribute where attrelid = 'memory_entries'::regclass and attname = 'embedding')))`);
    }
  };
  const columns = async () =>
    (
      await database.db.rows<{ name: string }>(sql`
        select attname as name from pg_attribute
        where attrelid = 'memory_entries'::regclass and attname like 'embedding%' and not attisdropped`)
    ).map(({ name }) => name);
  const start = (kind: { model: string; dimensions: number }) => requireVectorsOf(database.db, kind);

  // Guards: the settings choose the model while nothing is stored; afterwards the database does.
  test('are of the model that was configured when the first was made', async () => {
    await start(PACKAGED);
    await start({ model: 'openai:first', dimensions: 8 });
    await start(PACKAGED);
    await add('one');
    await start(PACKAGED);
    await expect(start(other)).rejects.toThrow(ConfigError);
    await expect(start({ ...PACKAGED, dimensions: 4 })).rejects.toThrow('aos memory re-embed');
    await expect(start({ ...PACKAGED, model: 'another of this size' })).rejects.toThrow('aos memory re-embed');
  });

  // Guards: re-embedding that is broken off leaves the old vectors whole; the next one embeds what is left and what has
  // changed since.
  test('are changed at once, however often that was broken off', async () => {
    await add(...Array.from({ length: 150 }, (_, i) => `note ${i}`));
    const embedded: string[] = [];
    const brokenOff = reEmbed(database.db, {
      ...other,
      reads,
      async embed(texts) {
        if (embedded.length > 0) throw new Error('killed');
        embedded.push(...texts);
        return embed(texts);
      },
    });
    await expect(brokenOff).rejects.toThrow('killed');
    await start(PACKAGED);
    const vector = new Array<number>(PACKAGED.dimensions).fill(1);
    const search = { customerId, embedding: { model: PACKAGED.model, vector }, k: 3 };
    expect(await store.searchEntries(search)).toHaveLength(3);

    const [{ id } = { id: 0 }] = await database.db.rows<{ id: number }>(
      sql`update memory_entries set content = 'one, changed' where content = 'one' returning id`,
    );
    const rest: string[] = [];
    const progress: { done: number; total: number }[] = [];
    const isChanged = await reEmbed(database.db, {
      ...other,
      reads,
      async embed(texts) {
        // Somebody writes while the last ones are embedded.
        if (rest.length === 0) await add('written meanwhile');
        rest.push(...texts);
        return embed(texts);
      },
      onProgress: (step) => progress.push(step),
    });
    expect(isChanged).toBe(true);
    expect(rest).toContain('one, changed');
    expect(rest).toContain('written meanwhile');
    expect(rest.filter((text) => text !== 'one, changed' && embedded.includes(text))).toEqual([]);
    expect(last(progress).done).toBe(last(progress).total);

    await start(other);
    await expect(start(PACKAGED)).rejects.toThrow(ConfigError);
    expect(await columns()).toEqual(['embedding']);
    const found = await store.searchEntries({
      customerId,
      embedding: { model: other.model, vector: vectorOf('one, changed') },
      k: 200,
    });
    expect(found).toHaveLength(152);
    expect(found[0]).toMatchObject({ id, score: expect.closeTo(1, 6) });
    expect(await reEmbed(database.db, { ...other, reads, embed })).toBe(false);
  });

  // Guards: the new vectors have the index that searches of large workspaces use.
  test('keep their index', async () => {
    const indexes = await database.db.rows<{ definition: string }>(sql`
      select indexdef as definition from pg_indexes where tablename = 'memory_entries' and indexdef like '%hnsw%'`);
    expect(indexes).toEqual([
      { definition: expect.stringMatching(/memory_entries_by_embedding ON .*hnsw \(embedding vector_cosine_ops\)/) },
    ]);
  });

  // Guards against: going over to a model that has no tokens for some of the entries, which never came to its end; and
  // vectors of noise for those entries.
  test('leave out what the new model cannot read', async () => {
    await add('会议室必须提前两天预订。');
    const fourth = { model: 'openai:fourth', dimensions: 4 };
    const embedded: string[] = [];
    const isChanged = await reEmbed(database.db, {
      ...fourth,
      reads: (text) => !text.startsWith('会议'),
      async embed(texts) {
        embedded.push(...texts);
        return embed(texts);
      },
    });
    expect(isChanged).toBe(true);
    expect(embedded).toHaveLength(152);
    const without = await database.db.rows(sql`select content from memory_entries where embedding is null`);
    expect(without).toEqual([{ content: '会议室必须提前两天预订。' }]);
    await reEmbed(database.db, { ...other, reads, embed });
    expect(await database.db.rows(sql`select 1 from memory_entries where embedding is null`)).toEqual([]);
  });

  // Guards: re-embedding to another model than before begins anew, and vectors of two models are never mixed.
  test('of an attempt with another model are thrown away', async () => {
    const third = { model: 'openai:third', dimensions: 6 };
    await expect(
      reEmbed(database.db, { ...third, reads, embed: () => Promise.reject(new Error('killed')) }),
    ).rejects.toThrow();
    expect(await columns()).toEqual(['embedding', 'embedding_next']);
    await reEmbed(database.db, { ...PACKAGED, reads, embed: async (texts) => texts.map(() => new Array(512).fill(1)) });
    await start(PACKAGED);
  });
});

// Guards: a service on a provider's vectors works from the first start: write, search and recall.
test('a service embeds by its provider', async () => {
  server.otherwise(embeddings((text) => (/bread|bakery/i.test(text) ? [1, 0, 0, 0.1] : [0, 1, 0, 0.1])));
  const service = await startTestService({ env: { ...ofCompatible(), OPENAI_COMPATIBLE_BASE_URL: server.baseUrl } });
  try {
    const tenant = await service.tenant('acc_provider');
    for (const content of ['The bakery opens at six.', 'Kites need wind.']) {
      expect((await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content })).status).toBe(201);
    }
    const { body } = await tenant.cp('GET', '/v1/memory/entries?q=Where%20is%20bread%3F');
    expect(body.data.map(({ preview }: { preview: string }) => preview)).toEqual([
      'The bakery opens at six.',
      'Kites need wind.',
    ]);
    server.otherwise(refuse(500, { message: 'down' }));
    const failed = await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: 'Lost.' });
    expect(failed.status).toBe(502);
  } finally {
    await service.close();
  }
});
