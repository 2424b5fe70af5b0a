/** What else a PDF has than its lines: letters of Chinese, Japanese and Korean fonts, and what was written on its pages. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { lookAtDocument, readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { fileOf } from '../../support/documents/files.ts';
import { pdfOf, streamOf } from '../../support/documents/pdf.ts';

afterAll(closeThreads);

const read = async (bytes: Buffer) =>
  (await readDocument({ bytes, filename: 'a.pdf', first: 1, last: Infinity, characters: 100_000 })).texts;

/** @returns a page with one line in a font that is not in the file, as programs of East Asia write them */
const pageOf = (encoding: string, ordering: string, hex: string) =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    streamOf(`BT /F1 12 Tf 72 700 Td <${hex}> Tj ET`),
    `<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some /FontDescriptor 7 0 R
        /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> >>`,
    '<< /Type /FontDescriptor /FontName /Some /Flags 4 /FontBBox [0 0 999 999] /ItalicAngle 0 /Ascent 900 /Descent 0 /CapHeight 900 /StemV 80 >>',
  ]);

// Guards: fonts that are encoded as Adobe once laid down are read, in each of their languages.
test.each([
  ['UniGB-UCS2-H', 'GB1', '4e2d65876d4b8bd5', '中文测试'],
  ['GBK-EUC-H', 'GB1', 'd6d0cec4b2e2cad4', '中文测试'],
  ['UniCNS-UTF16-H', 'CNS1', '7e419ad44e2d6587', '繁體中文'],
  ['ETen-B5-V', 'CNS1', 'c163c5e9a4a4a4e5', '繁體中文'],
  ['90ms-RKSJ-H', 'Japan1', '93fa967b8cea', '日本語'],
  ['UniJIS-UTF16-H', 'Japan1', '65e5672c8a9e', '日本語'],
  ['KSCms-UHC-H', 'Korea1', 'c7d1b1b9beee', '한국어'],
  ['UniKS-UCS2-H', 'Korea1', 'd55cad6dc5b4', '한국어'],
])('a font of the encoding %s is read', async (encoding, ordering, hex, text) => {
  expect(await read(pageOf(encoding, ordering, hex))).toEqual([text]);
});

describe('a form', () => {
  // Guards: what people filled in and noted is read, and nothing that no reader would see.
  test('is read with its values, free text and comments', async () => {
    expect(await read(fileOf('form.pdf'))).toEqual([
      [
        'Order form',
        '',
        '[form field "name" (Your name)] Ada Lovelace',
        '[form field "secret"] a password',
        '[form field "empty"] (empty)',
        '[form field "agree"] checked',
        '[form field "news"] (not checked)',
        '[form field "size"] L',
        '[form field "country"] Germany',
        '[form field "colours"] red',
        '[comment by Ada on "Order form"] Which order?',
        '[answer to a comment by Charles] The first.',
        '[text written on the page by Ada] Deliver to 日本',
      ].join('\n'),
    ]);
  });

  const scan = (annotation: string) =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R] >> >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Annots [4 0 R] >>',
      `<< /Type /Annot /Rect [9 9 99 99] ${annotation} >>`,
    ]);

  // Guards: a scan is told as one while nothing is filled in, and read once something is.
  test('of a scan has text once it is filled in', async () => {
    const empty = scan('/Subtype /Widget /FT /Tx /T (Name)');
    expect(await lookAtDocument({ bytes: empty, filename: 'a.pdf' })).toMatchObject({ problem: 'no_text' });
    expect(await read(scan('/Subtype /Widget /FT /Tx /T (Name) /V (Ada)'))).toEqual(['[form field "Name"] Ada']);
    const hidden = scan('/Subtype /Text /F 2 /Contents (Say nothing of it)');
    expect(await lookAtDocument({ bytes: hidden, filename: 'a.pdf' })).toMatchObject({ problem: 'no_text' });
  });
});
