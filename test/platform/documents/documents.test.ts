/** What documents are read as: PDF, Word and text of every encoding, through the thread that does it. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { lookAtDocument, readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { pdfOfPages, textOf } from '../../support/documents/pdf.ts';
import { docxOf, paragraph, relationsOf } from '../../support/documents/zip.ts';

afterAll(closeThreads);

const read = (bytes: Buffer, filename = 'a.bin', first = 1, last = Infinity) =>
  readDocument({ bytes, filename, first, last, characters: 100_000 });
const look = (bytes: Buffer, filename = 'a.bin') => lookAtDocument({ bytes, filename });

describe('PDF', () => {
  const report = pdfOfPages([
    textOf(['Sales (2026)'], ['Region', 'Kites', 'Sum'], ['North', '12', '90.00']),
    textOf(['The second page']),
    '',
  ]);

  // Guards: the text of each page by itself, with the cells of a table apart.
  test('is read by the page', async () => {
    expect(await look(report, 'report.pdf')).toEqual({
      kind: 'pdf',
      readable: true,
      unit: 'page',
      count: 3,
      problem: null,
      summary: '3 pages of text (1 of the first 3 without text)',
    });
    const { texts } = await read(report);
    expect(texts).toEqual(['Sales (2026)\nRegion\tKites\tSum\nNorth\t12\t90.00', 'The second page', '']);
    expect((await read(report, 'a.pdf', 2, 2)).texts).toEqual(['The second page']);
    expect((await read(report, 'a.pdf', 4, 9)).texts).toEqual([]);
  });

  // Guards: a long one costs no more than what is asked for of it.
  test('is read no further than needed', async () => {
    const long = pdfOfPages(Array.from({ length: 300 }, (_, at) => textOf([`This is page ${at + 1}`])));
    const wanted = { bytes: long, filename: 'long.pdf', first: 100, last: Infinity, characters: 40 };
    expect(await readDocument(wanted)).toEqual({
      kind: 'pdf',
      unit: 'page',
      count: 300,
      texts: ['This is page 100', 'This is page 101', 'This is page 102'],
    });
  });
});

describe('Word', () => {
  // Guards: everything that a reader would see of a document, in its order; what was deleted is said as such.
  test('is read as its paragraphs, lists, tables, links and notes', async () => {
    const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
    const body = [
      paragraph('Kites &amp; wind', '<w:pStyle w:val="Heading1"/>'),
      '<w:p><w:r><w:t xml:space="preserve">They </w:t></w:r><w:del><w:r><w:delText>never </w:delText></w:r></w:del>' +
        '<w:hyperlink r:id="rId7"><w:r><w:t>fly</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t>' +
        '<w:footnoteReference w:id="2"/></w:r></w:p>',
      paragraph('One', '<w:numPr/>'),
      paragraph('Two', '<w:numPr/>'),
      `<w:tbl><w:tr>${cell('Wind')}${cell('Kite')}</w:tr><w:tr>${cell('4')}${cell('a|b')}</w:tr></w:tbl>`,
      '<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Choice>' +
        '<mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>',
    ].join('');
    const document = docxOf(body, [
      { name: 'word/_rels/document.xml.rels', content: relationsOf({ rId7: 'https://example.com/fly' }) },
      {
        name: 'word/footnotes.xml',
        content:
          `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0">${paragraph('-')}</w:footnote>` +
          `<w:footnote w:id="2">${paragraph('With a tail.')}</w:footnote></w:footnotes>`,
      },
    ]);
    expect((await read(document)).texts).toEqual([
      '# Kites & wind\n\nThey fly (https://example.com/fly).[^2]\n\n[tracked changes] deleted "never"\n\n- One\n- Two\n| Wind | Kite |\n| 4 | a\\|b |\n\n' +
        'Box\n\n[^2]: With a tail.',
    ]);
    expect(await look(document, 'kites.docx')).toMatchObject({
      kind: 'docx',
      unit: null,
      count: null,
      summary: 'Word document of 157 characters',
    });
    expect((await look(document, 'kites.xlsx')).summary).toContain('(a Word document, whatever its name says)');
    expect((await look(document, 'kites.docm')).summary).toContain('(macros are not read)');
  });
});

describe('text', () => {
  const german = 'Grüße aus Köln: über schöne Straßen fährt man gern.\r\n'.repeat(4);
  const russian = 'Сегодня хорошая погода, и мы запускаем воздушного змея.\n'.repeat(4);
  const koi8 = Buffer.from(
    [...russian].map((character) => {
      const at = 'юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ'.indexOf(character);
      return at < 0 ? character.charCodeAt(0) : 0xc0 + at;
    }),
  );

  const chinese = '今天天气很好，我们去放风筝。\n'.repeat(4);
  const bytesOf = (hex: string) => Buffer.from(hex, 'hex');
  const wideOf = (text: string, end: 'LE' | 'BE') => {
    const points = [...text].map((each) => each.codePointAt(0) ?? 0);
    const bytes = Buffer.alloc(points.length * 4);
    for (const [at, point] of points.entries()) bytes[`writeUInt32${end}`](point, at * 4);
    return bytes;
  };

  // Guards: text is read in whatever encoding it is, and which one is said where it is not the usual one.
  test.each([
    ['utf-8', Buffer.from(german), german, undefined],
    ['utf-8 with a mark', Buffer.from(`\ufeff${german}`), german, undefined],
    ['utf-16le with a mark', Buffer.from(`\ufeff${german}`, 'utf16le'), german, 'utf-16le'],
    ['utf-16be with a mark', Buffer.from(`\ufeff${german}`, 'utf16le').swap16(), german, 'utf-16be'],
    ['utf-16le without a mark', Buffer.from(german, 'utf16le'), german, 'utf-16le'],
    ['utf-16be without a mark', Buffer.from(german, 'utf16le').swap16(), german, 'utf-16be'],
    ['latin 1', Buffer.from(german, 'latin1'), german, 'windows-1252'],
    ['koi8-r', koi8, russian, 'koi8-r'],
    [
      'latin 1, a large one',
      Buffer.alloc(1_400_000, Buffer.from('Grüße ', 'latin1')),
      'Grüße '.repeat(233_334).slice(0, 1_400_000),
      'windows-1252',
    ],
    ['utf-32le with a mark', wideOf(`\ufeff${german}`, 'LE'), german, 'utf-32le'],
    ['utf-32be with a mark', wideOf(`\ufeff${german}`, 'BE'), german, 'utf-32be'],
    ['utf-32le without a mark', wideOf(german, 'LE'), german, 'utf-32le'],
    ['utf-16le without a mark, Russian', Buffer.from(russian, 'utf16le'), russian, 'utf-16le'],
    ['utf-16be without a mark, Chinese', Buffer.from(chinese, 'utf16le').swap16(), chinese, 'utf-16be'],
    ['shift_jis', bytesOf('8da193fa82cd8bf382aa90c282a20a'.repeat(6)), '今日は空が青い\n'.repeat(6), 'shift_jis'],
    ['gb18030', bytesOf('bdf1ccecccecc6f8badcbac30a'.repeat(6)), '今天天气很好\n'.repeat(6), 'gb18030'],
    ['euc-kr', bytesOf('bfc0b4c3c0ba20b3afbebeb0a120c1c1b4d90a'.repeat(6)), '오늘은 날씨가 좋다\n'.repeat(6), 'euc-kr'],
    ['iso-2022-jp', Buffer.from('\x1b$BF|K\\8l\x1b(B\n', 'latin1'), '日本語\n', 'iso-2022-jp'],
    ['windows-1252 with signs', bytesOf('4772f6df653b932235209480220a'), 'Größe;“"5 ”€"\n', 'windows-1252'],
    [
      'windows-1251, a short one',
      bytesOf('d1e5e3eee4edff20f5eef0eef8e0ff20efeee3eee4e00a'),
      'Сегодня хорошая погода\n',
      'windows-1251',
    ],
    [
      'utf-8 that was cut off',
      Buffer.concat([Buffer.from(german), Buffer.from([0xc3])]),
      `${german}\ufffd`,
      'utf-8, characters lost: 1',
    ],
    ['text with some zeros', Buffer.from(`a\0b${german}`), `a\ufffdb${german}`, undefined],
  ])('in %s', async (_, bytes, text, note) => {
    expect(await read(bytes, 'a.txt')).toEqual({
      kind: 'text',
      unit: null,
      count: 1,
      texts: [text],
      ...(note && { note }),
    });
  });

  // Guards: where nobody can tell what the bytes stand for, that is said, and no letters are made up.
  test.each([
    ['Korean of two words', bytesOf('c1f6bfaa2cbfac0abac52c31320a')],
    ['Polish', bytesOf('5a61bff3b3e62067eab66cb9206a61bcf10a')],
    ['of an old Mac', bytesOf('47729fa76520617573204b9a6c6e0a')],
  ])('is refused if its encoding cannot be told: %s', async (_, bytes) => {
    expect(await look(bytes, 'a.txt')).toMatchObject({
      problem: 'unsupported',
      summary: expect.stringContaining('save it as UTF-8'),
    });
  });

  // Guards: bytes that are no text are not given to a model as if they were.
  test.each([
    ['zeros', Buffer.alloc(1_000)],
    ['a program', Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919 + at * at * 31) % 256))],
  ])('not %s', async (_, bytes) => {
    expect(await look(bytes, 'a.txt')).toMatchObject({ readable: false, problem: 'unsupported', kind: null });
  });
});
