/**
 * Reads PDF, page by page, as text, with what was filled in and written on it. Pictures and scripts are left alone, and nothing
 * is fetched.
 */
import { getDocument, type PDFDocumentProxy } from 'unpdf/pdfjs';
import { damagedDocument, encrypted, tooLarge } from './archive.ts';
import { CMaps } from './cmaps.ts';
import { DocumentError, limitedText, MAX_PAGES, type OpenDocument } from './model.ts';
import { linesOf } from './pdf-lines.ts';
import { notesOf } from './pdf-notes.ts';
import { isTooMuch } from './unpack-limit.ts';

/** So many pages are looked at to say whether there is text. */
const LOOKED_AT = 20;

/** @throws DocumentError damaged, encrypted, no_text, too_large */
export async function readPdf(bytes: Buffer): Promise<OpenDocument> {
  const task = getDocument({
    data: new Uint8Array(bytes),
    verbosity: 0,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    useWorkerFetch: false,
    useWasm: false,
    BinaryDataFactory: CMaps,
  });
  const pdf = await task.promise.catch(explain);
  const count = pdf.numPages;
  if (count > MAX_PAGES) {
    throw new DocumentError(
      'too_large',
      `it has ${count} pages, and ${MAX_PAGES} at most are read: attach a part of it`,
    );
  }
  const open: OpenDocument = {
    unit: 'page',
    count,
    text: (number) => textOf(pdf, number),
    close: () => task.destroy(),
  };
  const empty = await countEmpty(open);
  const looked = Math.min(count, LOOKED_AT);
  if (empty === looked) {
    const which = count === 1 ? 'its page has' : looked === count ? `its ${count} pages have` : `its first pages have`;
    throw new DocumentError(
      'no_text',
      `${which} no text, as of a scan: attach it with recognised text (OCR), or as pictures for a model that sees`,
    );
  }
  return empty > 0 ? { ...open, note: `${empty} of the first ${looked} without text` } : open;
}

async function countEmpty({ count, text }: OpenDocument): Promise<number> {
  let empty = 0;
  for (let number = 1; number <= Math.min(count, LOOKED_AT); number++) if (!(await text(number))) empty += 1;
  return empty;
}

async function textOf(pdf: PDFDocumentProxy, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = linesOf(items.filter((item) => 'str' in item));
    const notes = notesOf(await page.getAnnotations());
    page.cleanup();
    return limitedText([text, notes].filter(Boolean).join('\n\n'));
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): never {
  if (error instanceof DocumentError) throw error;
  const { name, message } = error instanceof Error ? error : new Error('');
  if (isTooMuch(message)) throw tooLarge();
  if (name === 'PasswordException') throw encrypted();
  throw damagedDocument('its structure');
}
