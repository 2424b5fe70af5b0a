/**
 * Search in the memory, in the database: beside it stands only the embedding of the question. On a native Postgres with
 * the entries of several workspaces, small and large, and on the embedded one.
 */
import { sql } from 'drizzle-orm';
import { join } from 'node:path';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { first, itemAt } from '../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../src/platform/db/client.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { PACKAGED } from '../../src/platform/models/embed-packaged.ts';
import { createMemoryStore } from '../../src/resources/memory/store/index.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { createRandom, makeCorpus, type Corpus } from './memory-corpus.ts';
import { openNativePostgres } from '../support/database/native-postgres.ts';
import { endWithUs } from './processes.ts';
import { alone, percentile, type Row, type Target } from './report.ts';

/** Entries by workspace: those of the large ones lie between those of the small ones. */
const NATIVE = [50_000, 20_000, 10_000, 8_000, 5_000, 4_000, 2_000, 1_000];
const EMBEDDED = [9_000, 800, 200];
const K = 10;

interface MemorySizes {
  folder: string;
  /** Parts of the entries that are really made. */
  share: number;
  /** Of each workspace. */
  searches: number;
  say: (text: string) => void;
}

export async function memory({ folder, share, searches, say }: MemorySizes): Promise<Row[]> {
  say('Embedding sentences for the notes of the memory');
  const random = createRandom();
  const corpus = await makeCorpus(random);
  const rows: Row[] = [];
  const measure = async (where: string, url: string, sizes: readonly number[], target: Target) => {
    const db = createDatabase({ url, poolSize: 1 });
    const entries = sizes.map((size) => Math.ceil(size * share));
    say(`Filling ${where}`);
    await fill(db, entries, corpus, random);
    say(`Searching ${where}`);
    const found = await search(db, entries, corpus, searches);
    await db.close();
    const of = `${sum(entries).toLocaleString('en')} entries, ${where}`;
    const times = (from: readonly Searched[]) => from.flatMap(({ ms }) => ms);
    rows.push(
      alone(`Search among ${of}, p50`, 'ms', percentile(times(found), 50)),
      alone(`Search among ${of}, p95`, 'ms', percentile(times(found), 95), target),
      alone(
        `the same in the largest workspace (${first(entries).toLocaleString('en')}), p95`,
        'ms',
        percentile(first(found).ms, 95),
      ),
      alone(
        `the same in the smallest (${itemAt(entries, -1).toLocaleString('en')}), p95`,
        'ms',
        percentile(itemAt(found, -1).ms, 95),
      ),
      alone(`Recall@${K} against exact search`, '', mean(found.flatMap(({ recall }) => recall)), { atLeast: 0.95 }),
      alone('the same in the worst workspace', '', Math.min(...found.map(({ recall }) => mean(recall)))),
    );
  };

  const native = await openNativePostgres();
  if (typeof native === 'string') say(`Not measured on a native Postgres: ${native}`);
  else {
    await measure('native Postgres', native.url, NATIVE, { below: 30 });
    await native.close();
  }
  const embedded = await startPostgres({ dataDir: join(folder, 'memory') });
  endWithUs(embedded.pid);
  await migrate(embedded.url);
  await measure('embedded', embedded.url, EMBEDDED, { below: 10 });
  await embedded.stop();
  return rows;
}

const workspace = (at: number): string => `acc_bench${at}`;
const customer = (at: number): string => `bench${at}`;
const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

async function fill(db: Database, sizes: readonly number[], corpus: Corpus, random: () => number): Promise<void> {
  for (const at of sizes.keys()) await makeWorkspace(db, workspace(at));
  const owners = sizes
    .flatMap((size, at) => Array.from({ length: size }, () => ({ owner: customer(at), order: random() })))
    .sort((a, b) => a.order - b.order);
  // An index is made much quicker than it is filled.
  const index = first(
    await db.rows<{ definition: string }>(
      sql`select indexdef as definition from pg_indexes where indexname = 'memory_entries_by_embedding'`,
    ),
  );
  await db.rows(sql`drop index memory_entries_by_embedding`);
  for (let from = 0; from < owners.length; from += 500) {
    const notes = owners.slice(from, from + 500).map(({ owner }) => ({ owner, ...corpus.note() }));
    await db.rows(sql`
      insert into memory_entries (customer_id, type, content, embedding)
      select owner, 'note', content, vector::vector from unnest(
        ${sql.param(notes.map(({ owner }) => owner))}::text[], ${sql.param(notes.map(({ content }) => content))}::text[],
        ${sql.param(notes.map(({ vector }) => JSON.stringify(vector)))}::text[]) as note(owner, content, vector)`);
  }
  await db.rows(sql.raw(index.definition));
  await db.rows(sql`vacuum analyze memory_entries`);
}

interface Searched {
  ms: number[];
  /** Of each search. */
  recall: number[];
}

/** In turn, so that no workspace has the caches for itself. */
async function search(
  db: Database,
  sizes: readonly number[],
  { questions }: Corpus,
  count: number,
): Promise<Searched[]> {
  const store = createMemoryStore(db);
  const found: Searched[] = sizes.map(() => ({ ms: [], recall: [] }));
  const ask = (at: number, vector: number[]) =>
    store.searchEntries({ customerId: customer(at), embedding: { model: PACKAGED.model, vector }, k: K });
  for (const at of sizes.keys()) await ask(at, first(questions).vector);
  for (let i = 0; i < count; i++) {
    const { vector } = itemAt(questions, i % questions.length);
    for (const at of sizes.keys()) {
      const from = performance.now();
      const results = await ask(at, vector);
      itemAt(found, at).ms.push(performance.now() - from);
      if (i >= questions.length) continue;
      const last = await kthScore(db, customer(at), vector);
      itemAt(found, at).recall.push(results.filter(({ score }) => score >= last - 1e-6).length / K);
    }
  }
  return found;
}

/** The cosine that an entry needs to be among the best, by comparing with each. */
async function kthScore(db: Database, customerId: string, vector: readonly number[]): Promise<number> {
  const row = first(
    await db.rows<{ score: number }>(sql`
    select 1 - distance as score from (
      select embedding <=> ${JSON.stringify(vector)}::vector as distance from memory_entries
      where customer_id = ${customerId} offset 0) each_one
    order by distance offset ${K - 1} limit 1`),
  );
  return row.score;
}
