/** Words and limits of documents: files whose text is made readable. Imports nothing. */

export const DOCUMENT_KINDS = ['pdf', 'docx', 'xlsx', 'pptx', 'epub', 'html', 'csv', 'text', 'image'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** What a document is counted in; a kind without one is a single text. */
export const DOCUMENT_UNITS = ['page', 'sheet', 'slide', 'chapter'] as const;
export type DocumentUnit = (typeof DOCUMENT_UNITS)[number];

/** Why a file cannot be read. */
export const DOCUMENT_PROBLEMS = [
  'damaged',
  'empty',
  'encrypted',
  'no_text',
  'too_large',
  'too_slow',
  'unsupported',
] as const;
export type DocumentProblemCode = (typeof DOCUMENT_PROBLEMS)[number];

/** What a file will be read as. */
export interface Reading {
  /** Null where it is none that is known. */
  kind: DocumentKind | null;
  readable: boolean;
  unit: DocumentUnit | null;
  /** How many pages, sheets, slides or chapters there are. */
  count: number | null;
  problem: DocumentProblemCode | null;
  /** Says all of it in words, such as `20 pages of text`. */
  summary: string;
}

/** Everything that a document unpacks to, together. */
export const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;
/** Files in an archive. */
export const MAX_ENTRIES = 10_000;
export const MAX_PAGES = 10_000;
/** Characters of one page or text. */
const MAX_TEXT = 10_000_000;
/** Elements that may stand in each other. */
export const MAX_DEPTH = 1_000;

/** The document cannot be read; the message says why, and what would help. */
export class DocumentError extends Error {
  override name = 'DocumentError';
  readonly code: DocumentProblemCode;

  constructor(code: DocumentProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const noText = () => new DocumentError('no_text', 'there is no text in it');

/** A document that was opened. */
export interface OpenDocument {
  unit: DocumentUnit | null;
  /** Of its units; 1 where it has none. */
  count: number;
  /** What is said of it besides how many units it has, such as its encoding. */
  note?: string;
  /** @returns the text of one unit, the first of which is 1 */
  text(number: number): string | Promise<string>;
  close?(): Promise<void>;
}

/** A text is of a kind by its name alone. */
export const kindOfText = (filename: string): DocumentKind => (/\.(csv|tsv)$/i.test(filename) ? 'csv' : 'text');

/** @returns the text, which is not too long to be kept */
export function limitedText(text: string): string {
  if (text.length > MAX_TEXT) throw tooLong();
  return text;
}

/** Collects the pieces of a text, and gives up where they are too much. */
export function createCollector() {
  const pieces: string[] = [];
  let length = 0;
  return {
    add(piece: string): void {
      length += piece.length;
      if (length > MAX_TEXT) throw tooLong();
      pieces.push(piece);
    },
    /** @returns everything that was added */
    all: () => pieces.join(''),
  };
}

const tooLong = () =>
  new DocumentError('too_large', `it has more than ${MAX_TEXT / 1_000_000} million characters: attach a part of it`);
