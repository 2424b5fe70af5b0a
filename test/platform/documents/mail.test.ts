/** What mails are read as, and what is refused with a word that helps. */
import { afterAll, expect, test } from '@jest/globals';
import { lookAtDocument, readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { fileOf } from '../../support/documents/files.ts';

afterAll(closeThreads);

const read = async (bytes: Buffer) =>
  (await readDocument({ bytes, filename: 'a.eml', first: 1, last: 1, characters: 100_000 })).texts;

// Guards: who wrote what to whom is read as people see it; what is attached is named and not opened, mails included.
test('a mail is read, and what is attached is listed', async () => {
  expect(await read(fileOf('offer.eml'))).toEqual([
    [
      'From: Ada Lovelace <ada@example.com>',
      'To: Jörg Müller <joerg@example.com>, team@example.com',
      'Cc: charles@example.com',
      'Date: 2026-11-24T09:00:00.000Z',
      'Subject: Angebot für Drachen – März',
      '',
      'Grüße,',
      '',
      'here is the offer.',
      '',
      '[attachment, not opened] Angebot März.pdf (application/pdf, 19 bytes)',
      '[attachment, not opened] without a name (message/rfc822, 154 bytes)',
    ].join('\n'),
  ]);
  expect(await lookAtDocument({ bytes: fileOf('offer.eml'), filename: 'offer.eml' })).toMatchObject({
    kind: 'text',
    summary: expect.stringMatching(/^text of \d+ characters \(a mail with 2 attached/),
  });
});

// Guards: a mail that is a web page alone has its text, in its encoding.
test('a mail of HTML is read', async () => {
  expect(await read(fileOf('page.eml'))).toEqual([
    'From: ada@example.com\nDate: 2026-11-24T09:00:00.000Z\nSubject: Only HTML\n\n# Hi\n\n今日は',
  ]);
});

// Guards: a text that has words of a header in it stays what it is.
test('a text about a mail is a text', async () => {
  const text = 'He wrote\nFrom: Ada\nDate: today\n\nand no more.';
  expect(await read(Buffer.from(text))).toEqual([text]);
});

// Guards: a mail that is nested without end, or a text of another program, is refused with a word that helps.
test('what cannot be read is refused', async () => {
  const nested = Array.from(
    { length: 400 },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  ).join('');
  const mail = Buffer.from(`From: a@example.com\r\nDate: today\r\n${nested}`);
  expect(await lookAtDocument({ bytes: mail, filename: 'a.eml' })).toMatchObject({ problem: 'damaged' });
  const rich = Buffer.from("{\\rtf1\\ansi{\\fonttbl\\f0 Arial;}\\f0 Gr\\'fc\\'dfe\\par}");
  expect(await lookAtDocument({ bytes: rich, filename: 'a.rtf' })).toMatchObject({
    problem: 'unsupported',
    summary: 'cannot be read: it is RTF, which is not read: save it as DOCX or PDF',
  });
});
