/** `aos memory re-embed` on the data directory of a service that is stopped: a real process on a real database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../src/embedded/prepared-database.mjs';
import { createDatabase } from '../../src/platform/db/client.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { embeddings, refuse, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';

let server: OpenAiServer;
let dataDir: string;
beforeAll(async () => {
  server = await startOpenAiServer();
  dataDir = await mkdtemp(join(tmpdir(), 'aos-re-embed-'));
});
afterAll(async () => {
  await server?.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function fill(count: number): Promise<void> {
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), from: preparedDatabase() });
  const db = createDatabase({ url: postgres.url, poolSize: 1 });
  const { customerId } = await makeWorkspace(db, 'acc_re_embed');
  await db.rows(sql`
    insert into memory_entries (customer_id, type, content, embedding)
    select ${customerId}, 'note', 'note ' || n, array_fill(1, array[512])::vector from generate_series(1, ${count}::int) n`);
  await db.close();
  await postgres.stop();
}

async function reEmbed(...args: string[]) {
  return runCli(['memory', 're-embed', ...args], {
    DATA_DIR: dataDir,
    OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
    EMBEDDING_PROVIDER: 'openai-compatible',
    EMBEDDING_MODEL: 'nomic',
    EMBEDDING_DIMENSIONS: '3',
  });
}

// Guards: the command moves all vectors to the model of the settings, shows its progress and says what to do next. One
// that fails half-way leaves everything as it was, and the next one continues.
test('goes over to the model of the settings', async () => {
  await fill(70);
  server.script(
    embeddings((text) => [text.length, 1, 0]),
    refuse(400, { message: 'no' }),
  );
  const failed = await reEmbed();
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('32 of 70 entries') });
  server.otherwise(embeddings((text) => [text.length, 1, 0]));
  const asked = server.requests.length;
  expect(await reEmbed()).toEqual({
    code: 0,
    stdout:
      '70 entries are embedded with openai-compatible:nomic now: restart every process of the service with these settings, then run it once more for what was written meanwhile\n',
    stderr: '32 of 70 entries\n64 of 70 entries\n70 of 70 entries\n',
  });
  expect(server.requests.slice(asked).map(({ body }) => [body.input].flat().length)).toEqual([32, 6]);
  expect(jsonOf(await reEmbed('--json'))).toEqual({
    model: 'openai-compatible:nomic',
    dimensions: 3,
    entries: 0,
    mended: 0,
    changed: false,
  });
});
