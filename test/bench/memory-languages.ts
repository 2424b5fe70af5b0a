/**
 * Search in ten languages with the multilingual model: how often the fact that answers a question is among the first
 * three, and how long a search takes from the question to the entries. `languages/` has 50 facts and 50 questions of
 * each language, which hardly share words. Each language has a workspace of its own, beside those of the others.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { present, take } from '../../src/platform/core/present.ts';
import type { Embedder } from '../../src/platform/models/embed.ts';
import { createMemoryStore } from '../../src/resources/memory/store/index.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createDatabase, type Database } from '../../src/platform/db/client.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { requireVectorsOf } from '../../src/resources/memory/re-embed.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { startMultilingual } from '../support/service/multilingual.ts';
import { endWithUs } from './processes.ts';
import { alone, percentile, type Row } from './report.ts';

const FOLDER = fileURLToPath(new URL('languages/', import.meta.url));
const AMONG = 3;
const RECALL = { atLeast: 0.9 };
const P95_MS = { atMost: 15 };

export interface Labelled {
  language: string;
  facts: { fact: string; question: string }[];
}

export const labelledLanguages = (): Labelled[] =>
  readdirSync(FOLDER).map((file) => ({
    language: file.replace('.txt', ''),
    facts: readFileSync(FOLDER + file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [fact, question] = take(line.split(' | '), 2);
        return { fact, question };
      }),
  }));

export interface LanguageResult {
  language: string;
  recall: number;
  ms: number[];
}

export async function searchLanguages(
  db: Database,
  embedder: Pick<Embedder, 'embed' | 'model'>,
): Promise<LanguageResult[]> {
  const store = createMemoryStore(db);
  const languages = labelledLanguages();
  const customers = new Map<string, string>();
  for (const { language, facts } of languages) {
    const { customerId } = await makeWorkspace(db, `acc_${language.toLowerCase()}`);
    customers.set(language, customerId);
    const vectors = await embedder.embed(facts.map(({ fact }) => fact));
    const rows = facts.map(({ fact }, i) => ({ fact, vector: JSON.stringify(vectors[i]) }));
    await db.rows(sql`
      insert into memory_entries (customer_id, type, content, embedding)
      select ${customerId}, 'fact', fact, vector::vector
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(fact text, vector text)`);
  }
  const results: LanguageResult[] = [];
  for (const { language, facts } of languages) {
    const customerId = present(customers.get(language));
    const ms: number[] = [];
    let found = 0;
    for (const { fact, question } of facts) {
      const from = performance.now();
      const [vector = []] = await embedder.embed([question], { isQuestion: true });
      const embedding = { model: embedder.model, vector };
      const entries = await store.searchEntries({ customerId, embedding, k: AMONG });
      ms.push(performance.now() - from);
      if (entries.some(({ preview }) => preview === fact)) found += 1;
    }
    results.push({ language, recall: found / facts.length, ms });
  }
  return results;
}

/** On the embedded database. */
export async function languages({ folder, say }: { folder: string; say: (text: string) => void }): Promise<Row[]> {
  say('Starting the multilingual model');
  const embedder = await startMultilingual((line) => typeof line === 'string' && say(line));
  const postgres = await startPostgres({ dataDir: join(folder, 'languages') });
  endWithUs(postgres.pid);
  await migrate(postgres.url);
  const db = createDatabase({ url: postgres.url, poolSize: 1 });
  await requireVectorsOf(db, embedder);
  const results = await searchLanguages(db, embedder);
  await db.close();
  await postgres.stop();
  await embedder.close();
  return rowsOf(results);
}

const rowsOf = (results: readonly LanguageResult[]): Row[] => [
  ...results.flatMap(({ language, recall, ms }) => [
    alone(`Recall@${AMONG}, ${language}`, '', recall, RECALL),
    alone(`the same: search with its question, p95`, 'ms', percentile(ms, 95)),
  ]),
  alone(
    'Search with the multilingual model, all languages, p95',
    'ms',
    percentile(
      results.flatMap(({ ms }) => ms),
      95,
    ),
    P95_MS,
  ),
];
