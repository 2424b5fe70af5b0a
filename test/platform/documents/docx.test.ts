/** What else a Word document has than its text: changes, comments, readings, headers and footers. */
import { afterAll, expect, test } from '@jest/globals';
import { readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { fileOf } from '../../support/documents/files.ts';
import { docxOf } from '../../support/documents/zip.ts';

afterAll(closeThreads);

const read = async (bytes: Buffer) =>
  (await readDocument({ bytes, filename: 'a.docx', first: 1, last: 1, characters: 100_000 })).texts[0];

// Guards: the text reads as accepted; who changed and noted what is told apart from it, beside where it was.
test('changes, comments, readings, headers and footers are said', async () => {
  expect(await read(fileOf('contract.docx'))).toBe(
    [
      '[header] Kites Ltd',
      '[header] Draft',
      '# Contract',
      'The price is 120 euros net a month.',
      '[tracked changes by Ada] deleted "100 euros", inserted "120 euros", deleted "or gross"\n' +
        '[tracked changes by Charles] inserted "net"\n' +
        '[answer by Ada on "a month", resolved] No. As agreed.\n' +
        '[comment by Charles on "a month", resolved] Not a year?',
      'Signed in 東京(とうきょう).',
      '[tracked changes by Ada] deleted "Kites are lent."',
      '[tracked changes by Ada] moved away "Wind is free."',
      'Wind is free.',
      '[tracked changes by Ada] moved here "Wind is free."',
      '| Kite | 12 |',
      '[tracked changes by Charles] deleted "0"\n[comment by Ada on "12"] Dozen',
      '[footer] Confidential',
    ].join('\n\n'),
  );
});

// Guards: a long insertion is not told twice in full, and a deletion is, as it is nowhere else.
test('an insertion is told by its beginning and end', async () => {
  const long = `It begins ${'and goes on '.repeat(40)}until its end`;
  const change = (name: string, text: string) =>
    `<w:${name} w:author="Ada"><w:r><w:${text}>${long}</w:${text}></w:r></w:${name}>`;
  const [text = ''] = [await read(docxOf(`<w:p>${change('ins', 't')}${change('del', 'delText')}</w:p>`))];
  expect(text.split(long)).toHaveLength(3);
  expect(text).toContain('inserted "It begins and goes on and goes on and goes on and … on and goes on until its end"');
});
