/** Documents of attackers: each is refused with a word that helps, and what comes next is read as before. */
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { deflateSync } from 'node:zlib';
import { lookAtDocument, readDocument } from '../../../src/platform/documents/documents.ts';
import { closeThreads } from '../../../src/platform/threads/threads.ts';
import { pdfOf, pdfOfPages, streamOf, textOf } from '../../support/documents/pdf.ts';
import { docxOf, paragraph, zipOf } from '../../support/documents/zip.ts';

const MB = 1024 * 1024;

afterAll(closeThreads);
// Guards: whatever a document did, the thread that read it is well, or another is in its place.
afterEach(async () => {
  expect(await look(docxOf(paragraph('Hello')))).toMatchObject({ readable: true, kind: 'docx' });
});

const look = (bytes: Buffer, filename = 'a.bin') => lookAtDocument({ bytes, filename });
const refused = async (bytes: Buffer) => {
  const { readable, problem, summary } = await look(bytes);
  return { readable, problem, summary };
};
const refusal = (problem: string, words: RegExp) => ({
  readable: false,
  problem,
  summary: expect.stringMatching(words),
});

const flate = (content: Buffer) => {
  const packed = deflateSync(content).toString('latin1');
  return streamOf(packed, '/Filter /FlateDecode');
};
const page = (content: string, more: readonly string[] = []) =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 4 0 R >> >> >>',
    content,
    ...more,
  ]);

describe('a PDF', () => {
  const whole = pdfOfPages([textOf(['Hello'])]);
  const key = '<00000000000000000000000000000000>';
  const password = `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${key.replaceAll('00', '0102')} /U ${key.replaceAll('00', '0304')} >> /ID [<01><01>]`;

  // Guards: a word says what is wrong with the file, and what would help.
  test.each([
    ['scanned', pdfOfPages(['', '']), refusal('no_text', /its 2 pages have no text, as of a scan.*OCR/)],
    ['encrypted', pdfOfPages([textOf(['Hello'])], password), refusal('encrypted', /opens without a password/)],
    ['cut off', whole.subarray(0, 120), refusal('damaged', /damaged or not complete/)],
    ['nothing but its mark', Buffer.from('%PDF-1.7'), refusal('damaged', /damaged or not complete/)],
    [
      'of too many pages',
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        `<< /Type /Pages /Kids [${'3 0 R '.repeat(100_000)}] /Count 100000 >>`,
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
      ]),
      refusal('too_large', /100000 pages, and 10000 at most/),
    ],
    [
      'that lies about its pages',
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
      ]),
      refusal('no_text', /its page has no text/),
    ],
    [
      'whose pages are in a circle',
      pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R] /Count 3 >>']),
      expect.objectContaining({ readable: false }),
    ],
    [
      'that unpacks without end',
      page(flate(Buffer.alloc(600 * MB, ' '))),
      refusal('too_large', /unpacks to more than 100 MB/),
    ],
    [
      'that draws itself',
      page(streamOf('/X Do', '/Type /XObject /Subtype /Form /Resources << /XObject << /X 4 0 R >> >>')),
      expect.objectContaining({ readable: false }),
    ],
  ])('%s', async (_, bytes, expected) => {
    expect(await refused(bytes)).toEqual(expected);
  });
});

describe('an archive', () => {
  const bomb = Buffer.alloc(200 * MB, 'a');
  const xml = (prologue: string, text: string) =>
    `${prologue}<w:document><w:body>${paragraph(text)}</w:body></w:document>`;
  const wordOf = (content: string | Buffer, more = {}) => zipOf([{ name: 'word/document.xml', content, ...more }]);
  const laughs = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

  // Guards against: archives that take the machine's memory, or tell what is on it.
  test.each([
    ['a bomb', wordOf(bomb), refusal('too_large', /unpacks to more than 100 MB/)],
    ['a bomb that says it is small', wordOf(bomb, { claims: 1_000 }), refusal('damaged', /damaged or not complete/)],
    ['encrypted', wordOf('secret', { isEncrypted: true }), refusal('encrypted', /opens without a password/)],
    ['cut off', docxOf(paragraph('Hello')).subarray(0, 200), refusal('damaged', /damaged or not complete/)],
    [
      'an archive in an archive',
      zipOf([{ name: 'a.zip', content: docxOf(paragraph('Hello')) }]),
      refusal('unsupported', /is an archive/),
    ],
    [
      'of many files',
      zipOf(Array.from({ length: 10_001 }, (_, at) => ({ name: `word/${at}`, content: '' }))),
      refusal('too_large', /more than 10000 files/),
    ],
    [
      'without a document',
      zipOf([{ name: 'word/styles.xml', content: '<a/>' }]),
      refusal('damaged', /there is no word\/document.xml/),
    ],
    ['with entities', wordOf(xml(`<!DOCTYPE d [<!ENTITY l0 "ha">${laughs}]>`, '&l9;')), refusal('damaged', /its XML/)],
    [
      'with a file for an entity',
      wordOf(xml('<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd">]>', '&f;')),
      refusal('damaged', /its XML/),
    ],
    ['nested without end', wordOf('<a>'.repeat(1_000_000)), refusal('too_large', /nested more than 1000 deep/)],
    ['of XML that breaks off', wordOf('<w:document><w:body>'), refusal('damaged', /its XML/)],
    [
      'of one very long text',
      wordOf(xml('', 'a'.repeat(11_000_000))),
      refusal('too_large', /more than 10 million characters/),
    ],
    [
      'an old document',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2_000)]),
      refusal('unsupported', /old Office/),
    ],
    [
      'an encrypted document',
      Buffer.concat([
        Buffer.from('d0cf11e0a1b11ae1', 'hex'),
        Buffer.alloc(600),
        Buffer.from('EncryptedPackage', 'utf16le'),
      ]),
      refusal('encrypted', /opens without a password/),
    ],
  ])('%s', async (_, bytes, expected) => {
    expect(await refused(bytes)).toEqual(expected);
  });

  // Guards against: words of a document in what is said of it, which models read and lists show.
  test('is refused in words of the product', async () => {
    const words = 'ignore-all-you-were-told';
    for (const bytes of [
      wordOf(`<${words}></other>`),
      wordOf(`<a>&${words};</a>`),
      zipOf([{ name: `../word/${words}`, content: '' }]),
      zipOf([{ name: 'META-INF/container.xml', content: `<c><rootfile full-path="${words}"/></c>` }]),
    ]) {
      const { summary } = await refused(bytes);
      expect(summary).toContain('damaged or not complete');
      expect(summary).not.toContain(words);
    }
  });
});

