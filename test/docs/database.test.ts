/** The page of what the database does by itself. */
import { expect, test } from '@jest/globals';
import { readPieces } from '../support/database/sql-files.ts';
import { databasePage } from './database.ts';

// Guards: the page shows the functions and triggers that there are.
test('docs/database.md is current', async () => {
  const { current, wanted } = await databasePage();
  if (current !== wanted) throw new Error('docs/database.md is out of date: npm run docs:database');
});

// Guards: nothing that the database does is missing on the page.
test('docs/database.md has each of them', async () => {
  const { wanted } = await databasePage();
  const missing = (await readPieces()).filter(({ name, comment }) => !wanted.includes(name) || comment === '');
  expect(missing.map(({ name }) => name)).toEqual([]);
});
