/** What other documents are read as: workbooks, presentations, books and web pages. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { lookAtDocument, readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { fileOf } from '../../support/documents/files.ts';
import { relationsOf, zipOf } from '../../support/documents/zip.ts';

afterAll(closeThreads);

const read = async (bytes: Buffer, filename = 'a.bin', first = 1, last = Infinity) =>
  (await readDocument({ bytes, filename, first, last, characters: 1_000_000 })).texts;
const summaryOf = async (bytes: Buffer, filename: string) => (await lookAtDocument({ bytes, filename })).summary;

describe('a workbook', () => {
  const book = zipOf([
    {
      name: 'xl/workbook.xml',
      content:
        '<workbook xmlns:r="r"><workbookPr/><sheets><sheet name="Sales" sheetId="1" r:id="rId1"/>' +
        '<sheet name="Notes" sheetId="2" state="hidden" r:id="rId2"/></sheets></workbook>',
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationsOf({ rId1: 'worksheets/sheet1.xml', rId2: '/xl/worksheets/sheet2.xml', rId3: 'styles.xml' }),
    },
    {
      name: 'xl/sharedStrings.xml',
      content: '<sst><si><t>Region</t></si><si><r><t>No</t></r><r><t>rth</t></r><rPh><t>x</t></rPh></si></sst>',
    },
    {
      name: 'xl/styles.xml',
      content:
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/><numFmt numFmtId="165" formatCode="0.0 &quot;days&quot;"/></numFmts>' +
        '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>',
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `<worksheet><sheetData>
        <row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Day</t></is></c></row>
        <row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><f>SUM(B3:B9)</f><v>12.5</v></c><c r="C2" s="1"><v>46350</v></c></row>
        <row r="7"><c r="A7" s="2"><v>3</v></c><c r="B7"><f>HYPERLINK("http://127.0.0.1/","x")</f></c><c r="C7" s="3"><v>46350.75</v></c></row>
        <row r="1048576"><c r="A1048576" t="b"><v>1</v></c><c r="XFD1048576" t="e"><v>#REF!</v></c></row>
      </sheetData></worksheet>`,
    },
    {
      name: 'xl/worksheets/sheet2.xml',
      content: '<worksheet><sheetData><row><c><v>1</v></c><c><v>2</v></c></row></sheetData></worksheet>',
    },
    { name: 'xl/vbaProject.bin', content: 'macro' },
  ]);

  // Guards: cells stay in their row and column, dates are dates, and a formula is what it came to.
  test('is read by the sheet', async () => {
    expect(await summaryOf(book, 'sales.xlsx')).toBe('workbook of 2 sheets');
    expect(await summaryOf(book, 'sales.docx')).toBe('workbook of 2 sheets (a workbook, whatever its name says)');
    expect(await summaryOf(book, 'sales.xlsm')).toBe('workbook of 2 sheets (macros are not read)');
    expect(await read(book)).toEqual([
      [
        'Sheet "Sales"',
        '1\tRegion\t\tDay',
        '2\tNorth\t12.5\t2026-11-24',
        '7\t3.0 days\t=HYPERLINK("http://127.0.0.1/","x")\t2026-11-24 18:00:00',
        '1048576\tTRUE\tXFD: #REF!',
      ].join('\n'),
      'Sheet "Notes" (hidden)\n1\t1\t2',
    ]);
    expect(await read(book, 'a.xlsx', 2, 2)).toEqual(['Sheet "Notes" (hidden)\n1\t1\t2']);
  });
});

// Guards: slides come in the order in which they are shown, with the words of the speaker.
test('a presentation is read by the slide', async () => {
  const shape = (...lines: string[]) =>
    `<p:sld xmlns:a="a" xmlns:p="p">${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}`;
  const cell = (text: string) => `<a:tc><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:tc>`;
  const slides = zipOf([
    {
      name: 'ppt/presentation.xml',
      content:
        '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>',
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relationsOf({ rId1: 'slides/slide1.xml', rId2: 'slides/slide2.xml' }),
    },
    { name: 'ppt/slides/slide1.xml', content: `${shape('Last')}</p:sld>` },
    {
      name: 'ppt/slides/slide2.xml',
      content: `${shape('First', 'of all')}<a:tbl><a:tr>${cell('a')}${cell('b')}</a:tr></a:tbl></p:sld>`,
    },
    { name: 'ppt/slides/_rels/slide2.xml.rels', content: relationsOf({ rId9: '../notesSlides/notesSlide1.xml' }) },
    { name: 'ppt/notesSlides/notesSlide1.xml', content: `${shape('Say hello', '1')}</p:sld>` },
  ]);
  expect(await summaryOf(slides, 'talk.pptx')).toBe('presentation of 2 slides');
  expect(await read(slides)).toEqual(['First\nof all\n| a | b |\n\nNotes: Say hello', 'Last']);
});

// Guards: who said what of a slide, in the way of newer programs and of older ones.
test('comments on slides are said', async () => {
  expect(await read(fileOf('plan.pptx'))).toEqual([
    'Plan\nFly\n\nNotes: Say hello\n\n[comment by Ada Lovelace, resolved] When?\n[answer by Charles] On Monday.',
    'Wind\n\n[comment by Mary Smith] Add a map',
  ]);
});

describe('a book', () => {
  const bookOf = (more: Parameters<typeof zipOf>[0] = []) =>
    zipOf([
      { name: 'mimetype', content: 'application/epub+zip' },
      {
        name: 'META-INF/container.xml',
        content: '<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
      },
      {
        name: 'OEBPS/content.opf',
        content:
          '<package><manifest><item id="two" href="text/two%20.xhtml"/><item id="one" href="one.xhtml"/></manifest>' +
          '<spine><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/></spine></package>',
      },
      {
        name: 'OEBPS/one.xhtml',
        content: '<html><head><title/></head><body><h1>One</h1><p>It &mdash; began.</p></body></html>',
      },
      {
        name: 'OEBPS/text/two .xhtml',
        content: '<html><body><p>It went <ruby>on<rt>forth</rt></ruby>.</p></body></html>',
      },
      ...more,
    ]);
  const locked = (file: string) => ({
    name: 'META-INF/encryption.xml',
    content: `<encryption xmlns:enc="e"><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="${file}"/></enc:CipherData></enc:EncryptedData></encryption>`,
  });

  // Guards: chapters come in the order of the book; a book of which only fonts are encrypted is read.
  test('is read by the chapter', async () => {
    const book = bookOf([locked('OEBPS/font.otf')]);
    expect(await summaryOf(book, 'tale.epub')).toBe('book of 2 chapters');
    expect(await read(book)).toEqual(['# One\n\nIt — began.', 'It went on(forth).']);
    expect(await summaryOf(bookOf([locked('OEBPS/one.xhtml')]), 'tale.epub')).toContain(
      'cannot be read: it is encrypted',
    );
  });
});

describe('a web page', () => {
  const page = `<!doctype html><html><head><title>Kites</title><style>p{}</style><script>alert(1)</script></head><body>
    <h2>Wind &amp;   more</h2><p>They <b>fly</b>
    <a href="https://example.com/x">far</a>, <a href="javascript:alert(1)">or not</a>.</p><ul><li>One</li><li>Two</li></ul>
    <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><pre>a
  b</pre><img src="http://127.0.0.1/x.png"></body></html>`;

  // Guards: what a reader would see of it, without what would run or be fetched.
  test('is read as its text', async () => {
    expect(await read(Buffer.from(page), 'a.html')).toEqual([
      'Kites\n\n## Wind & more\n\nThey fly far (https://example.com/x), or not.\n\n- One\n- Two\n\n| A | B\n| 1 | 2\n\na\n  b',
    ]);
    expect(await summaryOf(Buffer.from(page), 'a.txt')).toMatch(/^web page of \d+ characters$/);
  });

  // Guards: a reading (furigana) stands in brackets behind its words, once, and does not run into them.
  test('has its readings in brackets', async () => {
    const ruby =
      '<p><ruby>東京<rp>（</rp><rt>とうきょう</rt><rp>）</rp></ruby>に<ruby><rb>行</rb><rt> <b>い</b> </rt></ruby>く。' +
      '<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby><ruby>!<rt></rt></ruby></p>';
    expect(await read(Buffer.from(ruby), 'a.html')).toEqual(['東京(とうきょう)に行(い)く。漢(かん)字(じ)!']);
  });

  // Guards: a page that says its encoding is read in it.
  test('is read in its encoding', async () => {
    const latin = Buffer.from('<html><meta charset="iso-8859-2"><p>\xb1 \xe6 \xea</p></html>', 'latin1');
    expect(await read(latin, 'a.html')).toEqual(['ą ć ę']);
  });
});

// Guards: a table is text, in whatever encoding; what it is called counts.
test('a table is read as it is', async () => {
  const table = Buffer.from('Straße;Größe\r\nKölner Straße;12\r\nMünchner Straße;9\r\n', 'latin1');
  expect(await read(table, 'a.csv')).toEqual(['Straße;Größe\r\nKölner Straße;12\r\nMünchner Straße;9\r\n']);
  expect(await summaryOf(table, 'a.csv')).toBe('table (CSV) of 51 characters (windows-1252)');
});
