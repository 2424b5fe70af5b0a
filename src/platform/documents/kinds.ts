/** Tells what a file is by what is in it; a name decides only between kinds of text. */
import { damagedDocument, encrypted, openArchive, type Archive } from './archive.ts';
import { isMail } from './is-mail.ts';
import { DocumentError, kindOfText, type DocumentKind, type OpenDocument } from './model.ts';
import { readText } from './text.ts';

interface Opened {
  kind: DocumentKind;
  document: OpenDocument;
}

/** An archive with one of these is a document. */
const PARTS: readonly [RegExp, (archive: Archive) => Promise<Opened>][] = [
  [/^word\//, async (archive) => ({ kind: 'docx', document: await (await import('./docx.ts')).readDocx(archive) })],
  [/^xl\//, async (archive) => ({ kind: 'xlsx', document: await (await import('./xlsx.ts')).readXlsx(archive) })],
  [/^ppt\//, async (archive) => ({ kind: 'pptx', document: await (await import('./pptx.ts')).readPptx(archive) })],
  [
    /^META-INF\/container\.xml$/,
    async (archive) => ({ kind: 'epub', document: await (await import('./epub.ts')).readEpub(archive) }),
  ],
];

const READABLE = 'PDF, DOCX, XLSX, PPTX, EPUB, HTML, EML, CSV, text and pictures are read';

/** Its pages are read once they are asked for. @throws DocumentError */
export async function openDocument(bytes: Buffer, filename: string): Promise<Opened> {
  if (bytes.length === 0) throw new DocumentError('empty', 'it is empty');
  // The mark of a PDF may come after something else, as of a mail.
  if (bytes.subarray(0, 1024).includes('%PDF-')) {
    const { readPdf } = await import('./pdf.ts');
    return { kind: 'pdf', document: await readPdf(bytes) };
  }
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04]) || startsWith(bytes, [0x50, 0x4b, 0x05, 0x06])) {
    return openArchived(await openArchive(bytes));
  }
  if (startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0])) throw oldOffice(bytes);
  if (bytes.subarray(0, 8).includes('{\\rtf')) {
    throw new DocumentError('unsupported', 'it is RTF, which is not read: save it as DOCX or PDF');
  }
  if (isMail(bytes)) return { kind: 'text', document: await (await import('./eml.ts')).readMail(bytes) };
  if (isPage(bytes, filename)) return { kind: 'html', document: (await import('./html.ts')).readHtml(bytes) };
  return { kind: kindOfText(filename), document: readText(bytes) };
}

async function openArchived(archive: Archive): Promise<Opened> {
  const names = [...archive.names()];
  const open = PARTS.find(([part]) => names.some((name) => part.test(name)))?.[1];
  if (open) return open(archive);
  throw new DocumentError('unsupported', `it is an archive: attach what is in it (${READABLE})`);
}

/** A page says so at its beginning, or in its name. */
const isPage = (bytes: Buffer, filename: string): boolean =>
  /^\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html)\b/i.test(
    bytes
      .subarray(0, 1024)
      .toString('latin1')
      .replaceAll('\0', '')
      .replace(/^[^<\s]{1,3}/, ''),
  ) || /\.x?html?$/i.test(filename);

const startsWith = (bytes: Buffer, magic: readonly number[]): boolean => magic.every((byte, at) => bytes[at] === byte);

/** An encrypted document of today is in the container of the old ones. */
function oldOffice(bytes: Buffer): DocumentError {
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) return encrypted();
  if (bytes.length < 512) return damagedDocument('its header');
  return new DocumentError(
    'unsupported',
    'it is of an old Office (.doc, .xls, .ppt) or a mail of Outlook: save it as DOCX, XLSX, PPTX or PDF',
  );
}
