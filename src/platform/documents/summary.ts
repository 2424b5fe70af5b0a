/** Says what a document is in words that people and models read. Pure. */
import type { ReadUnits } from './documents-thread.ts';
import type { DocumentKind } from './model.ts';
import type { LookedAtPicture } from './picture.ts';

const NAMES: Readonly<Record<DocumentKind, string>> = {
  pdf: 'PDF',
  docx: 'Word document',
  xlsx: 'workbook',
  pptx: 'presentation',
  epub: 'book',
  html: 'web page',
  csv: 'table (CSV)',
  text: 'text',
  image: 'picture',
};
/** Endings of names that are usual; of text many are. */
const ENDINGS: Readonly<Partial<Record<DocumentKind, RegExp>>> = {
  pdf: /\.pdf$/i,
  docx: /\.(docx|docm|dotx|dotm)$/i,
  xlsx: /\.(xlsx|xlsm|xltx|xltm)$/i,
  pptx: /\.(pptx|pptm|ppsx|ppsm|potx|potm)$/i,
  epub: /\.epub$/i,
};
const MACROS = /\.(docm|dotm|xlsm|xltm|pptm|ppsm|potm)$/i;

/** @returns such as `20 pages of text` or `workbook of 3 sheets` */
export function summaryOf({ kind, unit, count, note, texts }: ReadUnits, filename: string): string {
  const notes = [
    note,
    MACROS.test(filename) ? 'macros are not read' : undefined,
    ENDINGS[kind]?.test(filename) === false && /\.\w{1,5}$/.test(filename)
      ? `a ${NAMES[kind]}, whatever its name says`
      : undefined,
  ].filter((each) => each !== undefined);
  const counted = `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const size =
    kind === 'pdf'
      ? `${counted} of text`
      : unit !== null
        ? `${NAMES[kind]} of ${counted}`
        : `${NAMES[kind]} of ${length.toLocaleString('en')} characters`;
  return notes.length > 0 ? `${size} (${notes.join('; ')})` : size;
}

/** @returns such as `picture of 800 × 600 pixels (png), shown to models that see` */
export function pictureSummary({ format, width, height }: LookedAtPicture, filename: string): string {
  const size = `${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels`;
  const isMisnamed = /\.(pdf|docx|xlsx|pptx|epub|html?|csv|txt)$/i.test(filename);
  const note = isMisnamed ? `${format}; a picture, whatever its name says` : format;
  return `picture of ${size} (${note}), shown to models that see`;
}

/** @returns why a file cannot be read, as a sentence about it */
export const inWords = (message: string): string => `cannot be read: ${message}`;
