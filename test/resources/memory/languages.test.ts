/** Finding memories in ten languages with the multilingual model, on the labelled set of the bench. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requireVectorsOf } from '../../../src/resources/memory/re-embed.ts';
import { labelledLanguages, searchLanguages, type LanguageResult } from '../../bench/memory-languages.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startMultilingual } from '../../support/service/multilingual.ts';

let database: TestDatabase;
let results: LanguageResult[];
beforeAll(async () => {
  database = await openTestDatabase();
  const embedder = await startMultilingual();
  await requireVectorsOf(database.db, embedder);
  results = await searchLanguages(database.db, embedder);
  await embedder.close();
}, 900_000);
afterAll(() => database?.close());

// Guards: the set is what it is said to be: another one would prove something else.
test('the set has ten languages with 50 facts and 50 questions each', () => {
  const set = labelledLanguages();
  expect(set).toHaveLength(10);
  for (const { facts } of set) {
    expect(new Set(facts.map(({ fact }) => fact)).size).toBe(50);
    expect(new Set(facts.map(({ question }) => question)).size).toBe(50);
  }
});

// Guards: in each of the languages nine of ten questions find their fact among the first three.
test.each(labelledLanguages().map(({ language }) => language))('finds what is asked in %s', (language) => {
  expect(results.find((result) => result.language === language)?.recall).toBeGreaterThanOrEqual(0.9);
});
