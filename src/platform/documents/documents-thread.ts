/** Holds the part of `documents.ts` that runs inside a worker thread. */
import { openDocument } from './kinds.ts';
import { DocumentError, noText, type DocumentKind, type DocumentProblemCode, type DocumentUnit } from './model.ts';
import { withUnpackLimit } from './unpack-limit.ts';

interface File {
  bytes: Uint8Array;
  filename: string;
}

/** How far a file was read. */
export interface ReadUnits {
  kind: DocumentKind;
  unit: DocumentUnit | null;
  count: number;
  note?: string;
  /** The texts of the units that were asked for, from the first; fewer where they came to more than was asked for. */
  texts: string[];
}

/** A thread hands on no class of an error. */
export type Outcome<Result> = { result: Result } | { problem: DocumentProblemCode; message: string };

export interface RequestedDocument extends File {
  /** The first of the units that are read; one that is not there gives no text. */
  first: number;
  last: number;
  /** Of all texts: no other unit is begun beyond it. */
  characters: number;
}

export const readJob = ({ bytes, filename, first, last, characters }: RequestedDocument): Promise<Outcome<ReadUnits>> =>
  outcomeOf(async () => {
    const { kind, document } = await openDocument(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), filename);
    const { unit, count, note, text, close } = document;
    const texts: string[] = [];
    let room = characters;
    for (let number = first; number <= Math.min(last, count) && room > 0; number++) {
      const read = await text(number);
      room -= read.length;
      texts.push(read);
    }
    await close?.();
    if (unit === null && first === 1 && texts.every((text) => text.trim() === '')) {
      throw noText();
    }
    return { kind, unit, count, ...(note !== undefined && { note }), texts };
  });

async function outcomeOf<Result>(work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { result: await withUnpackLimit(work) };
  } catch (error) {
    if (error instanceof DocumentError) return { problem: error.code, message: error.message };
    // The stack overflowed, or a text is longer than any may be: the same file would do it again.
    if (error instanceof RangeError) return { problem: 'too_large', message: 'it is nested too deeply or too large' };
    throw error;
  }
}
