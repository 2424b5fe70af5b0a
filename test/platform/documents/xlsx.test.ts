/** What numbers of a workbook mean, and what stands beside its cells. */
import { afterAll, expect, test } from '@jest/globals';
import { readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { fileOf } from '../../support/documents/files.ts';

afterAll(closeThreads);

const linesOf = async (name: string) => {
  const { texts } = await readDocument({ bytes: fileOf(name), filename: name, first: 1, last: 1, characters: 100_000 });
  return (texts[0] ?? '').split('\n');
};
/** @returns what the second column shows, by the first */
const shownIn = (lines: readonly string[]) =>
  Object.fromEntries(lines.filter((line) => /^\d/.test(line)).map((line) => line.split('\t').slice(1)));

// Guards: a duration is no date, however long; what a style adds is said, and what it hides or rounds off is not lost.
test('numbers are shown as the workbook shows them', async () => {
  expect(shownIn(await linesOf('hours.xlsx'))).toEqual({
    week: '36:00',
    owed: '-36:00',
    'with seconds': '37:30:00',
    minutes: '90:00',
    seconds: '21600',
    'in words': '60 hours',
    usual: '30:00:00',
    'without brackets': '12:00:00 (36:00:00 in all)',
    percent: '25.6%',
    rounded: '33% (0.3333)',
    euro: '1,234.50 €',
    accounts: '$(1,234.50)',
    red: '5 (-5)',
    code: '01234',
    millions: '1.2M (1234567)',
    noise: '90.00',
    day: '2026-11-24',
    time: '18:30:00',
    moment: '2026-11-24 18:30:00',
    hidden: '5',
    text: '00123',
    plain: '3.14159',
  });
});

// Guards: days are counted from where the workbook counts them, and durations from nowhere.
test('a workbook that counts from 1904 has its dates', async () => {
  expect(await linesOf('since-1904.xlsx')).toEqual([
    'Sheet "Sheet"',
    '1\t2026-11-24',
    '2\t12:00:00',
    '3\t-12:00',
    '4\t36:00',
  ]);
});

// Guards: who said what of which cell, once, although newer programs write it twice; and what is printed around the cells.
test('comments, header and footer are said', async () => {
  const lines = await linesOf('hours.xlsx');
  expect(lines.slice(0, 3)).toEqual(['Sheet "Hours"', '[header] Kites & Co | Confidential', '1\tweek\t36:00']);
  expect(lines.slice(-4)).toEqual([
    '[footer] Page # of #',
    '[comment on A1 by Ada Lovelace, resolved] Whole week?',
    '[answer on A1 by Charles] Yes',
    '[comment on B2 by Charles] Owed since May',
  ]);
});