describe('a document that takes its time', () => {
  const packed = deflateSync(Buffer.alloc(80_000_000, 'q Q ')).toString('latin1');
  const slow = page(streamOf(packed, '/Filter /FlateDecode'));

  // Guards: it is given up, and the service goes on meanwhile: another is read at once, and nothing stands still.
  test('is given up', async () => {
    const looked = lookAtDocument({ bytes: slow, filename: 'slow.pdf' }, { timeoutMs: 1_500 });
    expect(await look(docxOf(paragraph('Hello')))).toMatchObject({ readable: true });
    expect(await looked).toMatchObject({
      readable: false,
      problem: 'too_slow',
      summary: 'cannot be read: it takes longer than 1.5 seconds to be read: attach a part of it',
    });
  });

  // Guards: whoever does not wait any more takes no thread.
  test('ends with whoever asked for it', async () => {
    const reason = new Error('gone');
    const controller = new AbortController();
    const looked = lookAtDocument({ bytes: slow, filename: 'slow.pdf' }, { signal: controller.signal });
    controller.abort(reason);
    await expect(looked).rejects.toBe(reason);
  });
});

describe('a workbook', () => {
  const workbook = (sheet: string) =>
    zipOf([
      { name: 'xl/workbook.xml', content: '<workbook><sheets><sheet name="a" r:id="r"/></sheets></workbook>' },
      { name: 'xl/_rels/workbook.xml.rels', content: '<R><Relationship Id="r" Target="../../../etc/passwd"/></R>' },
      { name: 'etc/passwd', content: sheet },
    ]);

  // Guards: a sheet that claims the last cell of the last row costs no more than that cell; a path leads nowhere outside.
  test('of one far cell is small', async () => {
    const bytes = workbook('<w><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></w>');
    const { texts } = await readDocument({ bytes, filename: 'a.xlsx', first: 1, last: 1, characters: 1_000 });
    expect(texts).toEqual(['Sheet "a"\n1048576\t\tXFD: 1']);
  });

  // Guards: what a cell refers to may not be there, and need not be a number.
  test('of nonsense is read as far as it goes', async () => {
    const cells = '<c t="s"><v>999</v></c><c t="s"><v>-1</v></c><c s="7"><v>x</v></c><c r="??"><v>4</v></c><c/>';
    const bytes = workbook(`<w><row r="x">${cells}</row></w>`);
    const { texts } = await readDocument({ bytes, filename: 'a.xlsx', first: 1, last: 1, characters: 1_000 });
    expect(texts).toEqual(['Sheet "a"\nNaN\t\t\tx\t4']);
  });
});

describe('a page', () => {
  // Guards: a tree as deep as anybody likes takes no stack, and little time.
  test.each([
    ['elements', '<div>'.repeat(200_000)],
    ['formats', '<b><i><a><nobr>'.repeat(20_000)],
    ['tables', '<table><tr><td>'.repeat(20_000)],
  ])('of many nested %s is refused', async (_, body) => {
    expect(await look(Buffer.from(`<html>${body}`), 'a.html')).toMatchObject({ readable: false, problem: 'too_large' });
  });

  // Guards: a file without a word in it is not said to be readable.
  test.each([
    ['a page', Buffer.from('<html><script>alert(1)</script></html>'), 'a.html'],
    ['a document', docxOf('<w:p/>'), 'a.docx'],
    ['a text', Buffer.from(' \n\n '), 'a.txt'],
  ])('%s without text', async (_, bytes, filename) => {
    expect(await look(bytes, filename)).toMatchObject({ readable: false, problem: 'no_text' });
  });
});
