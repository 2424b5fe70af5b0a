/**
 * Reads the text of documents that people attach. It is done in a thread, with limits of time, memory, pages and of what is
 * unpacked; what reads a format is loaded there, with the first file of it.
 */
import { runInThread, ThreadLimitError, type Job } from '../threads/threads.ts';
import type { Outcome, ReadUnits, RequestedDocument } from './documents-thread.ts';
import { isMail } from './is-mail.ts';
import { isPicture, lookAtPicture, type LookedAtPicture } from './picture.ts';
import { DocumentError, kindOfText, noText, type Reading } from './model.ts';
import { inWords, pictureSummary, summaryOf } from './summary.ts';

const READ_MS = 20_000;
/** An upload waits for it, so it is less; both are so long that a thread is left to what does not take long. */
const LOOK_MS = 12_000;

const jobOf = (timeoutMs: number): Job<RequestedDocument, Outcome<ReadUnits>> => ({
  module: new URL('./documents-thread.ts', import.meta.url),
  name: 'readJob',
  title: 'reading the document',
  timeoutMs,
});

/** @throws DocumentError */
async function run(wanted: RequestedDocument, timeoutMs: number, signal: AbortSignal | undefined): Promise<ReadUnits> {
  const text = quickText(wanted);
  if (text?.trim() === '') throw noText();
  if (text !== undefined) return { kind: kindOfText(wanted.filename), unit: null, count: 1, texts: [text] };
  const outcome = await runInThread(jobOf(timeoutMs), wanted, signal).catch((error: unknown) => {
    if (!(error instanceof ThreadLimitError)) throw error;
    const why = /memory/.test(error.message)
      ? 'it needs more memory to be read than a document may have'
      : `it takes longer than ${timeoutMs / 1_000} seconds to be read`;
    throw new DocumentError('too_slow', `${why}: attach a part of it`);
  });
  if ('problem' in outcome) throw new DocumentError(outcome.problem, outcome.message);
  return outcome.result;
}

/** Up to this size a plain text is read at once, which costs less than to hand it to a thread. */
const QUICK_BYTES = 256 * 1024;
/** What begins like this may be a document of another kind. */
const IS_MARKED = /^(?:PK|GIF8|\{\\rtf|\s*<)|%PDF-/;

/** @returns undefined where the file is not sure to be plain text */
function quickText({ bytes, filename }: Pick<RequestedDocument, 'bytes' | 'filename'>): string | undefined {
  if (bytes.length === 0 || bytes.length > QUICK_BYTES || /\.x?html?$/i.test(filename)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A text has none of these, or is in an old encoding; whoever finds some looks closer.
    const isOther = IS_MARKED.test(text.slice(0, 1024)) || isMail(bytes) || /[\x00-\x08\x1b]/.test(text);
    return isOther ? undefined : text;
  } catch {
    return undefined;
  }
}

/** @throws DocumentError, and whatever `signal` has for a reason */
export const readDocument = (wanted: RequestedDocument, signal?: AbortSignal): Promise<ReadUnits> =>
  run(wanted, READ_MS, signal);

/** @returns what a file will be read as, or why it cannot be */
export async function lookAtDocument(
  { bytes, filename }: Pick<RequestedDocument, 'bytes' | 'filename'>,
  { signal, timeoutMs = LOOK_MS }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Reading> {
  try {
    if (isPicture(bytes)) return readingOfPicture(await lookAtPicture(bytes), filename);
    const read = await run({ bytes, filename, first: 1, last: 1, characters: 1 }, timeoutMs, signal);
    const { kind, unit, count } = read;
    return {
      kind,
      readable: true,
      unit,
      count: unit === null ? null : count,
      problem: null,
      summary: summaryOf(read, filename),
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { code: problem, message } = error;
    return { kind: null, readable: false, unit: null, count: null, problem, summary: inWords(message) };
  }
}

const readingOfPicture = (seen: LookedAtPicture, filename: string): Reading => ({
  kind: 'image',
  readable: true,
  unit: null,
  count: null,
  problem: null,
  summary: pictureSummary(seen, filename),
});
